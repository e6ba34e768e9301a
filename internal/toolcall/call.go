// Package toolcall holds the parts of a tool call that all tools share: the call and its
// conversation, the file that it names, as the rules let it through, the limits of its
// answer, and its outcome: an answer and effects as data. It holds the two places where the
// conversation's memory changes: Session.Changed, when a file on the disk was changed, and
// Session.Apply, when an answer is handed to the writer.
//
// It knows no tool's arguments, and nothing of the protocol that carries the calls. It
// reaches the disk only through fsys.
package toolcall

import "github.com/fsmcp/fsmcp/internal/fsys"

// Call holds the facts on a call beside its arguments.
type Call struct {
	// Session is the conversation's memory of what it has been shown.
	Session *Session
	// ID is the client's own id of the tool call if it sends one, else the request's
	// id as the client wrote it: for history, hooks, logs and the audit file.
	ID string
	// File is the call's file argument; it is parsed when the call runs if it is not yet.
	File FileArgument
	// Remark is on the arguments, for the end of the answer; "" is none.
	Remark string
	// Client bounds what the asking client passes on to its model.
	Client ClientLimits
	// Consent is the user's answer to the questions that earlier tries of this
	// call came back with; nil if nothing was asked.
	Consent *Consent
	// CanAsk says that a question may be put to the user: a result with one is then
	// no answer yet.
	CanAsk bool
	// Intent is of the arguments; nil for Read and for a restore.
	Intent Intent
	// Group is the history's name for the changes of a call that may make several; "" for others.
	Group string
	// Restoring says that a user restores a change by its exact name.
	Restoring bool
	// Clock gives up the call; nil if it is never given up.
	Clock Clock
	// Progress is nil if the client asked for no reports.
	Progress Progress
}

// Progress reports a share of a long call.
type Progress func(done, total int64, what string)

// An Intent is in the arguments of a call that changes a file.
type Intent interface {
	// Intent tells the user what the call is about to do, by its arguments alone.
	Intent() string
}

// Clock bounds the time of a call.
type Clock interface {
	// Rest stops the clock until resume is called, once: for programs that have a
	// deadline of their own.
	Rest() (resume func())
	// Followed returns a channel that is closed when another call on the same file waits.
	Followed() <-chan struct{}
}

// FileArgument is a file argument, parsed once for its call.
type FileArgument struct {
	// Key names the file as far as the argument alone does: calls with one key are kept
	// in order.
	Key    string
	path   fsys.Path
	err    error // the failure of the call once it opens the file
	Parsed bool
}

// Followed returns a channel that is closed when another call on the same file waits; nil
// if that is never known.
func (c Call) Followed() <-chan struct{} {
	if c.Clock == nil {
		return nil
	}
	return c.Clock.Followed()
}

// Rest has the call's own clock rest until the function it returns is called.
func (c Call) Rest() (resume func()) {
	if c.Clock == nil {
		return func() {}
	}
	return c.Clock.Rest()
}
