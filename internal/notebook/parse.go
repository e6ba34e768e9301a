package notebook

import (
	"math"
	"strconv"

	"github.com/fsmcp/fsmcp/internal/notebook/scan"
)

// Parse reads a notebook of less than 4 GiB. Its error is a *ParseError. A fault of the
// notebook is reported only if the whole file is JSON.
func Parse(raw []byte) (*Notebook, error) {
	if uint64(len(raw)) > math.MaxUint32 {
		return nil, notNotebook(0, "a file of 4 GiB or more")
	}
	start, bad := check(raw)
	if bad != nil {
		return nil, bad
	}
	nb := &Notebook{Raw: raw, Top: scan.At(raw, start)}
	if bad = nb.read(); bad != nil {
		return nil, bad
	}
	return nb, nil
}

func notNotebook(at int, what string) *ParseError {
	return &ParseError{NotNotebook, int64(at), what}
}

// top holds the values of the outermost object that this package knows.
type top struct{ format, minor, cells, sheets, metadata scan.Value }

// read finds the cells and the values of the outermost object, and checks the shape of a
// notebook. Of equal keys the last one counts.
func (nb *Notebook) read() *ParseError {
	var t top
	var other scan.Value
	var fault *ParseError // of the list of cells read last
	for key, v := range nb.Top.Members() {
		to := &other
		switch string(key.Bytes()) {
		case "nbformat":
			to = &t.format
		case "nbformat_minor":
			to = &t.minor
		case "cells":
			to = &t.cells
			nb.cells = cellList{}
			fault = nb.cells.read(v, false)
		case "worksheets":
			to = &t.sheets
		case "metadata":
			to = &t.metadata
		}
		v.End()
		*to = *v
	}
	if err := nb.checkShape(t); err != nil {
		return err
	}
	nb.Language = Attribute(t.metadata.Lookup("language_info", "name"), "python")
	if nb.Major == 4 {
		nb.List = t.cells
		return fault
	}
	nb.cells = cellList{}
	for sheet := range t.sheets.Elements() {
		list := sheet.Lookup("cells")
		if err := nb.cells.read(&list, true); err != nil {
			return err
		}
	}
	return nil
}

// checkShape reads the version of the format, and checks that there is a list of cells or of
// worksheets.
func (nb *Notebook) checkShape(t top) *ParseError {
	start := nb.Top.Start()
	if nb.Top.Kind() != '{' {
		return notNotebook(start, "not an object")
	}
	var ok bool
	if nb.Major, ok = integer(t.format); !ok {
		return notNotebook(max(t.format.Start(), start), "no nbformat number")
	}
	if nb.Minor, ok = integer(t.minor); !ok && t.minor.OK() {
		return notNotebook(t.minor.Start(), "nbformat_minor is no number")
	}
	switch {
	case nb.Major == 4 && t.cells.Kind() != '[':
		return notNotebook(max(t.cells.Start(), start), "no list of cells")
	case nb.Major == 3 && t.sheets.Kind() != '[':
		return notNotebook(max(t.sheets.Start(), start), "no list of worksheets")
	case nb.Major != 3 && nb.Major != 4:
		return &ParseError{BadVersion, int64(t.format.Start()), "nbformat " + strconv.Itoa(nb.Major)}
	}
	return nil
}

// integer returns the number at v, which may be written 4 or 4.0.
func integer(v scan.Value) (int, bool) {
	f, err := strconv.ParseFloat(string(v.Raw()), 64)
	if err != nil || f != float64(int32(f)) {
		return 0, false
	}
	return int(f), true
}

// cellList holds the places of cells and their fields, in the order of the file. Millions of
// cells can be hardly longer than their entries, so an offset takes four bytes, and the
// list grows by pieces that are not moved.
type cellList struct {
	pieces [][]entry
	n      int
}

const pieceLen = 64

// entry holds the places of a cell and of its fields; the zero place means that there is none.
type entry struct{ whole, kind, id, source, outputs, count, language place }

type place struct{ start, end uint32 }

func placeOf(v *scan.Value) place { return place{uint32(v.Start()), uint32(v.End())} }

func (l *cellList) at(i int) *entry { return &l.pieces[i/pieceLen][i%pieceLen] }

func (l *cellList) add(e entry) {
	if l.n%pieceLen == 0 {
		l.pieces = append(l.pieces, make([]entry, 0, pieceLen))
	}
	last := &l.pieces[len(l.pieces)-1]
	*last = append(*last, e)
	l.n++
}

// read adds the cells of a list. old says that they have the fields of nbformat 3. Each is
// checked before it is stored, so that a list of millions of other values costs no memory.
func (l *cellList) read(list *scan.Value, old bool) *ParseError {
	for cell := range list.Elements() {
		if cell.Kind() != '{' {
			return notNotebook(cell.Start(), "a cell that is not an object")
		}
		var e entry
		typed, text := false, true
		for key, v := range cell.Members() {
			to := e.named(key.Bytes(), old)
			switch to {
			case nil:
				continue
			case &e.kind:
				typed = v.Kind() == '"'
			case &e.source:
				text = isText(v)
			}
			*to = placeOf(v)
		}
		switch {
		case !typed:
			return notNotebook(max(int(e.kind.start), cell.Start()), "a cell without cell_type")
		case !text:
			return notNotebook(int(e.source.start), "a source that is not text")
		}
		e.whole = placeOf(cell)
		l.add(e)
	}
	return nil
}

// named returns the field of that name, or nil. old includes the names of nbformat 3.
func (e *entry) named(name []byte, old bool) *place {
	switch string(name) {
	case "cell_type":
		return &e.kind
	case "id":
		return &e.id
	case "source":
		return &e.source
	case "outputs":
		return &e.outputs
	case "execution_count":
		return &e.count
	}
	if !old {
		return nil
	}
	switch string(name) {
	case "input":
		return &e.source
	case "prompt_number":
		return &e.count
	case "language":
		return &e.language
	}
	return nil
}

// isText reports whether v is a string or a list of strings.
func isText(v *scan.Value) bool {
	ok := v.Kind() == '"' || v.Kind() == '['
	for e := range v.Elements() {
		ok = ok && e.Kind() == '"'
	}
	return ok
}
