package toolcall

import (
	"path/filepath"
	"strings"

	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/state"
)

// Outcome is the result of a call as data: what its answer says, and what follows from it
// for the conversation. Nothing of it has happened yet: Session.Apply applies the effects.
type Outcome struct {
	Answer
	Effects
	// Err says why the call was refused or failed. Of Answer only nothing is used then.
	Err error
}

// Failed is the outcome of a call that failed and whose answer shows nothing.
func Failed(err error) Outcome { return Outcome{Err: err} }

// Refused is the outcome of a call that was refused, with what its answer shows.
func Refused(err error, shown ...Shown) Outcome {
	return Outcome{Err: err, Effects: Effects{Shown: shown}}
}

// SetFile sets the file of the call.
func (o *Outcome) SetFile(t *Target) { o.File.Path, o.File.Stamp = t.Path, t.Stamp }

// Answer holds the parts of an answer. Result puts its text together, once.
type Answer struct {
	Head  string   // what was done
	Body  string   // what is shown of the file
	Notes []string // remarks, for the end of the text; empty ones are left out
	Media []Block  // the blocks below the text
	Facts Facts
}

// Text is the text of the answer, without that of Media.
func (a Answer) Text() string { return Joined(append([]string{a.Head, a.Body}, a.Notes...)...) }

// Joined returns the given parts, one below the other, empty ones left out.
func Joined(parts ...string) string {
	kept := make([]string, 0, len(parts))
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n")
}

// Note adds remarks.
func (a *Answer) Note(notes ...string) { a.Notes = append(a.Notes, notes...) }

// Block is one content block: text, or bytes with a MIME type.
type Block struct {
	Text string
	Data []byte // image or resource bytes, not base64
	MIME string // empty for text
	Path string // of the file that a resource is of
}

// Facts are the facts of an answer for programs, which the server writes as _meta. What has
// its zero value is not known and is left out. The members stand in the order of their names.
type Facts struct {
	Cell          string `json:"fsmcp/cell,omitempty"`  // that a NotebookEdit changed
	Cells         *int   `json:"fsmcp/cells,omitempty"` // of the notebook
	DisplayHeight int    `json:"fsmcp/displayHeight,omitempty"`
	DisplayWidth  int    `json:"fsmcp/displayWidth,omitempty"` // of a picture as it is sent, in pixels
	// Durability is "unknown" if the disk did not confirm that a change survives a loss of
	// power.
	Durability string `json:"fsmcp/durability,omitempty"`
	Error      string `json:"fsmcp/error,omitempty"` // the slug of a refusal
	ErrorCode  int    `json:"fsmcp/errorCode,omitempty"`
	// Failed lists the entries of a call that were not done; nil: none.
	Failed *[]FailedEntry `json:"fsmcp/failed,omitempty"`
	// Group names the changes of the call in the history.
	Group string `json:"fsmcp/group,omitempty"`
	// Hash is the SHA-256 of the file.
	Hash state.Sum `json:"fsmcp/hash,omitzero"`
	// AbsolutePath says of a refusal of a file that was not read whether its argument was an
	// absolute path.
	AbsolutePath   *bool  `json:"fsmcp/isFilePathAbsolute,omitempty,string"`
	Lines          int    `json:"fsmcp/lines,omitempty"` // of the file
	OriginalHeight int    `json:"fsmcp/originalHeight,omitempty"`
	OriginalSize   int64  `json:"fsmcp/originalSize,omitempty"`  // of a picture or PDF, in bytes
	OriginalWidth  int    `json:"fsmcp/originalWidth,omitempty"` // of a picture in its file, in pixels
	Pages          int    `json:"fsmcp/pages,omitempty"`         // of the PDF
	Replacements   int    `json:"fsmcp/replacements,omitempty"`  // made by an Edit
	Size           *int64 `json:"fsmcp/size,omitempty"`          // of the file, in bytes
}

// FailedEntry is an entry of a call that was not done.
type FailedEntry struct {
	Index int    `json:"index"` // in the list of the call, from 0
	Error string `json:"error"` // a slug
}

// Hide leaves out what a hidden file must not tell: its text, by which it was shown, and its
// hash, by which a text can be guessed. That a file is gone stays.
func (o *Outcome) Hide() {
	o.Body, o.Facts.Hash, o.Parse = "", state.Sum{}, Parsed{}
	var kept []Shown
	for _, s := range o.Shown {
		if s.How == Forgotten {
			kept = append(kept, s)
		}
	}
	o.Shown = kept
}

// Result is an answer as it is sent, with the effects that are applied then.
type Result struct {
	Blocks  []Block
	Facts   Facts
	IsError bool
	Effects
}

// Result puts the answer together. An error is answered in the words of package refusal, by
// the tool and the file argument of the call. hint is a line for the end; "" is none.
func (o Outcome) Result(tool, raw, hint string) *Result {
	r := &Result{Facts: o.Facts}
	if o.Err != nil {
		r = Fail(tool, raw, o.Err)
		r.Facts.Failed, r.Facts.Group = o.Facts.Failed, o.Facts.Group
	} else {
		r.Blocks = o.blocks(hint)
	}
	r.Effects = o.Effects
	return r
}

// blocks returns the text, if there is any, and the other blocks. The hint ends the last
// block if that is text: clients join blocks as they stand.
func (a Answer) blocks(hint string) (all []Block) {
	if text := a.Text(); text != "" {
		all = append(all, Block{Text: text})
	}
	all = append(all, a.Media...)
	if hint == "" {
		return all
	}
	if n := len(all); n > 0 && all[n-1].MIME == "" {
		all[n-1].Text += "\n" + hint
		return all
	}
	return append(all, Block{Text: hint})
}

// Refuse is the answer to a call of a tool that was refused: the words for the model, and
// the code and slug for programs.
func Refuse(tool string, r *refusal.Refusal) *Result {
	return &Result{Blocks: []Block{{Text: r.Text}}, Facts: Facts{Error: r.Slug, ErrorCode: r.Code(tool)}, IsError: true}
}

// Fail is the answer to a call that failed, whose file argument was raw.
func Fail(tool, raw string, err error) *Result {
	r := refusal.Of(raw, err)
	result := Refuse(tool, r)
	if r.Slug == refusal.SlugNotRead || r.Slug == refusal.SlugPartlyRead {
		result.Facts.AbsolutePath = new(filepath.IsAbs(raw))
	}
	return result
}
