package toolcall

import (
	"encoding/hex"
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

// Facts are the facts of an answer for programs. A fact with its zero value is not known. The
// server writes them as the members "fsmcp/..." of _meta.
type Facts struct {
	Size         *int64    // of the file, in bytes
	Hash         state.Sum // SHA-256 of the file
	Lines        int       // of the file
	Replacements int       // made by an Edit
	Cell         string    // that a NotebookEdit changed
	Cells        *int      // of the notebook
	Pages        int       // of the PDF
	// OriginalSize is that of a picture or PDF in bytes. Original and Display are the sizes of
	// a picture in pixels, in the file and as sent.
	OriginalSize      int64
	Original, Display Pixels
	// Unconfirmed says that the disk did not confirm that a change survives a loss of power.
	Unconfirmed bool
	// Error is the slug of a refusal and ErrorCode its number. AbsolutePath says whether the
	// file argument was an absolute path, of a refusal of a file that was not read.
	Error        string
	ErrorCode    int
	AbsolutePath *bool
}

// Pixels is the size of a picture.
type Pixels struct{ Width, Height int }

// HexHash returns the hash in hexadecimal digits; "" if it is not known.
func (f *Facts) HexHash() string {
	if f.Hash == (state.Sum{}) {
		return ""
	}
	return hex.EncodeToString(f.Hash[:])
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
