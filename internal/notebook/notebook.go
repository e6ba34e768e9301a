package notebook

import (
	"strconv"

	"github.com/fsmcp/fsmcp/internal/notebook/scan"
	"github.com/fsmcp/fsmcp/internal/span"
)

// The cell types of nbformat 4.
const (
	Code     = "code"
	Markdown = "markdown"
	Raw      = "raw"
)

// A Notebook is a parsed file. It refers to the bytes it was parsed from, which must not
// change, and is safe for concurrent use.
type Notebook struct {
	Raw          []byte
	Top          scan.Value // the outermost object
	List         scan.Value // the array of cells; none in nbformat 3
	Major, Minor int
	Language     string // of the code cells

	cells cellList
}

// A Cell is one cell as the file has it.
type Cell struct {
	Index int
	// Name names the cell in answers: its id, or cell-N if it has none or one that
	// does not fit an attribute.
	Name string
	// Type is code, markdown or raw, or any other string of the file.
	Type string
	// Source is the place of the source as the file spells it: the bytes that count as
	// shown with it, and an empty span at the cell's start if it has none.
	Source span.Span

	text scan.Value
}

// SourceText returns the cell's source, decoded and joined.
func (c Cell) SourceText() string {
	text, _, _ := c.text.AppendText(nil)
	return string(text)
}

// Fields holds the values of a cell that this package knows.
type Fields struct{ Whole, Type, ID, Source, Outputs, ExecutionCount, Language scan.Value }

// SourceSpan returns what Cell has as Source.
func (f *Fields) SourceSpan() span.Span {
	if f.Source.OK() {
		return f.Source.Span()
	}
	return span.Span{Start: int64(f.Whole.Start()), End: int64(f.Whole.Start())}
}

// Attribute returns the text of a string if it fits an attribute, else other.
func Attribute(v scan.Value, other string) string {
	if s := string(v.Bytes()); fitsAttribute(s) {
		return s
	}
	return other
}

// maxAttribute bounds an attribute, in bytes. The format allows an id 64 characters.
const maxAttribute = 256

// fitsAttribute reports whether a tag can hold s between quotes, and a caller can repeat it
// as shown.
func fitsAttribute(s string) bool {
	if s == "" || len(s) > maxAttribute {
		return false
	}
	for _, r := range s {
		if r <= ' ' || r == '"' || r == '<' || r == '>' || r == '&' || !strconv.IsPrint(r) {
			return false
		}
	}
	return true
}

// Len returns the number of cells.
func (nb *Notebook) Len() int { return nb.cells.n }

// Editable returns a *VersionError if notebooks of this format are shown only.
func (nb *Notebook) Editable() error {
	if nb.Major < 4 {
		return &VersionError{nb.Major, nb.Minor}
	}
	return nil
}

// at returns the value at a place.
func (nb *Notebook) at(p place) scan.Value {
	return scan.Between(nb.Raw, int(p.start), int(p.end))
}

// Fields returns the values of the cell at index i, which must exist.
func (nb *Notebook) Fields(i int) Fields {
	e := nb.cells.at(i)
	return Fields{nb.at(e.whole), nb.at(e.kind), nb.at(e.id), nb.at(e.source), nb.at(e.outputs), nb.at(e.count), nb.at(e.language)}
}

// Cell returns the cell at index i, which must exist.
func (nb *Notebook) Cell(i int) Cell {
	f := nb.Fields(i)
	return Cell{i, nb.Name(i), string(f.Type.Bytes()), f.SourceSpan(), f.Source}
}

// Cells returns all cells.
func (nb *Notebook) Cells() []Cell {
	all := make([]Cell, nb.Len())
	for i := range all {
		all[i] = nb.Cell(i)
	}
	return all
}
