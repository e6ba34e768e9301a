package history

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/fsmcp/fsmcp/internal/span"
)

// WholeLimit is the size in bytes above which a file is not kept whole, only
// the places of it that a change touches.
const WholeLimit = 64 << 20

// around bounds the bytes on each side of a place that are stored with it. A restore
// compares them.
const around = 64

// place is one place of a change, as it is after it: at an offset, added bytes
// stand where gone ones stood. lead and tail bytes stay on its sides.
type place struct {
	at, gone, added, lead, tail int64
	// kept holds the bytes of all that one behind the other: lead, gone, added, tail. It is
	// set where a place was loaded.
	kept []byte
}

// placesOf returns the places of a change, as a record without its bytes, and those.
func placesOf(old io.ReaderAt, size int64, splices []span.Splice) (r record, kept io.Reader) {
	r = record{kind: kindPlaces, before: size, after: size + span.Growth(splices)}
	var parts []io.Reader
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
		parts = append(parts, io.NewSectionReader(old, s.Start-at.lead, at.lead+at.gone), bytes.NewReader(s.New), io.NewSectionReader(old, s.End, at.tail))
		moved += at.added - at.gone
		end = s.End
		r.places = append(r.places, at)
	}
	return r, io.MultiReader(parts...)
}

// bytesOf returns the number of bytes that are kept of places.
func bytesOf(places []place) (n int64) {
	for _, at := range places {
		n += at.lead + at.gone + at.added + at.tail
	}
	return n
}

// places reads the places recorded at an offset.
func (p *pack) places(at int64) ([]place, error) {
	r, err := p.read(at)
	if err != nil {
		return nil, err
	}
	lit, err := p.bytes(r.lit)
	if err == nil && (r.kind != kindPlaces || bytesOf(r.places) != int64(len(lit))) {
		err = damaged("the bytes of a place are missing")
	}
	if err != nil {
		return nil, err
	}
	for i := range r.places {
		n := bytesOf(r.places[i : i+1])
		r.places[i].kept, lit = lit[:n], lit[n:]
	}
	return r.places, nil
}

// changedAt says that a place was changed after the change to restore.
func changedAt(offset int64) *ConflictError {
	return &ConflictError{fmt.Sprintf("the place at byte %d was changed since", offset)}
}

// RestorePlaces returns the splices that restore a change of places in the file as it
// is now. later are the changes of the same file after it, oldest first. A place must
// be as the change made it, with the same bytes beside it.
func (a *Archive) RestorePlaces(e Entry, later []Entry, now io.ReaderAt) ([]span.Splice, error) {
	list, err := a.changedPlaces(e)
	if err != nil {
		return nil, err
	}
	for _, l := range later {
		if l.places == 0 {
			return nil, changedAt(list[0].at)
		}
		change, err := a.changedPlaces(l)
		if err != nil {
			return nil, err
		}
		if list, err = through(list, change); err != nil {
			return nil, err
		}
	}
	var out []span.Splice
	for _, at := range list {
		if at.at < at.lead { // a later change removed bytes before it
			return nil, changedAt(at.at)
		}
		_, there := at.sides()
		found := make([]byte, len(there))
		read, err := now.ReadAt(found, at.at-at.lead)
		if err != nil && err != io.EOF {
			return nil, err
		}
		if !bytes.Equal(found[:read], there) {
			return nil, changedAt(at.at)
		}
		out = append(out, span.Splice{Start: at.at, End: at.at + at.added, New: at.kept[at.lead : at.lead+at.gone]})
	}
	return out, nil
}

// sides returns the bytes of a place before and after the change, with those beside it.
func (p place) sides() (before, after []byte) {
	tail := p.kept[p.lead+p.gone+p.added:]
	return slices.Concat(p.kept[:p.lead+p.gone], tail), slices.Concat(p.kept[:p.lead], p.kept[p.lead+p.gone:])
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

func (a *Archive) changedPlaces(e Entry) ([]place, error) {
	p, done, err := a.pack(e.from)
	if err != nil {
		return nil, err
	}
	defer done()
	found, err := p.places(e.places)
	if err != nil {
		err = e.damage(err)
	}
	return found, err
}

// Parts are the places of a change of a file above WholeLimit as they were and as
// they were made, with a little of what stands beside them, for showing; nil for
// other changes.
func (a *Archive) Parts(e Entry) (parts []Part, err error) {
	if e.places == 0 {
		return nil, nil
	}
	places, err := a.changedPlaces(e)
	for _, at := range places {
		before, after := at.sides()
		parts = append(parts, Part{Offset: at.at - at.lead, Before: before, After: after})
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
