package notebook

import (
	"bytes"
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
	raw          []byte
	top          scan.Extent
	major, minor int
	list         scan.Extent // the array of cells; the zero extent in nbformat 3
	cells        cellList
	language     string
}

// A Cell is one cell as the file has it.
type Cell struct {
	Index int
	// ID is the cell's id, "" if none.
	ID string
	// Name names the cell in answers: its id, or cell-N if it has none or one that
	// does not fit an attribute.
	Name string
	// Type is code, markdown or raw, or any other string of the file.
	Type string
	// Span is the whole cell. Source is its source as the file spells it: the bytes that
	// count as shown with it, and an empty span at the cell's start if it has none.
	Span, Source span.Span
	// Halves counts the lone surrogates in the source. Each reads as U+FFFD.
	Halves int

	nb   *Notebook
	text scan.Extent
}

// SourceText returns the cell's source, decoded and joined.
func (c Cell) SourceText() string { return c.nb.text(c.text) }

// integer returns the number at v, which may be written 4 or 4.0.
func (nb *Notebook) integer(v scan.Extent) (int, bool) {
	f, err := strconv.ParseFloat(string(nb.raw[v.Start:v.End]), 64)
	if err != nil || f != float64(int32(f)) {
		return 0, false
	}
	return int(f), true
}

// bytes returns the text of a string, and nil for any other value. It may be part of the file.
func (nb *Notebook) bytes(v scan.Extent) []byte {
	if !scan.IsString(nb.raw, v) {
		return nil
	}
	return scan.KeyOf(nb.raw, v)
}

// str returns the text of a string, and "" for any other value.
func (nb *Notebook) str(v scan.Extent) string { return string(nb.bytes(v)) }

// attribute returns the text of a string if it fits an attribute, else other.
func (nb *Notebook) attribute(v scan.Extent, other string) string {
	if s := nb.str(v); fitsAttribute(s) {
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

// Language returns the language of the code cells.
func (nb *Notebook) Language() string { return nb.language }

// Editable returns a *VersionError if notebooks of this format are shown only.
func (nb *Notebook) Editable() error {
	if nb.major < 4 {
		return &VersionError{nb.major, nb.minor}
	}
	return nil
}

// Cell returns the cell at index i, which must exist.
func (nb *Notebook) Cell(i int) Cell {
	at, f := nb.cellAt(i), nb.fieldsOf(i)
	c := Cell{
		Index:  i,
		ID:     nb.str(f.id),
		Name:   nb.name(i),
		Type:   nb.str(f.kind),
		Span:   at.Span(),
		Source: sourceExtent(at, f).Span(),
		nb:     nb,
		text:   f.source,
	}
	if f.source.OK() && bytes.Contains(nb.raw[f.source.Start:f.source.End], []byte(`\u`)) {
		c.Halves = scan.CountHalves(nb.raw, f.source)
	}
	return c
}

// Cells returns all cells.
func (nb *Notebook) Cells() []Cell {
	all := make([]Cell, nb.Len())
	for i := range all {
		all[i] = nb.Cell(i)
	}
	return all
}

// text returns the decoded text of a string or list of strings, and "" for any other value.
func (nb *Notebook) text(v scan.Extent) string {
	text, _, _ := scan.JoinText(nil, nb.raw, v)
	return string(text)
}

func sourceExtent(cell scan.Extent, f fields) scan.Extent {
	if f.source.OK() {
		return f.source
	}
	return scan.Between(cell.Start, cell.Start)
}
