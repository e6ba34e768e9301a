package history

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/fsmcp/fsmcp/internal/span"
)

// WholeLimit is the size in bytes above which a file is not kept whole, only
// the places of it that a change touches.
const WholeLimit = 64 << 20

// around bounds the bytes beside a place that are kept with it, by which it is known
// again.
const around = 64

// place is one place of a change, as it is after it: at an offset, added bytes
// stand where gone ones stood. lead and tail bytes stay on its sides.
type place struct{ at, gone, added, lead, tail int64 }

// places is a change of a file that is too large to be kept. The literal holds,
// for each place, the bytes on its left, the gone ones, the added ones, and those
// on its right.
type places struct {
	before, after int64 // sizes of the file
	list          []place
	lit           literal
}

// placesOf finds the places of a change, and writes what is kept of them to w.
func placesOf(old io.ReaderAt, size int64, splices []span.Splice, w io.Writer) (p places, err error) {
	p.before, p.after = size, size
	moved, end := int64(0), int64(0)
	for i, s := range splices {
		next := size
		if i+1 < len(splices) {
			next = splices[i+1].Start
		}
		at := place{
			at: s.Start + moved, gone: s.End - s.Start, added: int64(len(s.New)),
			lead: min(around, s.Start-end), tail: min(around, next-s.End),
		}
		for _, part := range []io.Reader{
			io.NewSectionReader(old, s.Start-at.lead, at.lead+at.gone),
			bytes.NewReader(s.New),
			io.NewSectionReader(old, s.End, at.tail),
		} {
			if _, err := io.Copy(w, part); err != nil {
				return p, err
			}
		}
		moved += at.added - at.gone
		end = s.End
		p.list = append(p.list, at)
	}
	p.after += moved
	return p, nil
}

func appendPlaces(b []byte, p places) []byte {
	for _, n := range []int64{p.before, p.after, int64(len(p.list))} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, at := range p.list {
		for _, n := range []int64{at.at, at.gone, at.added, at.lead, at.tail} {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	return appendLiteral(b, p.lit)
}

func readPlaces(f *fields) (p places) {
	p.before, p.after = f.number(), f.number()
	p.list = make([]place, f.count())
	for i := range p.list {
		p.list[i] = place{f.number(), f.number(), f.number(), f.number(), f.number()}
	}
	p.lit = f.literal()
	return p
}

// loadPlaces reads the places recorded at an offset, and their bytes.
func (p *pack) loadPlaces(at int64) (places, []byte, error) {
	kind, payload, err := p.record(at)
	if err != nil {
		return places{}, nil, err
	}
	f := fields{b: payload}
	found := readPlaces(&f)
	if kind != kindPlaces || f.bad {
		return places{}, nil, damaged("a record is not what was expected")
	}
	lit, err := p.bytes(found.lit)
	if err != nil {
		return places{}, nil, err
	}
	size := int64(0)
	for _, at := range found.list {
		size += at.lead + at.gone + at.added + at.tail
	}
	if size != int64(len(lit)) {
		return places{}, nil, damaged("the bytes of a place are missing")
	}
	return found, lit, nil
}

// changedAt says that a place was changed after the change to restore.
func changedAt(offset int64) *ConflictError {
	return &ConflictError{fmt.Sprintf("the place at byte %d was changed since", offset)}
}

// RestorePlaces returns the splices that restore a change of places in the file as it
// is now. later are the changes of the same file after it, oldest first. A place must
// be as the change made it, with the same bytes beside it.
func (a *Archive) RestorePlaces(e Entry, later []Entry, now io.ReaderAt) ([]span.Splice, error) {
	restored, lit, err := a.changedPlaces(e)
	if err != nil {
		return nil, err
	}
	list := restored.list
	for _, l := range later {
		if l.places == 0 {
			return nil, changedAt(list[0].at)
		}
		p, _, err := a.changedPlaces(l)
		if err != nil {
			return nil, err
		}
		if list, err = through(list, p.list); err != nil {
			return nil, err
		}
	}
	var out []span.Splice
	for _, at := range list {
		n := at.lead + at.gone + at.added + at.tail
		kept := lit[:n]
		lit = lit[n:]
		gone := kept[at.lead : at.lead+at.gone]
		there := slices.Concat(kept[:at.lead], kept[at.lead+at.gone:])
		if at.at < at.lead { // a later change removed bytes before it
			return nil, changedAt(at.at)
		}
		found := make([]byte, len(there))
		read, err := now.ReadAt(found, at.at-at.lead)
		if err != nil && err != io.EOF {
			return nil, err
		}
		if !bytes.Equal(found[:read], there) {
			return nil, changedAt(at.at)
		}
		out = append(out, span.Splice{Start: at.at, End: at.at + at.added, New: gone})
	}
	return out, nil
}

// through moves places to where they are after a later change.
func through(list, change []place) ([]place, error) {
	out := make([]place, 0, len(list))
	moved := int64(0)
	for _, at := range list {
		for len(change) > 0 {
			c := change[0]
			start := c.at - moved // before that change
			if start+c.gone >= at.at {
				break
			}
			moved += c.added - c.gone
			change = change[1:]
		}
		if len(change) > 0 && change[0].at-moved <= at.at+at.added {
			return nil, changedAt(change[0].at)
		}
		at.at += moved
		out = append(out, at)
	}
	return out, nil
}

func (a *Archive) changedPlaces(e Entry) (places, []byte, error) {
	p, done, err := a.pack(e.from)
	if err != nil {
		return places{}, nil, err
	}
	defer done()
	found, lit, err := p.loadPlaces(e.places)
	if err != nil {
		err = Damage{File: e.from.stem + packExt, ID: e.ID, Err: err}
	}
	return found, lit, err
}

// Parts are the places of a change of a file above WholeLimit as they were and as
// they were made, with a little of what stands beside them, for showing; nil for
// other changes.
func (a *Archive) Parts(e Entry) (parts []Part, err error) {
	if e.places == 0 {
		return nil, nil
	}
	p, lit, err := a.changedPlaces(e)
	for _, at := range p.list {
		n := at.lead + at.gone + at.added + at.tail
		kept := lit[:n]
		lit = lit[n:]
		before, after := kept[:at.lead+at.gone], slices.Concat(kept[:at.lead], kept[at.lead+at.gone:])
		tail := kept[n-at.tail:]
		parts = append(parts, Part{Offset: at.at - at.lead, Before: slices.Concat(before, tail), After: after})
	}
	return parts, err
}

// Part is a place of a change.
type Part struct {
	Offset        int64 // in the file as it was after the change
	Before, After []byte
}

// Partial tells whether of the file only the changed places are kept.
func (e Entry) Partial() bool { return e.places != 0 }
