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

// Service gives the server the tools and conversations, and hears from it which answers are
// sent.
type Service struct {
	tools       []Tool
	opener      opener
	limits      map[string]string
	preferences func() Preferences
	now         func() time.Time
	committer   *committer
	auditor     *auditor
	reminders   *reminders.Service
	notices     *notices
}

// New builds a Service of its parts. It touches no file.
func New(o Options) *Service {
	s := &Service{
		opener:      opener{o.Access, o.Preferences},
		limits:      map[string]string{"maxFileBytes": phrase.Limit(o.MaxFileBytes), "maxOutputTokens": thousands(o.MaxTokens)},
		preferences: o.Preferences,
		now:         o.Now,
		auditor:     &auditor{o.Audit, o.Now},
		notices:     &notices{},
	}
	s.reminders = reminders.New(reminders.Options{Files: o.Access, Watcher: o.Watcher, Now: o.Now, LookFor: o.LookFor, Notify: s.Notify})
	loads := loader{o.Now, make(chan struct{}, 1)}
	budget := budget{counter: o.Counter, most: o.MaxTokens}
	s.committer = &committer{
		opener: s.opener, loader: loads, budget: budget, saver: o.Saver, history: recorder{o.History, o.Access},
		hooks: o.Hooks, auditor: s.auditor, notices: s.notices,
	}
	write := &writer{s.committer, s.opener, loads, budget}
	s.tools = s.list(
		&reader{
			opener: s.opener, loader: loads, budget: budget, exact: o.Exact, maxFileBytes: o.MaxFileBytes, preferences: o.Preferences,
			pictures: pictureReader{o.Pictures, o.Preferences}, pages: o.Pages,
		},
		write,
		&editor{write, o.Preferences},
		&cellEditor{s.committer, s.opener, loads, budget},
	)
	return s
}

// Tools lists the published tools in their fixed order.
func (s *Service) Tools() []Tool { return s.tools }

// Limits are the bounds of Read by their names in settings, as descriptions have them.
func (s *Service) Limits() map[string]string { return s.limits }

// thousands writes a number with commas.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// ParseFile parses a file argument, without a look at the disk.
func (s *Service) ParseFile(raw string) FileArgument { return s.opener.parseFile(raw) }

// Notify has the next answer of any tool end with these sentences.
func (s *Service) Notify(notices ...string) { s.notices.add(notices...) }

// Refused tells of a call that was not made. given is its file as it was named, ""
// where it cannot be told, and waited how long it took to come to that.
func (s *Service) Refused(tool, given string, call Call, waited time.Duration, r *Result) {
	s.auditor.auditSoon(entryOf(call, tool, given, s.now().Add(-waited)), r)
}

// notices are sentences for the next answer of any tool.
type notices struct {
	mu    sync.Mutex
	texts []string
}

func (n *notices) add(texts ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = append(n.texts, texts...)
}

// end ends an answer with what is to be told, once.
func (n *notices) end(r *Result) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.texts) > 0 {
		r.Blocks = append(r.Blocks, Block{Text: strings.Join(n.texts, "\n")})
		n.texts = nil
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
func (s *Service) NewSession() *Session {
	c := &Session{id: strings.ToLower(rand.Text()[:sessionLetters]), files: state.New(s.now)}
	c.reminders = s.reminders.NewConversation(c.files, &c.grants)
	return c
}

// sessionLetters are enough that no two sessions of a user have the same id.
const sessionLetters = 10
