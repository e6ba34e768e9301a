package toolcall

import (
	"cmp"
	"errors"
	"time"

	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/reminders"
)

// Event describes a call for the log: the operation, the file and how the call
// ended, but never a byte of the file's content or of the arguments. As JSON it is a line of
// the audit file (see schemas/audit.schema.json).
type Event struct {
	Time      time.Time `json:"time"` // when it was written
	Kind      EventKind `json:"event"`
	Operation string    `json:"operation"` // read, write, edit, search, move, copy or delete
	Tool      string    `json:"tool"`
	Session   string    `json:"session"`
	Call      string    `json:"call"`
	// Path is the file's resolved name; if the call did not come that far, the
	// name as it was given.
	Path string `json:"path"`
	// To is the new name of a file that was moved or copied.
	To string `json:"to,omitempty"`
	// Bytes are those of the answer's text to a Read, or those of the changed file.
	Bytes int64 `json:"bytes"`
	// Duration is the time from the call to its answer in milliseconds, 0 for one that has
	// begun.
	Duration float64 `json:"duration"`
	// Outcome is "ok" or the slug of the error, Code the error's number or 0.
	Outcome string `json:"outcome"`
	Code    int    `json:"code,omitempty"`
	// Search counts what a search found; nil for other events.
	*Search
}

// EventKind says what an Event tells of.
type EventKind string

// The kinds of events.
const (
	EventRead    EventKind = "read"
	EventWrite   EventKind = "write"
	EventEdit    EventKind = "edit"
	EventSearch  EventKind = "search"
	EventRefusal EventKind = "refusal"
	// EventInstructions: a file that speaks to agents was changed. It comes beside
	// the event of the change.
	EventInstructions EventKind = "instructions"
	// EventBegun: a change is about to be made. It comes only if the settings
	// require that every change is logged.
	EventBegun EventKind = "begun"
)

// AuditLogger logs calls.
type AuditLogger interface {
	// Begin logs a change right before it is made. An error stops it.
	Begin(e Event) error
	// Log logs a call that is over.
	Log(e Event)
}

// kinds are the events of the tools' calls that succeed.
var kinds = map[string]EventKind{
	"Read": EventRead, "Write": EventWrite, "Edit": EventEdit, "NotebookEdit": EventEdit, "Glob": EventSearch, "Grep": EventSearch,
	"MultiEdit": EventEdit, "Move": EventEdit, "Delete": EventEdit,
	history.ToolRestore: EventEdit,
}

// Searches reports whether a tool searches: it names no file, and has places of its own beside
// other calls.
func Searches(tool string) bool { return kinds[tool] == EventSearch }

// LogEntry is a call that is to be logged once its answer is known. Its Path is "" if the
// call did not come that far.
type LogEntry struct {
	Event
	Given string `json:"-"` // the file as the call names it
	begun time.Time
}

// EntryOf returns the log entry of a call of a tool; given is the file as the call names it.
func EntryOf(call Call, tool, given string, begun time.Time) LogEntry {
	kind := kinds[tool]
	e := Event{Kind: kind, Operation: string(kind), Session: call.Session.ID, Call: call.ID, Tool: tool, Outcome: "ok"}
	return LogEntry{Event: e, Given: given, begun: begun}
}

// Auditor logs calls.
type Auditor struct {
	Logger AuditLogger
	Now    func() time.Time
}

// BeginName logs a change of a name that is about to be made. An error stops it.
func (a *Auditor) BeginName(call Call, tool string, n NameChange) error {
	err := a.Logger.Begin(Event{Kind: EventBegun, Operation: n.Operation, Session: call.Session.ID, Call: call.ID, Tool: tool, Path: n.Path, To: n.To, Outcome: string(EventBegun)})
	if err != nil {
		return &refusal.AuditError{Err: err}
	}
	return nil
}

// Begin logs a change that is about to be made. An error stops the change.
func (a *Auditor) Begin(call Call, s *Target) error {
	tool := s.Op.String()
	if call.Restoring {
		tool = history.ToolRestore
	}
	err := a.Logger.Begin(Event{Kind: EventBegun, Operation: string(kinds[s.Op.String()]), Session: call.Session.ID, Call: call.ID, Tool: tool, Path: s.Path, Outcome: string(EventBegun)})
	if err != nil {
		return &refusal.AuditError{Err: err}
	}
	return nil
}

// Audit logs a call that is over.
func (a *Auditor) Audit(of LogEntry, r *Result) {
	e := of.Event
	if len(r.Names) > 0 {
		a.auditNames(of, r)
		return
	}
	e.Path, e.Search = cmp.Or(of.Path, of.Given), r.Search
	e.Duration = float64(a.Now().Sub(of.begun).Microseconds()) / 1000
	changed := !r.IsError && (e.Kind == EventWrite || e.Kind == EventEdit)
	switch {
	case r.IsError:
		e.Kind = EventRefusal
		e.Outcome, e.Code = r.Facts.Error, r.Facts.ErrorCode
	case changed && r.Facts.Size != nil:
		e.Bytes = *r.Facts.Size
	case changed:
	default:
		e.Bytes = answerSize(r)
	}
	a.Logger.Log(e)
	if changed && reminders.SpeaksToAgents(e.Path, of.Given) {
		e.Kind = EventInstructions
		a.Logger.Log(e)
	}
}

// auditNames logs a line for each name that a call has changed, and for the one that failed.
func (a *Auditor) auditNames(of LogEntry, r *Result) {
	duration := float64(a.Now().Sub(of.begun).Microseconds()) / 1000
	for _, n := range r.Names {
		e := of.Event
		e.Operation, e.Path, e.To, e.Bytes, e.Duration = n.Operation, n.Path, n.To, n.Size, duration
		if n.Err != nil {
			why := refusal.Of(n.Path, n.Err)
			e.Kind, e.Outcome, e.Code, e.Bytes = EventRefusal, why.Slug, why.Code(e.Tool), 0
		}
		a.Logger.Log(e)
	}
}

// AuditSoon is Audit for a caller that must not be held up, by a disk that does not
// answer for example.
func (a *Auditor) AuditSoon(of LogEntry, r *Result) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Audit(of, r)
	}()
	select {
	case <-done:
	case <-time.After(auditTimeout):
	}
}

// auditTimeout bounds that wait.
const auditTimeout = 100 * time.Millisecond

// answerSize returns the number of bytes in an answer.
func answerSize(r *Result) (n int64) {
	for _, b := range r.Blocks {
		n += int64(len(b.Text) + len(b.Data))
	}
	return n
}

// Restored logs a restore that is over.
func (a *Auditor) Restored(of LogEntry, r *Result, err error) {
	if err != nil {
		slug := "conflict"
		if refused := (*refusal.Refusal)(nil); errors.As(err, &refused) {
			slug = refused.Slug
		}
		r = &Result{IsError: true, Facts: Facts{Error: slug}}
	}
	a.Audit(of, r)
}
