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
	return span{skipSpace(raw, at), len(bytes.TrimRight(raw, " \t\r\n"))}
}

func notNotebook(at int, what string) error {
	return &ParseError{NotNotebook, int64(at), what}
}

// top are the values of the outermost object that this package knows.
type top struct {
	format, minor, cells, sheets, metadata span

	fault error // what is wrong with the cells, should the format be 4
}

// readTop finds the version and the cells.
func (nb *Notebook) readTop() error {
	if nb.raw[nb.top.start] != '{' {
		return notNotebook(nb.top.start, "not an object")
	}
	// The version may well stand behind the cells, which are read as they come:
	// for nbformat 4 until it turns out otherwise.
	nb.major = 4
	var t top
	walkObject(nb.raw, nb.top.start, func(key span, at int) int { return nb.addTop(&t, key, at) })
	var ok bool
	if nb.major, ok = nb.integer(t.format); !ok {
		return notNotebook(max(t.format.start, nb.top.start), "no nbformat number")
	}
	if nb.minor, ok = nb.integer(t.minor); !ok && t.minor.ok() {
		return notNotebook(t.minor.start, "nbformat_minor is no number")
	}
	nb.language = nb.attribute(lookup(nb.raw, t.metadata, "language_info", "name"), "python")
	switch nb.major {
	case 4:
		return nb.readCells(t)
	case 3:
		return nb.readSheets(t.sheets)
	}
	return &ParseError{BadVersion, int64(t.format.start), "nbformat " + strconv.Itoa(nb.major)}
}

// addTop notes the value at at, if it is one of those known, and returns where
// it ends. Of equal keys the last counts.
func (nb *Notebook) addTop(t *top, key span, at int) int {
	v := span{start: at}
	name := string(keyOf(nb.raw, key))
	if name == "cells" && nb.raw[at] == '[' {
		nb.cells = nb.cells[:0]
		v.end, t.fault = nb.addCells(at)
	} else {
		v.end = skipValue(nb.raw, at)
	}
	switch name {
	case "nbformat":
		t.format = v
	case "nbformat_minor":
		t.minor = v
	case "cells":
		t.cells = v
	case "worksheets":
		t.sheets = v
	case "metadata":
		t.metadata = v
	}
	return v.end
}

func (nb *Notebook) readCells(t top) error {
	if !isArray(nb.raw, t.cells) {
		return notNotebook(max(t.cells.start, nb.top.start), "no list of cells")
	}
	nb.list = t.cells
	return t.fault
}

// readSheets gathers the cells of nbformat 3, which has several lists of them.
func (nb *Notebook) readSheets(sheets span) error {
	nb.cells = nil
	if !isArray(nb.raw, sheets) {
		return notNotebook(max(sheets.start, nb.top.start), "no list of worksheets")
	}
	var fault error
	elements(nb.raw, sheets, func(sheet span) bool {
		if cells := lookup(nb.raw, sheet, "cells"); isArray(nb.raw, cells) {
			_, fault = nb.addCells(cells.start)
		}
		return fault == nil
	})
	return fault
}

// addCells notes the cells of the list at at and tells where it ends. It checks
// each before it notes it, so that a list of millions of something else costs
// no memory.
func (nb *Notebook) addCells(at int) (end int, fault error) {
	end = walkArray(nb.raw, at, func(at int) int {
		cell := span{start: at}
		if fault != nil {
			return skipValue(nb.raw, at)
		}
		if nb.raw[at] != '{' {
			fault = notNotebook(at, "a cell that is not an object")
			return skipValue(nb.raw, at)
		}
		var f fields
		f, cell.end = nb.fieldsAt(at)
		if fault = nb.checkCell(cell, f); fault == nil {
			nb.cells = append(nb.cells, cell)
		}
		return cell.end
	})
	return end, fault
}

// checkCell tells whether a cell can be shown and edited at all.
func (nb *Notebook) checkCell(cell span, f fields) error {
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
	f, _ := nb.fieldsAt(cell.start)
	return f
}

// fieldsAt does so for the cell that starts at at, and tells where it ends.
func (nb *Notebook) fieldsAt(at int) (f fields, end int) {
	end = walkObject(nb.raw, at, func(key span, at int) int {
		v := span{at, skipValue(nb.raw, at)}
		switch string(keyOf(nb.raw, key)) {
		case "cell_type":
			f.kind = v
		case "id":
			f.id = v
		case "source":
			f.source = v
		case "outputs":
			f.outputs = v
		case "execution_count":
			f.count = v
		case "input":
			f.fromOld(nb.major, &f.source, v)
		case "prompt_number":
			f.fromOld(nb.major, &f.count, v)
		case "language":
			f.fromOld(nb.major, &f.language, v)
		}
		return v.end
	})
	return f, end
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
		c.Halves = countHalves(nb.raw, f.source)
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
