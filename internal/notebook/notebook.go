package notebook

import (
	"bytes"
	"strconv"

	"github.com/fsmcp/fsmcp/internal/span"
)

// The cell types of nbformat 4.
const (
	Code     = "code"
	Markdown = "markdown"
	Raw      = "raw"
)

// A Notebook is a parsed file. It keeps the bytes it was given, which must not
// change, and is safe for concurrent use.
type Notebook struct {
	raw          []byte
	top          extent
	major, minor int
	list         extent // the array of cells; the zero extent in nbformat 3
	cells        cellList
	language     string
}

// A Cell is one cell as the file has it.
type Cell struct {
	Index int
	// ID is the id the cell bears, "" if none.
	ID string
	// Name is what the cell is called in what is shown: its id, or cell-N
	// where it has none or one that cannot stand in an attribute.
	Name string
	// Type is code, markdown or raw, or what else the file says.
	Type string
	// Span is the whole cell, and Source its source as the file spells it: the
	// bytes that count as shown with it. A cell without source has an empty
	// one at its start.
	Span, Source span.Span
	// Halves counts the halves of surrogate pairs in the source, each of which
	// reads as U+FFFD.
	Halves int

	nb   *Notebook
	text extent
}

// SourceText is the cell's source, decoded and joined.
func (c Cell) SourceText() string { return c.nb.text(c.text) }

// integer is the number at v: 4, and 4.0 as well.
func (nb *Notebook) integer(v extent) (int, bool) {
	f, err := strconv.ParseFloat(string(nb.raw[v.start:v.end]), 64)
	if err != nil || f != float64(int32(f)) {
		return 0, false
	}
	return int(f), true
}

// bytes are the text of a string, none for all else; they may be the file's own.
func (nb *Notebook) bytes(v extent) []byte {
	if !isString(nb.raw, v) {
		return nil
	}
	return keyOf(nb.raw, v)
}

// str is the text of a string, "" for all else.
func (nb *Notebook) str(v extent) string { return string(nb.bytes(v)) }

// attribute is the text of a string that can stand in an attribute, or other.
func (nb *Notebook) attribute(v extent, other string) string {
	if s := nb.str(v); fitsAttribute(s) {
		return s
	}
	return other
}

// maxAttribute bounds what stands in an attribute. The format allows an id 64
// characters.
const maxAttribute = 256

// fitsAttribute tells whether s can stand between quotes in a tag and be given
// back as it was seen.
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

// Len is the number of cells.
func (nb *Notebook) Len() int { return nb.cells.n }

// Version is the notebook's nbformat and nbformat_minor.
func (nb *Notebook) Version() (major, minor int) { return nb.major, nb.minor }

// Language is the language of the notebook's code cells.
func (nb *Notebook) Language() string { return nb.language }

// Editable tells whether the notebook's format is one that is edited; the
// error is a *VersionError.
func (nb *Notebook) Editable() error {
	if nb.major < 4 {
		return &VersionError{nb.major, nb.minor}
	}
	return nil
}

// Cell is the cell at index i, which must be one.
func (nb *Notebook) Cell(i int) Cell {
	at, f := nb.cellAt(i), nb.fieldsOf(i)
	c := Cell{
		Index:  i,
		ID:     nb.str(f.id),
		Name:   nb.name(i),
		Type:   nb.str(f.kind),
		Span:   at.public(),
		Source: sourceExtent(at, f).public(),
		nb:     nb,
		text:   f.source,
	}
	if f.source.ok() && bytes.Contains(nb.raw[f.source.start:f.source.end], []byte(`\u`)) {
		c.Halves = countHalves(nb.raw, f.source)
	}
	return c
}

// Cells are all cells. Where one will do, Cell costs less.
func (nb *Notebook) Cells() []Cell {
	all := make([]Cell, nb.Len())
	for i := range all {
		all[i] = nb.Cell(i)
	}
	return all
}

// text is the decoded text of a string or list of strings, "" for all else.
func (nb *Notebook) text(v extent) string {
	text, _, _ := joinText(nil, nb.raw, v)
	return string(text)
}

func sourceExtent(cell extent, f fields) extent {
	if f.source.ok() {
		return f.source
	}
	return extent{cell.start, cell.start}
}

func (s extent) public() span.Span { return span.Span{Start: int64(s.start), End: int64(s.end)} }
