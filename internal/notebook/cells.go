package notebook

// fields holds the places of the values of a cell that this package knows. A value that the
// cell lacks has the zero extent.
type fields struct {
	kind, id, source, outputs, count, language extent
}

// cellList holds the places of cells and their fields, in the order of the file. Millions of
// cells can be hardly longer than their entries, so an offset takes four bytes, and the
// list grows by pieces that are not moved.
type cellList struct {
	pieces [][]entry
	n      int
}

const pieceLen = 64

type entry struct{ cell, kind, id, source, outputs, count, language shortExtent }

// shortExtent packs an extent of a file of less than 4 GiB.
type shortExtent struct{ start, end uint32 }

func (s extent) short() shortExtent { return shortExtent{uint32(s.start), uint32(s.end)} }

func (s shortExtent) long() extent { return extent{int(s.start), int(s.end)} }

func (l *cellList) add(cell extent, f fields) {
	if l.n%pieceLen == 0 {
		l.pieces = append(l.pieces, make([]entry, 0, pieceLen))
	}
	last := &l.pieces[len(l.pieces)-1]
	*last = append(*last, entry{
		cell.short(), f.kind.short(), f.id.short(), f.source.short(),
		f.outputs.short(), f.count.short(), f.language.short(),
	})
	l.n++
}

func (l *cellList) entry(i int) *entry { return &l.pieces[i/pieceLen][i%pieceLen] }

// cellAt returns the place of the cell at index i.
func (nb *Notebook) cellAt(i int) extent { return nb.cells.entry(i).cell.long() }

// fieldsOf returns the fields of the cell at index i.
func (nb *Notebook) fieldsOf(i int) fields {
	e := nb.cells.entry(i)
	return fields{e.kind.long(), e.id.long(), e.source.long(), e.outputs.long(), e.count.long(), e.language.long()}
}
