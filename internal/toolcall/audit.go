package toolcall

import (
	"cmp"
	"errors"
	"time"

	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/reminders"
)

// Event is a call as others are told of it: what was done to which file, and how
// it ended, but never a byte of what the file holds or what was sent.
type Event struct {
	Kind          EventKind
	Operation     string // read, write, edit or search
	Session, Call string
	Tool          string
	// Path is the file's resolved name; where the call did not come that far, the
	// name as it was given.
	Path string
	// Bytes are those of the answer's text to a Read, or those of the changed file.
	Bytes int64
	// Took is the time from the call to its answer, 0 for one that has begun.
	Took time.Duration
	// Outcome is "ok" or the slug of the error, Code the error's number or 0.
	Outcome string
	Code    int
	// Search counts what a search found; nil for other events.
	Search *Search
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
	// EventBegun: a change is about to be made. It comes only where the settings
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

const outcomeOK = "ok"

// operations are the words for what a tool does.
var operations = map[perm.Op]string{perm.Read: "read", perm.Write: "write", perm.Edit: "edit", perm.NotebookEdit: "edit"}

// Searches reports whether a tool searches: it names no file, and has places of its own beside
// other calls.
func Searches(tool string) bool { return tool == "Glob" || tool == "Grep" }

// EntryOf returns the log entry of a call of a tool; given is the file as the call names it.
func EntryOf(call Call, tool, given string, begun time.Time) LogEntry {
	of := LogEntry{session: call.Session.ID, call: call.ID, tool: tool, given: given, begun: begun, search: Searches(tool)}
	for _, op := range []perm.Op{perm.Write, perm.Edit, perm.NotebookEdit} {
		if op.String() == tool {
			of.op = op
		}
	}
	return of
}

// Auditor logs calls.
type Auditor struct {
	Logger AuditLogger // nil: nothing is logged
	Now    func() time.Time
}

// Begin logs a change that is about to be made. An error stops the change.
func (a *Auditor) Begin(call Call, s *Target) error {
	if a.Logger == nil {
		return nil
	}
	tool := s.Op.String()
	if call.Restoring {
		tool = history.ToolRestore
	}
	err := a.Logger.Begin(Event{Kind: EventBegun, Operation: operations[s.Op], Session: call.Session.ID, Call: call.ID, Tool: tool, Path: s.Path, Outcome: string(EventBegun)})
	if err != nil {
		return &refusal.AuditError{Err: err}
	}
	return nil
}

// Audit logs a call that is over.
func (a *Auditor) Audit(of LogEntry, r *Result) {
	if a.Logger == nil {
		return
	}
	op := of.op
	e := Event{
		Kind: EventKind(operations[op]), Operation: operations[op], Session: of.session, Call: of.call, Tool: of.tool,
		Path: cmp.Or(of.Path, of.given), Took: a.Now().Sub(of.begun), Outcome: outcomeOK, Search: r.Search,
	}
	if of.search {
		e.Kind, e.Operation = EventSearch, string(EventSearch)
	}
	e.Bytes, _ = r.Meta["fsmcp/size"].(int64) // of the changed file
	if op == perm.Read {
		e.Bytes = answered(r)
	}
	if r.IsError {
		e.Kind, e.Bytes = EventRefusal, 0
		e.Outcome, _ = r.Meta["fsmcp/error"].(string)
		e.Code, _ = r.Meta["fsmcp/errorCode"].(int)
	}
	a.Logger.Log(e)
	if op.Changes() && !r.IsError && reminders.SpeaksToAgents(e.Path, of.given) {
		e.Kind = EventInstructions
		a.Logger.Log(e)
	}
}

// AuditSoon is Audit for a caller that must not be held up, by a disk that does not
// answer for example.
func (a *Auditor) AuditSoon(of LogEntry, r *Result) {
	if a.Logger == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Audit(of, r)
	}()
	select {
	case <-done:
	case <-time.After(tellWithin):
	}
}

// tellWithin bounds that wait.
const tellWithin = 100 * time.Millisecond

// answered returns the number of bytes in an answer.
func answered(r *Result) (n int64) {
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
		r = &Result{IsError: true, Meta: map[string]any{"fsmcp/error": slug}}
	}
	of.op = perm.Edit
	a.Audit(of, r)
}
