package tools

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/tokens"
)

// Options are the parts a Service is built of. All are required that do not say what nil or
// zero means.
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
		limits:      map[string]string{"maxFileBytes": phrase.Limit(o.MaxFileBytes), "maxOutputTokens": phrase.Thousands(o.MaxTokens)},
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

// NewSession starts a conversation that has been shown nothing.
func (s *Service) NewSession() *Session {
	c := &Session{id: strings.ToLower(rand.Text()[:sessionLetters]), files: state.New(s.now)}
	c.reminders = s.reminders.NewConversation(c.files, &c.grants)
	return c
}

// Limits are the bounds of Read by their names in settings, as descriptions have them.
func (s *Service) Limits() map[string]string { return s.limits }

// ParseFile parses a file argument, without a look at the disk.
func (s *Service) ParseFile(raw string) FileArgument { return s.opener.parseFile(raw) }

// Notify has the next answer of any tool end with these sentences.
func (s *Service) Notify(notices ...string) { s.notices.add(notices...) }

// Refused tells of a call that was not made. given is its file as it was named, ""
// where it cannot be told, and waited how long it took to come to that.
func (s *Service) Refused(tool, given string, call Call, waited time.Duration, r *Result) {
	s.auditor.auditSoon(entryOf(call, tool, given, s.now().Add(-waited)), r)
}

// list returns the published tools in their fixed order.
func (s *Service) list(read *reader, write *writer, edit *editor, cells *cellEditor) []Tool {
	return []Tool{
		{Name: nameRead, ReadOnly: true, Args: func() Args { return new(ReadArgs) }, Run: typed(s, nameRead, read.run)},
		{Name: nameWrite, Args: func() Args { return new(WriteArgs) }, Run: typed(s, nameWrite, write.run)},
		{Name: nameEdit, Args: func() Args { return new(EditArgs) }, Run: typed(s, nameEdit, edit.run)},
		{Name: nameNotebookEdit, Args: func() Args { return new(NotebookEditArgs) }, Run: typed(s, nameNotebookEdit, cells.run)},
	}
}

// typed turns a tool written as (ctx, call, its own args) to (result, error)
// into one that answers every error in the words of package refusal.
func typed[A Args](s *Service, name string, run func(context.Context, Call, A) (*Result, error)) func(context.Context, Call, Args) *Result {
	return func(ctx context.Context, call Call, args Args) *Result {
		begun := s.now()
		call.Session.files.CountCall()
		call.account, call.args = &account{}, args
		if !call.File.parsed {
			call.File = s.ParseFile(args.Target())
		}
		result, err := run(ctx, call, args.(A))
		if err != nil {
			result = fail(name, args.Target(), endOf(ctx, err))
			result.Shown, _ = shownIn(err)
			if consent := (*needsConsent)(nil); errors.As(err, &consent) {
				result.Ask = consent.question
			}
		}
		if err == nil && call.account.path != "" {
			result.hint(call.Session.reminders.Hint(call.account.path, s.preferences().HintsBelow))
		}
		result.about = *call.account
		entry := entryOf(call, name, args.Target(), begun)
		entry.path = call.account.path
		if result.Ask == nil {
			s.auditor.audit(entry, result)
		} else { // it may never be sent: the log waits for what becomes of the call
			result.Ask.unlogged, result.unlogged = &entry, &entry
		}
		if result.Ask == nil || !call.CanAsk {
			result.remind(ctx, call)
			s.notices.end(result)
		}
		return result
	}
}

// remind ends an answer with what changed outside in files that were shown in full.
func (r *Result) remind(ctx context.Context, call Call) {
	r.report = call.Session.reminders.Remind(ctx, call.account.path, call.Client.room(r))
	if r.report != nil {
		r.Blocks = append(r.Blocks, Block{Text: r.report.Text})
	}
}

// hint ends an answer with one line that names files for agents, if there is one.
func (r *Result) hint(line string) {
	if line == "" {
		return
	}
	if last := &r.Blocks[len(r.Blocks)-1]; last.MIME == "" && last.Text != "" {
		last.Text += "\n" + line // clients join blocks as they stand
		return
	}
	r.Blocks = append(r.Blocks, Block{Text: line})
}

// endOf returns why a call's context ended where err only says that it did: a deadline
// is no cancelling.
func endOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}

// Sent notes that the answer to a call is about to be sent, before the client can see it.
// It is the one place where what an answer shows begins to count as shown: an answer that
// is never sent has shown nothing.
func (s *Service) Sent(call Call, r *Result) {
	session := call.Session
	for _, shown := range r.Shown {
		session.show(shown)
	}
	if r.next.raw != nil {
		go session.parseAhead(r.next)
	}
	if r.about.path != "" {
		session.reminders.Shown(reminders.Shown{Path: r.about.path, Stamp: r.about.stamp, Extent: r.about.extent})
	}
	if r.unlogged != nil {
		s.auditor.auditSoon(*r.unlogged, r)
	}
	if r.report != nil {
		session.reminders.Sent(r.report)
	}
}
