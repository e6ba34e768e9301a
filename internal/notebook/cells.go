package notebook

import "github.com/fsmcp/fsmcp/internal/notebook/scan"

// fields holds the places of the values of a cell that this package knows. A value that the
// cell lacks has the zero extent.
type fields struct {
	kind, id, source, outputs, count, language scan.Extent
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

func shorten(s scan.Extent) shortExtent { return shortExtent{uint32(s.Start), uint32(s.End)} }

func (s shortExtent) long() scan.Extent { return scan.Between(int(s.start), int(s.end)) }

func (l *cellList) add(cell scan.Extent, f fields) {
	if l.n%pieceLen == 0 {
		l.pieces = append(l.pieces, make([]entry, 0, pieceLen))
	}
	last := &l.pieces[len(l.pieces)-1]
	*last = append(*last, entry{
		shorten(cell), shorten(f.kind), shorten(f.id), shorten(f.source),
		shorten(f.outputs), shorten(f.count), shorten(f.language),
	})
	l.n++
}

func (l *cellList) entry(i int) *entry { return &l.pieces[i/pieceLen][i%pieceLen] }

// cellAt returns the place of the cell at index i.
func (nb *Notebook) cellAt(i int) scan.Extent { return nb.cells.entry(i).cell.long() }

// fieldsOf returns the fields of the cell at index i.
func (nb *Notebook) fieldsOf(i int) fields {
	e := nb.cells.entry(i)
	return fields{e.kind.long(), e.id.long(), e.source.long(), e.outputs.long(), e.count.long(), e.language.long()}
}
