package notebook

// fields are where the values of a cell stand that this package knows. Those
// that the cell lacks are the zero span.
type fields struct {
	kind, id, source, outputs, count, language extent
}

// cellList holds where cells and their fields stand, in the order of the file.
// It is meant for millions of cells that are hardly longer than their entry
// here: an entry takes four bytes per offset, and the list grows by pieces,
// which are not moved.
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

// cellAt is where the cell at index i stands.
func (nb *Notebook) cellAt(i int) extent { return nb.cells.entry(i).cell.long() }

// fieldsOf are the fields of the cell at index i.
func (nb *Notebook) fieldsOf(i int) fields {
	e := nb.cells.entry(i)
	return fields{e.kind.long(), e.id.long(), e.source.long(), e.outputs.long(), e.count.long(), e.language.long()}
}
