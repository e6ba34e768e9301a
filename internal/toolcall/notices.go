package toolcall

import (
	"strings"
	"sync"
)

// Notices are sentences for the next answer of any tool.
type Notices struct {
	mu    sync.Mutex
	texts []string
}

// Add has the next answer of any tool end with texts, too.
func (n *Notices) Add(texts ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = append(n.texts, texts...)
}

// End ends an answer with what is to be told, once.
func (n *Notices) End(r *Result) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.texts) > 0 {
		r.Blocks = append(r.Blocks, Block{Text: strings.Join(n.texts, "\n")})
		n.texts = nil
	}
}
