package tools

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/clipboard"
	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/search"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/tokens"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools/find"
)

// Options are the parts a Service is built of. All are required that do not say what nil or
// zero means.
type Options struct {
	// Access resolves and authorizes file arguments.
	Access  *access.Checker
	Saver   *save.Saver
	Counter tokens.Counter
	// Exact asks a provider for a count, if the user wants that; it may take
	// seconds. nil asks none.
	Exact func(ctx context.Context, b []byte) (n int, ok bool)
	// MaxTokens bounds the text of one Read.
	MaxTokens int
	// MaxFileBytes is the size above which a Read without offset and limit is refused.
	MaxFileBytes int64
	// Grep says that it is offered: what Read refuses names it.
	Grep bool
	// Preferences are the user's, as they are now.
	Preferences func() Preferences
	// Now is the clock.
	Now func() time.Time
	// History is shown the old bytes before each change.
	History commit.HistoryRecorder
	// Watcher notes which files were touched; nil: changes made outside are not
	// told before a file is used.
	Watcher reminders.TouchWatcher
	// LookFor bounds the wait of an answer for looks at files that were touched; 0 is a
	// quarter of a second.
	LookFor time.Duration
	// Audit logs calls.
	Audit toolcall.AuditLogger
	// Hooks run around changes; nil: none do.
	Hooks commit.Hooks
	// Servers are told of changes, and report problems; nil: none are.
	Servers commit.LanguageServers
	// Pictures decodes what cannot be sent as it is.
	Pictures Pictures
	// Pages reads PDFs, and PDFs says that it can: descriptions name them.
	Pages Pages
	PDFs  bool
	// Documents gives the text of Office documents to Read, and with that of PDFs to Grep.
	Documents Documents
	// DrawFor bounds the time in which the pages of an answer are drawn; 0: nothing does.
	DrawFor time.Duration
	// Clipboard reads the clipboard if the preferences let it.
	Clipboard *clipboard.Reader
	// Records keeps what a conversation with a name was shown; nil: nothing is kept.
	Records Records
}

// Records keeps what conversations were shown over a restart.
type Records interface {
	// Keep has the records of a conversation begin with those that were kept under its name,
	// and keeps them from now on.
	Keep(name string, files *state.Files)
}

// Service gives the server the tools and conversations, and hears from it which answers are
// sent.
type Service struct {
	clipboard   *clipboardReader
	searches    *search.Searcher
	tools       []Tool
	opener      toolcall.Opener
	facts       map[string]string
	preferences func() Preferences
	now         func() time.Time
	committer   *commit.Committer
	auditor     *toolcall.Auditor
	reminders   *reminders.Service
	notices     *toolcall.Notices
	servers     commit.LanguageServers
	records     Records
}

// New builds a Service of its parts. It touches no file.
func New(o Options) *Service {
	s := &Service{
		opener:      toolcall.Opener{Access: o.Access, SettingsFile: func() string { return o.Preferences().SettingsFile }},
		facts:       map[string]string{"maxFileBytes": phrase.Limit(o.MaxFileBytes), "maxOutputTokens": phrase.Thousands(o.MaxTokens)},
		preferences: o.Preferences,
		now:         o.Now,
		auditor:     &toolcall.Auditor{Logger: o.Audit, Now: o.Now},
		notices:     &toolcall.Notices{},
		servers:     o.Servers,
		records:     o.Records,
	}
	searched := search.Options{Checker: o.Access}
	if o.PDFs {
		searched.Documents = o.Documents
	}
	s.searches = search.New(searched)
	if o.PDFs {
		s.facts["pdf"] = ""
	}
	s.reminders = reminders.New(reminders.Options{
		Files: o.Access, Watcher: o.Watcher, Now: o.Now, LookFor: o.LookFor, Notify: s.Notify,
		Ignored: func(dir string) bool { return s.searches.Explain(dir).Reason == search.ByIgnoreFile },
	})
	loads := toolcall.NewLoader(o.Now)
	budget := toolcall.Budget{Counter: o.Counter, Most: o.MaxTokens}
	s.committer = &commit.Committer{
		Opener: s.opener, Loader: loads, Budget: budget, Saver: o.Saver, History: o.History,
		Hooks: o.Hooks, Servers: o.Servers, Auditor: s.auditor, Notices: s.notices,
	}
	read := &reader{
		Opener: s.opener, Loader: loads, Budget: budget, exact: o.Exact, grep: o.Grep, maxFileBytes: o.MaxFileBytes, preferences: o.Preferences,
		pictures: pictureReader{o.Pictures, o.Preferences}, pages: o.Pages, drawFor: o.DrawFor, documents: o.Documents,
	}
	s.clipboard = &clipboardReader{read, o.Clipboard}
	finder := &find.Finder{Opener: s.opener, Searcher: s.searches, Budget: budget, Documents: o.PDFs}
	s.tools = []Tool{ // in their fixed order
		published(s, nameRead, true, read.run),
		published(s, nameWrite, false, (&writer{s.committer}).run),
		published(s, nameEdit, false, (&editor{s.committer, o.Preferences}).run),
		published(s, nameNotebookEdit, false, (&cellEditor{s.committer}).run),
		published(s, nameMove, false, (&namer{s.committer}).move),
		published(s, nameDelete, false, (&namer{s.committer}).delete),
		published(s, find.NameGlob, true, finder.Glob),
		published(s, find.NameGrep, true, finder.Grep),
		published(s, nameMultiEdit, false, (&multiEditor{&editor{s.committer, o.Preferences}}).run),
	}
	return s
}

