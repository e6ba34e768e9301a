package notebook

import (
	"bytes"
	"strconv"
)

// The cell types of nbformat 4.
const (
	Code     = "code"
	Markdown = "markdown"
	Raw      = "raw"
)

// A Span is a half-open range of the file's bytes.
type Span struct{ Start, End int64 }

// A Notebook is a parsed file. It keeps the bytes it was given, which must not
// change, and is safe for concurrent use.
type Notebook struct {
	raw          []byte
	top          span
	major, minor int
	list         span // the array of cells; the zero span in nbformat 3
	cells        []span
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
	Span, Source Span
	// Halves counts the halves of surrogate pairs in the source, each of which
	// reads as U+FFFD.
	Halves int

	nb   *Notebook
	text span
}

// SourceText is the cell's source, decoded and joined.
func (c Cell) SourceText() string { return c.nb.text(c.text) }

// Parse reads a notebook. Its error is a *ParseError.
func Parse(raw []byte) (*Notebook, error) {
	if err := check(raw); err != nil {
		return nil, err
	}
	nb := &Notebook{raw: raw, top: topSpan(raw)}
	if err := nb.readTop(); err != nil {
		return nil, err
	}
	return nb, nil
}

// topSpan is the file's one value.
func topSpan(raw []byte) span {
	at := 0
	if bytes.HasPrefix(raw, []byte(bom)) {
		at = len(bom)
	}
	at = skipSpace(raw, at)
	return span{at, skipValue(raw, at)}
}

func notNotebook(at int, what string) error {
	return &ParseError{NotNotebook, int64(at), what}
}

// readTop finds the version and the cells.
func (nb *Notebook) readTop() error {
	if nb.raw[nb.top.start] != '{' {
		return notNotebook(nb.top.start, "not an object")
	}
	var format, minor, cells, sheets, metadata span
	members(nb.raw, nb.top, func(m member) bool {
		switch string(keyOf(nb.raw, m.key)) {
		case "nbformat":
			format = m.val
		case "nbformat_minor":
			minor = m.val
		case "cells":
			cells = m.val
		case "worksheets":
			sheets = m.val
		case "metadata":
			metadata = m.val
		}
		return true
	})
	var ok bool
	if nb.major, ok = nb.integer(format); !ok {
		return notNotebook(max(format.start, nb.top.start), "no nbformat number")
	}
	if nb.minor, ok = nb.integer(minor); !ok && minor.ok() {
		return notNotebook(minor.start, "nbformat_minor is no number")
	}
	nb.language = nb.attribute(lookup(nb.raw, metadata, "language_info", "name"), "python")
	switch nb.major {
	case 4:
		return nb.readCells(cells)
	case 3:
		return nb.readSheets(sheets)
	}
	return &ParseError{BadVersion, int64(format.start), "nbformat " + strconv.Itoa(nb.major)}
}

func (nb *Notebook) readCells(cells span) error {
	if !isArray(nb.raw, cells) {
		return notNotebook(max(cells.start, nb.top.start), "no list of cells")
	}
	nb.list = cells
	return nb.addCells(cells)
}

// readSheets gathers the cells of nbformat 3, which has several lists of them.
func (nb *Notebook) readSheets(sheets span) error {
	if !isArray(nb.raw, sheets) {
		return notNotebook(max(sheets.start, nb.top.start), "no list of worksheets")
	}
	var err error
	elements(nb.raw, sheets, func(sheet span) bool {
		if cells := lookup(nb.raw, sheet, "cells"); isArray(nb.raw, cells) {
			err = nb.addCells(cells)
		}
		return err == nil
	})
	return err
}

// addCells checks each cell before it notes where it is, so that a list of
// millions of something else costs no memory.
func (nb *Notebook) addCells(cells span) error {
	var err error
	elements(nb.raw, cells, func(cell span) bool {
		if err = nb.checkCell(cell); err == nil {
			nb.cells = append(nb.cells, cell)
		}
		return err == nil
	})
	return err
}

// checkCell tells whether a cell can be shown and edited at all.
func (nb *Notebook) checkCell(cell span) error {
	if !isObject(nb.raw, cell) {
		return notNotebook(cell.start, "a cell that is not an object")
	}
	f := nb.fields(cell)
	if !isString(nb.raw, f.kind) {
		return notNotebook(max(f.kind.start, cell.start), "a cell without cell_type")
	}
	if f.source.ok() && !isText(nb.raw, f.source) {
		return notNotebook(f.source.start, "a source that is not text")
	}
	return nil
}

// fields are the values of a cell that this package knows.
type fields struct {
	kind, id, source, outputs, count, language span
}

// fields finds a cell's known values; of equal keys the last counts.
func (nb *Notebook) fields(cell span) fields {
	var f fields
	members(nb.raw, cell, func(m member) bool {
		switch string(keyOf(nb.raw, m.key)) {
		case "cell_type":
			f.kind = m.val
		case "id":
			f.id = m.val
		case "source":
			f.source = m.val
		case "outputs":
			f.outputs = m.val
		case "execution_count":
			f.count = m.val
		case "input":
			f.fromOld(nb.major, &f.source, m.val)
		case "prompt_number":
			f.fromOld(nb.major, &f.count, m.val)
		case "language":
			f.fromOld(nb.major, &f.language, m.val)
		}
		return true
	})
	return f
}

// fromOld notes a field that only nbformat 3 has.
func (f *fields) fromOld(major int, to *span, v span) {
	if major < 4 {
		*to = v
	}
}

// integer is the number at v: 4, and 4.0 as well.
func (nb *Notebook) integer(v span) (int, bool) {
	f, err := strconv.ParseFloat(string(nb.raw[v.start:v.end]), 64)
	if err != nil || f != float64(int32(f)) {
		return 0, false
	}
	return int(f), true
}

// str is the text of a string, "" for all else.
func (nb *Notebook) str(v span) string {
	if !isString(nb.raw, v) {
		return ""
	}
	text, _ := unquote(nil, nb.raw, v)
	return string(text)
}

// attribute is the text of a string that can stand in an attribute, or other.
func (nb *Notebook) attribute(v span, other string) string {
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
func (nb *Notebook) Len() int { return len(nb.cells) }

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
	at := nb.cells[i]
	f := nb.fields(at)
	c := Cell{
		Index:  i,
		ID:     nb.str(f.id),
		Name:   nb.name(i, f),
		Type:   nb.str(f.kind),
		Span:   at.public(),
		Source: sourceSpan(at, f).public(),
		nb:     nb,
		text:   f.source,
	}
	if f.source.ok() && bytes.Contains(nb.raw[f.source.start:f.source.end], []byte(`\u`)) {
		_, c.Halves = joinText(nil, nb.raw, f.source)
	}
	return c
}

// Cells are all cells. Where one will do, Cell costs less.
func (nb *Notebook) Cells() []Cell {
	all := make([]Cell, len(nb.cells))
	for i := range all {
		all[i] = nb.Cell(i)
	}
	return all
}

// text is the decoded text of a string or list of strings, "" for all else.
func (nb *Notebook) text(v span) string {
	if !isText(nb.raw, v) {
		return ""
	}
	text, _ := joinText(nil, nb.raw, v)
	return string(text)
}

func sourceSpan(cell span, f fields) span {
	if f.source.ok() {
		return f.source
	}
	return span{cell.start, cell.start}
}

func (s span) public() Span { return Span{int64(s.start), int64(s.end)} }
