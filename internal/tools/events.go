package tools

import (
	"cmp"
	"context"
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
	Operation     string // read, write or edit
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
}

// EventKind says what an Event tells of.
type EventKind string

// The kinds of events.
const (
	EventRead    EventKind = "read"
	EventWrite   EventKind = "write"
	EventEdit    EventKind = "edit"
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

// operation is the word for what a tool does.
func operation(op perm.Op) string {
	switch op {
	case perm.Read:
		return "read"
	case perm.Write:
		return "write"
	}
	return "edit"
}

func opOf(tool string) perm.Op {
	for _, op := range []perm.Op{perm.Write, perm.Edit, perm.NotebookEdit} {
		if op.String() == tool {
			return op
		}
	}
	return perm.Read
}

// begin tells of a change that is about to be made.
func (h *Service) begin(call Call, s *target) error {
	if h.Audit == nil {
		return nil
	}
	tool := s.Op.String()
	if call.restoring {
		tool = history.ToolRestore
	}
	err := h.Audit.Begin(Event{Kind: EventBegun, Operation: operation(s.Op), Session: call.Session.id, Call: call.ID, Tool: tool, Path: s.Path, Outcome: string(EventBegun)})
	if err != nil {
		return &refusal.AuditError{Err: err}
	}
	return nil
}

// logEntry is a call that is to be logged once its answer is known. given is the file
// as the call names it, path its resolved name, "" where the call did not come that far.
type logEntry struct {
	session, call, tool string
	given, path         string
	begun               time.Time
}

// audit logs a call that is over.
func (h *Service) audit(of logEntry, r *Result) {
	if h.Audit == nil {
		return
	}
	op := opOf(of.tool)
	e := Event{
		Kind: EventKind(operation(op)), Operation: operation(op), Session: of.session, Call: of.call, Tool: of.tool,
		Path: cmp.Or(of.path, of.given), Took: h.Now().Sub(of.begun), Outcome: outcomeOK,
	}
	e.Bytes = r.size()
	if op == perm.Read {
		e.Bytes = answered(r)
	}
	if r.IsError {
		e.Kind, e.Bytes = EventRefusal, 0
		e.Outcome, _ = r.Meta["fsmcp/error"].(string)
		e.Code, _ = r.Meta["fsmcp/errorCode"].(int)
	}
	h.log(e, of.given)
}

// Refused tells of a call that was not made. given is its file as it was named, ""
// where it cannot be told, and waited how long it took to come to that.
func (h *Service) Refused(tool, given string, call Call, waited time.Duration, r *Result) {
	h.auditSoon(logEntry{session: call.Session.id, call: call.ID, tool: tool, given: given, begun: h.Now().Add(-waited)}, r)
}

// auditSoon is audit for a caller that must not be held up, by a disk that does not
// answer for example.
func (h *Service) auditSoon(of logEntry, r *Result) {
	if h.Audit == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.audit(of, r)
	}()
	select {
	case <-done:
	case <-time.After(tellWithin):
	}
}

// tellWithin bounds that wait.
const tellWithin = 100 * time.Millisecond

// size returns the size of a changed file, as its answer has it.
func (r *Result) size() int64 {
	switch size := r.Meta["fsmcp/size"].(type) {
	case int:
		return int64(size)
	case int64:
		return size
	}
	return 0
}

// answered returns the number of bytes in an answer.
func answered(r *Result) (n int64) {
	for _, b := range r.Blocks {
		n += int64(len(b.Text) + len(b.Data))
	}
	return n
}

// auditRestore runs a restore and logs it.
func (h *Service) auditRestore(ctx context.Context, call Call, given string, run func(context.Context) (*Result, error)) (*Result, error) {
	begun := h.Now()
	r, err := run(ctx)
	if h.Audit == nil || r == nil && err == nil {
		return r, err
	}
	e := Event{Kind: EventEdit, Operation: operation(perm.Edit), Session: call.Session.id, Call: call.ID, Tool: history.ToolRestore, Path: given, Took: h.Now().Sub(begun), Outcome: outcomeOK}
	if err == nil {
		e.Bytes = r.size()
	} else {
		e.Kind, e.Outcome = EventRefusal, "conflict"
		if refused := (*refusal.Refusal)(nil); errors.As(err, &refused) {
			e.Outcome = refused.Slug
		}
	}
	h.log(e, given)
	return r, err
}

// log logs a call, and beside it the change of a file that speaks to agents.
func (h *Service) log(e Event, given string) {
	h.Audit.Log(e)
	if (e.Kind == EventWrite || e.Kind == EventEdit) && reminders.SpeaksToAgents(e.Path, given) {
		e.Kind = EventInstructions
		h.Audit.Log(e)
	}
}
