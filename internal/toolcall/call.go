// Package toolcall holds the parts of a tool call that all tools share: the call and its
// conversation, the file that it names, as the rules let it through, the limits of its
// answer, and the answer with all that it shows. An answer is data: what it shows of files
// counts as shown once it is sent.
//
// It knows no tool's arguments, and nothing of the protocol that carries the calls. It
// reaches the disk only through fsys.
package toolcall

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/reminders"
)

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
	CanAsk bool
	// About is filled in while the call runs: the file as it was found, and how much of it the
	// answer shows where its bytes do not tell. Its path is "" where the rules did not let it
	// through. It is nil for a restore.
	About *reminders.Shown
	// Intent is of the arguments; nil for Read and for a restore.
	Intent Intent
	// Restoring says that a user restores a change by its exact name.
	Restoring bool
	// Clock gives up the call; nil where it is never given up.
	Clock Clock
	// Progress reports a share of a long call; nil when the client asked for none.
	Progress func(done, total int64, what string)
}

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
	About    reminders.Shown   // the file of the call
	Next     Parsed            // a notebook to be parsed before the next call
	Unlogged *LogEntry         // of a call that is logged when its answer is sent
	Report   *reminders.Report // nil: no file changed outside
	// Search holds the facts of a search that succeeded; nil for other calls.
	Search *Search
}

// Search counts what a search has found.
type Search struct {
	Path    string `json:"-"`       // the resolved name of the folder or file that was searched
	Pattern int    `json:"pattern"` // its length in bytes
	Files   int    `json:"files"`
	Matches int    `json:"matches"`
}

// Block is one content block: text, or bytes with a MIME type.
type Block struct {
	Text string
	Data []byte // image or resource bytes, not base64
	MIME string // empty for text
	Path string // of the file that a resource is of
}

// Refuse builds the answer to a call of a tool that was refused: the words for the model,
// and the code and slug of the table in the specification of the tools.
func Refuse(tool string, r *refusal.Refusal) *Result {
	return &Result{
		Blocks:  []Block{{Text: r.Text}},
		Meta:    map[string]any{"fsmcp/errorCode": r.Code(tool), "fsmcp/error": r.Slug},
		IsError: true,
	}
}

// Fail answers a call that failed, whose file argument was raw. Where the file was not read
// yet, programs learn whether that is an absolute path, in the words of the reference.
func Fail(tool, raw string, err error) *Result {
	r := refusal.Of(raw, err)
	result := Refuse(tool, r)
	if r.Slug == refusal.SlugNotRead || r.Slug == refusal.SlugPartlyRead {
		result.Meta["fsmcp/isFilePathAbsolute"] = strconv.FormatBool(filepath.IsAbs(raw))
	}
	return result
}

// TextResult is an answer of one text block: the given parts, one below the
// other, empty ones left out.
func TextResult(parts ...string) *Result {
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
	Parsed bool
}

// Followed returns a channel that is closed when another call on the same file waits; nil
// where that is never known.
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
