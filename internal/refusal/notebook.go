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
	names := strings.Join(phrase.Names(e.Names), ", ")
	if e.Miss == notebook.Twice {
		more := ""
		if len(e.Names) > 0 {
			more = fmt.Sprintf(" Name the one that is meant by its place: %s.", names)
		}
		if e.Hidden > 0 {
			more += fmt.Sprintf(" No name leads to %d of them, whose cell-N are ids of other cells.", e.Hidden)
		}
		return New(cellsOfOneID, e.Count, name, e.Name, more)
	}
	more := ""
	if len(e.Names) > 0 {
		more = " There are: " + names
		if e.Count > len(e.Names) {
			more += ", …"
		}
	}
	if e.Miss != notebook.NoSuchIndex {
		return New(noCellOfID, name, e.Name, more)
	}
	r := New(noCellOfIndex, name, e.Name, e.Count, more)
	if changes {
		r.code = codeNoSuchIndex
	}
	return r
}

// codeNoSuchIndex is NotebookEdit's number for an unknown place.
const codeNoSuchIndex = 7

// Uneditable words why a notebook is not edited; any other error stays as it is. limit bounds
// its bytes.
func Uneditable(name string, limit int64, err error) error {
	return reword(err,
		as(func(e *fsys.TooLargeError) *Refusal {
			return New(TooLargeNotebook, name, phrase.Above(e.Size, limit), "edited")
		}),
		as(func(r *Refusal) *Refusal {
			if r.Slug == SlugBinary {
				return New(notebookNotText, name)
			}
			return r
		}),
		as(func(e *notebook.ParseError) *Refusal { return New(notebookInvalid, name, e.What, e.Offset) }),
		as(func(e *notebook.VersionError) *Refusal { return New(notebookOld, name, e.Major, e.Minor) }),
	)
}

// CellCall names the Read that shows one cell.
func CellCall(cell string) string { return fmt.Sprintf("Read cell_id=\"%s\"", fsys.InSentence(cell)) }
