package refusal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// codeNoNotebook is the number for a file that NotebookEdit does not take for a
// notebook.
const codeNoNotebook = 6

// TooLargeNotebook refuses a notebook that is not held in memory; done completes "is
// not": "shown" or "edited".
func TooLargeNotebook(name string, size, limit int64, done string) error {
	return refuse(SlugTooLarge, "The notebook %s has %s; notebooks of at most 64 MB are %s.", name, phrase.Above(size, limit), done)
}

// ColumnWithoutCell refuses a column of no cell.
var ColumnWithoutCell = refuse(SlugBadArgument, "In a notebook column pages through one line of a cell: give cell_id with it. Without cell_id offset and limit count cells.")

// BrokenNotebook refuses to show a notebook that cannot be parsed.
func BrokenNotebook(name string, at *notebook.ParseError) error {
	return refuse(SlugBrokenFile, "%s cannot be read as a notebook: %s at byte %d. With offset and limit its raw text is paged; shown in full, Write may replace it.", name, at.What, at.Offset)
}

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
		return refuse(SlugTooLarge, "Notebook content (%s as text) exceeds maximum allowed size (%s). %s", phrase.Above(v.Size, v.MaxSize), phrase.Limit(v.MaxSize), how)
	}
	return refuse(SlugTooManyTokens, "Notebook content (%d tokens) exceeds maximum allowed tokens (%d). %s", v.Count, v.MaxCount, how)
}

// NoSuchCell words a name that leads to no cell; any other error stays as it is. code
// is the tool's own for an unknown id.
func NoSuchCell(name string, err error, code int) error {
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
	return &Refusal{Slug: SlugNoSuchCell, Text: text, code: code}
}

// CellCode is NotebookEdit's number for a CellError: 7 for an unknown place, 8 for an
// unknown or doubled id.
func CellCode(err error) int {
	var e *notebook.CellError
	if errors.As(err, &e) && e.Miss == notebook.NoSuchIndex {
		return 7
	}
	return 8
}

// BadMode refuses an unknown edit_mode.
func BadMode(mode string) error {
	return refuseAs(4, SlugBadArgument, "edit_mode must be replace, insert or delete, not %s.", phrase.Quote(mode))
}

// BadCellType refuses an unknown cell_type.
func BadCellType(kind string) error {
	return refuseAs(2, SlugBadArgument, "cell_type must be code, markdown or raw, not %s.", phrase.Quote(kind))
}

// InsertWithoutType refuses an insert of a cell of no type.
var InsertWithoutType = refuseAs(3, SlugBadArgument, "insert needs cell_type: code, markdown or raw.")

// WithoutCell refuses an edit of no cell.
func WithoutCell(mode string) error {
	return refuseAs(5, SlugBadArgument, "%s needs cell_id: the cell's id, or cell-N for the Nth cell, counted from 0.", mode)
}

// WithoutSource refuses an edit without new_source.
func WithoutSource(mode string) error {
	return refuseAs(12, SlugBadArgument, "%s needs new_source; \"\" makes an empty cell.", mode)
}

// NotNotebook refuses a file that is no notebook by its name.
func NotNotebook(name string) error {
	return refuse(SlugNotNotebook, "File must be a Jupyter notebook (.ipynb file). For editing other file types, use the Edit tool.\nPath: %s", name)
}

// EmptyNotebook refuses to edit a notebook of no bytes.
func EmptyNotebook(name string) error {
	return refuseAs(codeNoNotebook, SlugBrokenFile, "%s is empty, and so no notebook yet. Write can fill it.", name)
}

// Uneditable words why a notebook is not edited; any other error stays as it is. limit bounds
// its bytes.
func Uneditable(name string, limit int64, err error) error {
	var large *fsys.TooLargeError
	var binary *Refusal
	var at *notebook.ParseError
	var old *notebook.VersionError
	switch {
	case errors.As(err, &large):
		return TooLargeNotebook(name, large.Size, limit, "edited")
	case errors.As(err, &binary) && binary.Slug == SlugBinary:
		return refuseAs(codeNoNotebook, SlugBrokenFile, "%s is no notebook: it is not UTF-8 text.", name)
	case errors.As(err, &at):
		return refuseAs(codeNoNotebook, SlugBrokenFile, "%s is no valid notebook: %s at byte %d. Read pages its raw text with offset and limit; Write may replace it once all of it was shown.", name, at.What, at.Offset)
	case errors.As(err, &old):
		return refuseAs(codeNoNotebook, SlugBrokenFile, "%s is of nbformat %d.%d; notebooks of nbformat 4 and later are edited. Convert it first (jupyter nbconvert --to notebook --nbformat 4).", name, old.Major, old.Minor)
	}
	return err
}

// CellCall names the Read that shows one cell.
func CellCall(cell string) string { return fmt.Sprintf("Read cell_id=\"%s\"", fsys.InSentence(cell)) }
