package notebook

import (
	"math"
	"strconv"

	"github.com/fsmcp/fsmcp/internal/notebook/scan"
)

// Parse reads a notebook of less than 4 GiB. Its error is a *ParseError.
func Parse(raw []byte) (*Notebook, error) {
	if uint64(len(raw)) > math.MaxUint32 {
		return nil, notNotebook(0, "a file of 4 GiB or more")
	}
	p := parser{checker: checker{raw: raw}, nb: &Notebook{raw: raw}}
	p.file(p.outermost)
	if p.err != nil {
		return nil, p.err
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	return p.nb, nil
}

func notNotebook(at int, what string) *ParseError {
	return &ParseError{NotNotebook, int64(at), what}
}

// parser stores the places of cells and their fields while the checker reads the file. A
// fault of the notebook is reported only if the whole file is JSON.
type parser struct {
	checker
	nb  *Notebook
	top top
	// old says that cells have the fields of nbformat 3. The version may follow the
	// cells, so the cells of the outermost object are read as nbformat 4.
	old   bool
	fault *ParseError // of the list of cells read last
}

// top holds the places of the values of the outermost object that this package knows.
type top struct{ format, minor, cells, sheets, metadata scan.Extent }

// outermost reads the file's one value.
func (p *parser) outermost() {
	if p.peek() == '{' {
		p.nb.top = p.object(p.topMember)
	} else {
		p.nb.top = p.value()
	}
}

// topMember reads a value of the outermost object. Of equal keys the last one counts.
func (p *parser) topMember(key scan.Extent) {
	var v scan.Extent
	name := scan.KeyOf(p.raw, key)
	if string(name) == "cells" && p.peek() == '[' {
		v = p.cells()
	} else {
		v = p.value()
	}
	switch string(name) {
	case "nbformat":
		p.top.format = v
	case "nbformat_minor":
		p.top.minor = v
	case "cells":
		p.top.cells = v
	case "worksheets":
		p.top.sheets = v
	case "metadata":
		p.top.metadata = v
	}
}

// cells reads a list of cells. Each is checked before it is stored, so that a list of
// millions of other values costs no memory.
func (p *parser) cells() scan.Extent {
	if !p.old {
		p.nb.cells, p.fault = cellList{}, nil
	}
	return p.array(func() {
		switch {
		case p.fault != nil:
			p.value()
		case p.peek() != '{':
			p.fault = notNotebook(p.value().Start, "a cell that is not an object")
		default:
			p.cell()
		}
	})
}

// cell reads and stores a cell, or sets the fault if it has no type or a source that is not
// text.
func (p *parser) cell() {
	var f fields
	text := true
	v := p.object(func(key scan.Extent) {
		to := f.named(scan.KeyOf(p.raw, key), p.old)
		switch to {
		case nil:
			p.value()
		case &f.source:
			*to, text = p.text()
		default:
			*to = p.value()
		}
	})
	switch {
	case p.err != nil:
	case !scan.IsString(p.raw, f.kind):
		p.fault = notNotebook(max(f.kind.Start, v.Start), "a cell without cell_type")
	case !text:
		p.fault = notNotebook(f.source.Start, "a source that is not text")
	default:
		p.nb.cells.add(v, f)
	}
}

// text reads a value and reports whether it is text: a string, or a list of strings.
func (p *parser) text() (v scan.Extent, ok bool) {
	if p.peek() != '[' {
		ok = p.peek() == '"'
		return p.value(), ok
	}
	ok = true
	v = p.array(func() {
		ok = ok && p.peek() == '"'
		p.value()
	})
	return v, ok
}

// named returns the field of that name, or nil. old includes the names of nbformat 3.
func (f *fields) named(name []byte, old bool) *scan.Extent {
	switch string(name) {
	case "cell_type":
		return &f.kind
	case "id":
		return &f.id
	case "source":
		return &f.source
	case "outputs":
		return &f.outputs
	case "execution_count":
		return &f.count
	}
	if !old {
		return nil
	}
	switch string(name) {
	case "input":
		return &f.source
	case "prompt_number":
		return &f.count
	case "language":
		return &f.language
	}
	return nil
}

// finish checks the shape of a notebook and fills in its fields.
func (p *parser) finish() error {
	nb, t := p.nb, p.top
	if nb.raw[nb.top.Start] != '{' {
		return notNotebook(nb.top.Start, "not an object")
	}
	var ok bool
	if nb.major, ok = nb.integer(t.format); !ok {
		return notNotebook(max(t.format.Start, nb.top.Start), "no nbformat number")
	}
	if nb.minor, ok = nb.integer(t.minor); !ok && t.minor.OK() {
		return notNotebook(t.minor.Start, "nbformat_minor is no number")
	}
	nb.language = nb.attribute(scan.Lookup(nb.raw, t.metadata, "language_info", "name"), "python")
	switch {
	case nb.major == 4 && !scan.IsArray(nb.raw, t.cells):
		return notNotebook(max(t.cells.Start, nb.top.Start), "no list of cells")
	case nb.major == 4:
		nb.list = t.cells
	case nb.major != 3:
		return &ParseError{BadVersion, int64(t.format.Start), "nbformat " + strconv.Itoa(nb.major)}
	case !scan.IsArray(nb.raw, t.sheets):
		return notNotebook(max(t.sheets.Start, nb.top.Start), "no list of worksheets")
	default:
		p.worksheets(t.sheets)
	}
	if p.fault != nil {
		return p.fault
	}
	return nil
}

// worksheets reads the cells of nbformat 3, which has several lists of them. It is the
// second time: the version was unknown before.
func (p *parser) worksheets(sheets scan.Extent) {
	p.nb.cells, p.fault, p.old = cellList{}, nil, true
	scan.Elements(p.raw, sheets, func(sheet scan.Extent) bool {
		if cells := scan.Lookup(p.raw, sheet, "cells"); scan.IsArray(p.raw, cells) {
			p.startAt(cells.Start)
			p.cells()
		}
		return p.fault == nil
	})
}
