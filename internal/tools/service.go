package tools

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/tokens"
)

// Options are the parts a Service is built of. All but History and Exact are required.
type Options struct {
	// Access resolves and authorizes file arguments.
	Access  *access.Checker
	Saver   *save.Saver
	Counter tokens.Counter
	// Exact asks a provider for a count, where the user wants that; it may take
	// seconds. nil asks none.
	Exact func(ctx context.Context, b []byte) (n int, ok bool)
	// MaxTokens bounds the text of one Read.
	MaxTokens int
	// MaxFileBytes is the size above which a Read without offset and limit is refused.
	MaxFileBytes int64
	// Preferences are the user's, as they are now.
	Preferences func() Preferences
	// Now is the clock.
	Now func() time.Time
	// History is shown the old bytes before each change; nil keeps none.
	History HistoryRecorder
	// Watcher notes which files were touched; nil: changes made outside are not
	// told before a file is used.
	Watcher reminders.Watcher
	// LookFor bounds the wait of an answer for looks at files that were touched; 0 is a
	// quarter of a second.
	LookFor time.Duration
	// Audit logs calls; nil logs none.
	Audit AuditLogger
	// Hooks run around changes; nil: none do.
	Hooks Hooks
	// Pictures develops what cannot be handed on as it is; nil: nothing is.
	Pictures Pictures
	// Pages reads PDFs; nil: none is read.
	Pages Pages
}

// Service holds what all sessions of one process share: the resolver, the
// decision, the save path, the limits.
type Service struct {
	Options
	// heavy admits one scan of a big file at a time, so that the others stay quick.
	heavy     chan struct{}
	reminders *reminders.Service

	mu      sync.Mutex
	notices []string // for the next answer
}

// New builds a house of its parts. It touches no file.
func New(o Options) *Service {
	h := &Service{Options: o, heavy: make(chan struct{}, 1)}
	h.reminders = reminders.New(reminders.Options{Files: o.Access, Watcher: o.Watcher, Now: o.Now, LookFor: o.LookFor, Notify: h.Notify})
	return h
}

// Limits are the bounds of Read by their names in settings, as descriptions have them.
func (h *Service) Limits() map[string]string {
	tokens := strconv.Itoa(h.MaxTokens)
	for i := len(tokens) - 3; i > 0; i -= 3 {
		tokens = tokens[:i] + "," + tokens[i:]
	}
	return map[string]string{"maxFileBytes": phrase.Limit(h.MaxFileBytes), "maxOutputTokens": tokens}
}

// Notify has the next answer of any tool end with these sentences.
func (h *Service) Notify(notices ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notices = append(h.notices, notices...)
}

// appendNotices ends an answer with what is to be told, once.
func (h *Service) appendNotices(r *Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.notices) > 0 {
		r.Blocks = append(r.Blocks, Block{Text: strings.Join(h.notices, "\n")})
		h.notices = nil
	}
}

// Session is one conversation, with the record of every file that it was shown.
type Session struct {
	id     string
	files  *state.Files
	grants perm.GrantSet

	reminders *reminders.Conversation

	mu     sync.Mutex
	parsed parsed
}

// NewSession starts a conversation that has been shown nothing.
func (h *Service) NewSession() *Session {
	s := &Session{id: strings.ToLower(rand.Text()[:sessionLetters]), files: state.New(h.Now)}
	s.reminders = h.reminders.NewConversation(s.files, &s.grants)
	return s
}

// sessionLetters are enough that no two sessions of a user have the same id.
const sessionLetters = 10

// heavyFrom is the size in bytes from which a file's scan waits for its turn.
const heavyFrom = 8 << 20

// admit waits for the one place for heavy work when a file is that big.
func (h *Service) admit(ctx context.Context, size int64) (leave func(), err error) {
	if size < heavyFrom {
		return func() {}, nil
	}
	select {
	case h.heavy <- struct{}{}:
		return func() { <-h.heavy }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
