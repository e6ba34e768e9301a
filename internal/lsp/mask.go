package lsp

import (
	"path/filepath"
	"strings"

	"github.com/fsmcp/fsmcp/internal/phrase"
)

// mask takes the names of files that the caller may not read out of messages: a server reads
// every file of a project.
type mask struct {
	readable func(string) bool
	folders  []string
	known    map[string]bool
}

// maxMasked bounds the names that are decided on for one message of a server. Further ones
// count as not to be read.
const maxMasked = 100

func (c *Client) newMask() *mask {
	return &mask{c.o.Readable, c.o.Folders(), nil}
}

// masked stands for the name of a file.
const masked = "(a file)"

// of returns a message without the absolute names of such files.
func (m *mask) of(message string) string {
	if message = phrase.Head(message, 8*maxWords); !strings.Contains(message, string(filepath.Separator)) {
		return message
	}
	for _, folder := range m.folders {
		var b strings.Builder
		rest := message
		for {
			before, after, found := strings.Cut(rest, folder)
			b.WriteString(before)
			if !found {
				break
			}
			end := nameEnd(before, after)
			name := folder + after[:end]
			if m.mayRead(name) {
				b.WriteString(name)
			} else {
				b.WriteString(masked)
			}
			rest = after[end:]
		}
		message = b.String()
	}
	return message
}

// nameEnd returns the end in rest of a name that follows before: the quote that encloses it,
// else the next character that seldom is in names.
func nameEnd(before, rest string) int {
	ends := "\"'`<>()[]{},;:* \t\r\n"
	if n := len(before); n > 0 && strings.ContainsRune("\"'`", rune(before[n-1])) {
		ends = before[n-1:]
	}
	if end := strings.IndexAny(rest, ends); end >= 0 {
		rest = rest[:end]
	}
	return len(strings.TrimRight(rest, "."))
}

func (m *mask) mayRead(name string) bool {
	may, known := m.known[name]
	if !known && len(m.known) < maxMasked {
		if m.known == nil {
			m.known = make(map[string]bool)
		}
		may = m.readable(name)
		m.known[name] = may
	}
	return may
}
