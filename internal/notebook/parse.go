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

// read finds the cells and the values of the outermost object that this package knows, and
// checks the shape of a notebook. Of equal keys the last one counts.
func (nb *Notebook) read() *ParseError {
	var format, minor, cells, sheets, metadata, other scan.Value
	var fault *ParseError // of the list of cells read last
	for key, v := range nb.Top.Members() {
		to := &other
		switch string(key.Bytes()) {
		case "nbformat":
			to = &format
		case "nbformat_minor":
			to = &minor
		case "cells":
			to = &cells
			nb.cells = cellList{}
			fault = nb.cells.read(v, false)
		case "worksheets":
			to = &sheets
		case "metadata":
			to = &metadata
		}
		v.End()
		*to = *v
	}
	start := nb.Top.Start()
	if nb.Top.Kind() != '{' {
		return notNotebook(start, "not an object")
	}
	var ok bool
	if nb.Major, ok = integer(format); !ok {
		return notNotebook(max(format.Start(), start), "no nbformat number")
	}
	if nb.Minor, ok = integer(minor); !ok && minor.OK() {
		return notNotebook(minor.Start(), "nbformat_minor is no number")
	}
	nb.Language = Attribute(metadata.Lookup("language_info", "name"), "python")
	switch {
	case nb.Major == 4 && cells.Kind() != '[':
		return notNotebook(max(cells.Start(), start), "no list of cells")
	case nb.Major == 4:
		nb.List = cells
		return fault
	case nb.Major != 3:
		return &ParseError{BadVersion, int64(format.Start()), "nbformat " + strconv.Itoa(nb.Major)}
	case sheets.Kind() != '[':
		return notNotebook(max(sheets.Start(), start), "no list of worksheets")
	}
	nb.cells = cellList{}
	for sheet := range sheets.Elements() {
		list := sheet.Lookup("cells")
		if fault = nb.cells.read(&list, true); fault != nil {
			return fault
		}
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

// entry holds the places of the values of Fields.
type entry [fieldCount]place

type place struct{ start, end uint32 }

func (l *cellList) at(i int) *entry { return &l.pieces[i/pieceLen][i%pieceLen] }

// read adds the cells of a list. old says that they have the fields of nbformat 3. Each is
// checked before it is stored, so that a list of millions of other values costs no memory.
func (l *cellList) read(list *scan.Value, old bool) *ParseError {
	for cell := range list.Elements() {
		if cell.Kind() != '{' {
			return notNotebook(cell.Start(), "a cell that is not an object")
		}
		var e entry
		text := true
		var kind byte
		for key, v := range cell.Members() {
			i := fieldNamed(key.Bytes(), old)
			switch i {
			case fieldCount:
				continue
			case fieldSource:
				text = isText(v)
			case fieldType:
				kind = v.Kind()
			}
			e[i] = place{uint32(v.Start()), uint32(v.End())}
		}
		switch {
		case kind != '"':
			return notNotebook(max(int(e[fieldType].start), cell.Start()), "a cell without cell_type")
		case !text:
			return notNotebook(int(e[fieldSource].start), "a source that is not text")
		}
		e[fieldWhole] = place{uint32(cell.Start()), uint32(cell.End())}
		if l.n%pieceLen == 0 {
			l.pieces = append(l.pieces, make([]entry, 0, pieceLen))
		}
		last := &l.pieces[len(l.pieces)-1]
		*last = append(*last, e)
		l.n++
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

// The indexes of an entry.
const (
	fieldWhole = iota
	fieldType
	fieldID
	fieldSource
	fieldOutputs
	fieldExecution
	fieldLanguage
	fieldCount
)

// fieldNamed returns the index of the field of that name, and fieldCount for any other. old
// includes the names of nbformat 3.
func fieldNamed(name []byte, old bool) int {
	switch string(name) {
	case "cell_type":
		return fieldType
	case "id":
		return fieldID
	case "source":
		return fieldSource
	case "outputs":
		return fieldOutputs
	case "execution_count":
		return fieldExecution
	}
	if old {
		switch string(name) {
		case "input":
			return fieldSource
		case "prompt_number":
			return fieldExecution
		case "language":
			return fieldLanguage
		}
	}
	return fieldCount
}
