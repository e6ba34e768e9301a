package refusal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// LargeView holds the facts on a Read of more of a notebook than one answer has.
type LargeView struct {
	Size, MaxSize   int64 // of the text in bytes
	Count, MaxCount int   // of its tokens
	Cells           int   // of the notebook
	Call            string
}

// Refusal words it.
func (v LargeView) Refusal() error {
	next := ""
	if v.Call != "" {
		next = " A call that fits: " + v.Call + "."
	}
	how := fmt.Sprintf("For a notebook offset and limit count cells (it has %d), and cell_id shows one cell.%s", v.Cells, next)
	if v.Size > v.MaxSize {
		return New(largeViewBytes, phrase.Above(v.Size, v.MaxSize), phrase.Limit(v.MaxSize), how)
	}
	return New(largeViewTokens, v.Count, v.MaxCount, how)
}

// NoSuchCell words a name that leads to no cell; any other error stays as it is. changes
// says that the call would change the notebook.
func NoSuchCell(name string, err error, changes bool) error {
	var e *notebook.CellError
	if !errors.As(err, &e) {
		return err
	}
	text, names := "", phrase.Names(e.Names)
	switch e.Miss {
	case notebook.Twice:
		text = fmt.Sprintf("%d cells of %s bear the id %s.", e.Count, name, phrase.Quote(e.Name))
		if len(e.Names) > 0 {
			text += fmt.Sprintf(" Name the one that is meant by its place: %s.", strings.Join(names, ", "))
		}
		if e.Hidden > 0 {
			text += fmt.Sprintf(" No name leads to %d of them, whose cell-N are ids of other cells.", e.Hidden)
		}
	case notebook.NoSuchIndex:
		text = fmt.Sprintf("%s has no cell %s: it has %d cells, cell-0 the first.", name, phrase.Quote(e.Name), e.Count)
	default:
		text = fmt.Sprintf("%s has no cell with the id %s.", name, phrase.Quote(e.Name))
	}
	if len(e.Names) > 0 && e.Miss != notebook.Twice {
		text += " There are: " + strings.Join(names, ", ")
		if e.Count > len(e.Names) {
			text += ", …"
		}
	}
	r := New(noSuchCell, text)
	if changes && e.Miss == notebook.NoSuchIndex {
		r.code = codeNoSuchIndex
	}
	return r
}

// codeNoSuchIndex is NotebookEdit's number for an unknown place.
const codeNoSuchIndex = 7

// Uneditable words why a notebook is not edited; any other error stays as it is. limit bounds
// its bytes.
func Uneditable(name string, limit int64, err error) error {
	var large *fsys.TooLargeError
	var binary *Refusal
	var at *notebook.ParseError
	var old *notebook.VersionError
	switch {
	case errors.As(err, &large):
		return New(TooLargeNotebook, name, phrase.Above(large.Size, limit), "edited")
	case errors.As(err, &binary) && binary.Slug == SlugBinary:
		return New(notebookNotText, name)
	case errors.As(err, &at):
		return New(notebookInvalid, name, at.What, at.Offset)
	case errors.As(err, &old):
		return New(notebookOld, name, old.Major, old.Minor)
	}
	return err
}

// CellCall names the Read that shows one cell.
func CellCall(cell string) string { return fmt.Sprintf("Read cell_id=\"%s\"", fsys.InSentence(cell)) }
