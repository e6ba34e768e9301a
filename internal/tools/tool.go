// Package tools holds the four tools as functions of typed arguments: what each
// refuses, in which order, and in which words. It knows nothing of the protocol
// that carries the calls, and reaches the disk only through fsys and save.
//
// It does not decode arguments and does not recover panics: the server does.
package tools

import (
	"context"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/reminders"
)

// A Tool is one published tool. Args returns a pointer to a fresh argument
// struct whose json tags are the properties of schemas/NAME.json; the server
// fills it and hands it to Run.
type Tool struct {
	Name string
	// ReadOnly tells the server that the tool never changes a file.
	ReadOnly bool
	// Args returns a new argument struct (a pointer) for one call.
	Args func() Args
	// Run answers one call. Failures that the caller can mend are results
	// with IsError set; Run never panics on purpose. It leaves the arguments as
	// they are: a call that had to ask is run again with the same.
	Run func(ctx context.Context, call Call, args Args) *Result
}

// Args is an argument struct. Target is the raw file argument, by which the
// server keeps calls on one file in order.
type Args interface{ Target() string }

// Call holds the facts on a call beside its arguments.
type Call struct {
	// Session is the conversation's memory of what it has been shown.
	Session *Session
	// ID is the client's own id of the tool call where it sends one, else the request's
	// id as the client wrote it: for history, hooks, logs and the audit file.
	ID string
	// File is the call's file argument; it is parsed when the call runs if it is not yet.
	File FileArgument
	// Client bounds what the asking client passes on to its model.
	Client ClientLimits
	// Consent is the user's answer to the questions that earlier tries of this
	// call came back with; nil where nothing was asked.
	Consent *Consent
	// CanAsk says that a question may be put to the user: a result with one is then
	// no answer yet.
	CanAsk  bool
	account *account
	args    Args // nil of a restore
	// hidden says that what the file holds must not be shown.
	hidden bool
	// restoring: a user restores a change by its exact name.
	restoring bool
	// Clock gives up the call; nil where it is never given up.
	Clock Clock
	// Progress reports a share of a long call; nil when the client asked for none.
	Progress func(done, total int64, what string)
}

// Clock bounds the time of a call.
type Clock interface {
	// Rest stops the clock until resume is called, once: for programs that have a
	// deadline of their own.
	Rest() (resume func())
}

// account holds the facts on a call that are known afterwards.
type account struct {
	// path is the resolved name of the file that it was about; "" where the
	// rules did not let it through.
	path  string
	stamp fsys.Stamp // as it was found
	// extent says how much of it the answer shows, where its bytes do not tell.
	extent reminders.Extent
}

// Result is one answer, free of protocol types.
type Result struct {
	Blocks  []Block
	Meta    map[string]any // keys "fsmcp/..."
	IsError bool
	// Ask is set where the user's consent would let the call through; the rest
	// of the result is then for clients that cannot ask.
	Ask *Question
	// Shown lists what the answer shows of files. Service.Sent uses it, and the fields
	// below.
	Shown    []Shown
	about    account
	next     parsed            // a notebook to be parsed before the next call
	unlogged *logEntry         // of a call that is logged when its answer is sent
	report   *reminders.Report // nil: no file changed outside
}

// Block is one content block: text, or bytes with a MIME type.
type Block struct {
	Text string
	Data []byte // image or resource bytes, not base64
	MIME string // empty for text
	Path string // of the file that a resource is of
}

// Failure builds the answer to a call that failed: the words for the model,
// and the code and slug of the table in the specification of the tools.
func Failure(code int, slug, text string) *Result {
	return &Result{
		Blocks:  []Block{{Text: text}},
		Meta:    map[string]any{"fsmcp/errorCode": code, "fsmcp/error": slug},
		IsError: true,
	}
}

// Refuse builds the answer to a call of a tool that was refused.
func Refuse(tool string, r *refusal.Refusal) *Result { return Failure(r.Code(tool), r.Slug, r.Text) }

// fail answers a call that failed.
func fail(tool, raw string, err error) *Result {
	return Refuse(tool, refusal.Of(raw, err))
}

// textResult is an answer of one text block: the given parts, one below the
// other, empty ones left out.
func textResult(parts ...string) *Result {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	if len(kept) == 1 {
		return &Result{Blocks: []Block{{Text: kept[0]}}}
	}
	return &Result{Blocks: []Block{{Text: strings.Join(kept, "\n")}}}
}

// FileArgument is a file argument, parsed once for its call.
type FileArgument struct {
	// Key names the file as far as the argument alone does: calls with one key are kept
	// in order.
	Key    string
	path   fsys.Path
	err    error // the failure of the call once it opens the file
	parsed bool
}

// logEntry is a call that is to be logged once its answer is known. given is the file
// as the call names it, path its resolved name, "" where the call did not come that far.
type logEntry struct {
	session, call, tool string
	op                  perm.Op
	given, path         string
	begun               time.Time
}

// rest has the call's own clock rest until the function it returns is called.
func (c Call) rest() (resume func()) {
	if c.Clock == nil {
		return func() {}
	}
	return c.Clock.Rest()
}