// Tools lists the tools of these names in their fixed order; no name means all.
func (s *Service) Tools(names ...string) []Tool {
	if len(names) == 0 {
		return s.tools
	}
	return slices.DeleteFunc(slices.Clone(s.tools), func(t Tool) bool { return !slices.Contains(names, t.Name) })
}

// NewSession starts a conversation that has been shown nothing, or, if it has a name, what was
// kept of it.
func (s *Service) NewSession(name string) *toolcall.Session {
	session := toolcall.NewSession(s.now, s.reminders)
	if name != "" && s.records != nil {
		s.records.Keep(name, session.Files)
	}
	return session
}

// Facts returns the facts on this installation for the descriptions of tools: the bounds of
// Read by their names in settings, and pdf if PDFs are read.
func (s *Service) Facts() map[string]string { return s.facts }

// ParseFile parses a file argument, without a look at the disk.
func (s *Service) ParseFile(raw string) toolcall.FileArgument { return s.opener.ParseFile(raw) }

// Notify has the next answer of any tool end with these sentences.
func (s *Service) Notify(notices ...string) { s.notices.Add(notices...) }

// Refused tells of a call that was not made. given is its file as it was named, ""
// where it cannot be told, and waited how long it took to come to that.
func (s *Service) Refused(tool, given string, call toolcall.Call, waited time.Duration, r *toolcall.Result) {
	s.auditor.AuditSoon(toolcall.EntryOf(call, tool, given, s.now().Add(-waited)), r)
}

// published turns a tool, which is written as a function of its own arguments, into one that
// the server can run.
func published[T any, A interface {
	*T
	Args
}](s *Service, name string, readOnly bool, run func(context.Context, toolcall.Call, A) toolcall.Outcome) Tool {
	answer := func(ctx context.Context, call toolcall.Call, args Args) *toolcall.Result {
		entry := toolcall.EntryOf(call, name, args.Target(), s.now())
		call = s.begin(call, name, args)
		out, clipboard := s.clipboard.answer(ctx, call, args)
		if !clipboard {
			out = run(ctx, call, args.(A))
		}
		out.Err = endOf(ctx, out.Err)
		return s.finish(ctx, call, entry, out)
	}
	return Tool{Name: name, ReadOnly: readOnly, Args: func() Args { return A(new(T)) }, Run: answer}
}

// begin completes the facts on a call from its arguments.
func (s *Service) begin(call toolcall.Call, tool string, args Args) toolcall.Call {
	if !toolcall.Searches(tool) {
		s.searches.YieldCPU()
	}
	call.Session.Files.CountCall()
	call.Intent, _ = args.(toolcall.Intent)
	if !call.File.Parsed {
		call.File = s.ParseFile(args.Target())
	}
	return call
}

// finish turns an outcome into the answer, logs the call, and adds what the answer says beside
// its own matter.
func (s *Service) finish(ctx context.Context, call toolcall.Call, entry toolcall.LogEntry, out toolcall.Outcome) *toolcall.Result {
	hint := ""
	if out.Err == nil && out.File.Path != "" && entry.Tool != nameNotebookEdit {
		hint = call.Session.Reminders.Hint(s.preferences().HintsBelow, out.File.Path)
	}
	r := out.Result(entry.Tool, entry.Given, hint)
	if entry.Path = r.File.Path; r.Search != nil {
		entry.Path = r.Search.Path
	}
	if r.Question == nil {
		s.auditor.Audit(entry, r)
	} else { // the answer may never be sent: the log waits for the end of the call
		r.Question.Log, r.Log = &entry, &entry
	}
	if r.Question == nil || !call.CanAsk {
		s.end(ctx, call, r)
	}
	return r
}

// end ends an answer with what changed outside in files that were shown in full, with what
// language servers report, and with notices. An error has little room.
func (s *Service) end(ctx context.Context, call toolcall.Call, r *toolcall.Result) {
	if r.Report = call.Session.Reminders.Remind(ctx, r.File.Path, call.Client.Room(r)); r.Report != nil {
		r.Blocks = append(r.Blocks, toolcall.Block{Text: r.Report.Text})
	}
	if s.servers != nil && !r.IsError {
		if text := s.servers.Report(call.Client.Room(r)); text != "" {
			r.Blocks = append(r.Blocks, toolcall.Block{Text: text})
		}
	}
	s.notices.End(r)
}

// endOf returns why a call's context ended if err only says that it did: a deadline
// is no cancelling.
func endOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}

// Sent applies the effects of an answer that is about to be sent, before the client can see
// it. An answer that is never sent has shown nothing, nor has one that the client cuts,
// whatever hooks or reminders have added to it.
func (s *Service) Sent(call toolcall.Call, r *toolcall.Result) {
	call.Session.Apply(r.Effects, call.Client.Passes(r))
	if r.Log != nil {
		s.auditor.AuditSoon(*r.Log, r)
	}
}
