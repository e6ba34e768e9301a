package history

import (
	"bytes"
	"encoding/json"
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

// place is a place of a change, as it is after it: at an offset, Added bytes replaced Gone
// ones. Lead and Tail bytes beside it did not change.
type place struct {
	At    int64  `json:"at"`
	Gone  int64  `json:"gone"`
	Added int64  `json:"added"`
	Lead  int64  `json:"lead"`
	Tail  int64  `json:"tail"`
	kept  []byte // these bytes: Lead, Gone, Added, Tail
}

func (p place) size() int64 { return p.Lead + p.Gone + p.Added + p.Tail }

// sides returns the bytes of a place before and after the change, with those beside it.
func (p place) sides() (before, after []byte) {
	tail := p.kept[p.Lead+p.Gone+p.Added:]
	return slices.Concat(p.kept[:p.Lead+p.Gone], tail), slices.Concat(p.kept[:p.Lead], p.kept[p.Lead+p.Gone:])
}

// placesOf returns the places of a change, and a reader of their bytes.
func placesOf(old io.ReaderAt, size int64, splices []span.Splice) (places []place, kept io.Reader) {
	var parts []io.Reader
	moved, end := int64(0), int64(0)
	for i, s := range splices {
		next := size
		if i+1 < len(splices) {
			next = splices[i+1].Start
		}
		p := place{
			At: s.Start + moved, Gone: s.End - s.Start, Added: int64(len(s.New)),
			Lead: min(around, s.Start-end), Tail: min(around, next-s.End),
		}
		parts = append(parts, io.NewSectionReader(old, s.Start-p.Lead, p.Lead+p.Gone), bytes.NewReader(s.New), io.NewSectionReader(old, s.End, p.Tail))
		moved += p.Added - p.Gone
		end = s.End
		places = append(places, p)
	}
	return places, io.MultiReader(parts...)
}

// places stores the places of a change, as a line of JSON and their bytes behind it.
func (w *writer) places(c PendingChange, most int64) (*object, error) {
	places, kept := placesOf(c.Old, c.Size, c.Splices)
	size, gone := int64(0), int64(0)
	for _, p := range places {
		size, gone = size+p.size(), gone+p.Gone
	}
	if gone > most {
		return nil, ErrTooLarge
	}
	head, err := json.Marshal(places)
	if err != nil {
		return nil, err
	}
	head = append(head, '\n')
	chunks, err := w.put(io.MultiReader(bytes.NewReader(head), kept), int64(len(head))+size)
	return &object{Chunks: chunks}, err
}

// places reads them back.
func (a *Archive) places(e Entry) ([]place, error) {
	p, err := a.pack(e)
	if err != nil {
		return nil, err
	}
	places, err := p.places(e.line.Places)
	if err != nil {
		return nil, e.damage(err)
	}
	return places, nil
}

func (p pack) places(o *object) (places []place, err error) {
	b, err := p.content(o.Chunks)
	if err != nil {
		return nil, err
	}
	head, kept, _ := bytes.Cut(b, []byte{'\n'})
	if json.Unmarshal(head, &places) != nil {
		return nil, damaged("the places of a change cannot be read")
	}
	for i, at := range places {
		if at.size() > int64(len(kept)) {
			return nil, damaged("the bytes of a place are missing")
		}
		places[i].kept, kept = kept[:at.size()], kept[at.size():]
	}
	return places, nil
}

// changedAt says that a place was changed after the change to restore.
func changedAt(offset int64) *ConflictError {
	return &ConflictError{fmt.Sprintf("the place at byte %d was changed since", offset)}
}

// RestorePlaces returns the splices that restore a change of places in the file as it
// is now. later are the changes of the same file after it, oldest first. A place must
// be as the change made it, with the same bytes beside it.
func (a *Archive) RestorePlaces(e Entry, later []Entry, now io.ReaderAt) ([]span.Splice, error) {
	list, err := a.places(e)
	if err != nil {
		return nil, err
	}
	for _, l := range later {
		if !l.Partial() {
			return nil, changedAt(list[0].At)
		}
		change, err := a.places(l)
		if err != nil {
			return nil, err
		}
		if list, err = through(list, change); err != nil {
			return nil, err
		}
	}
	var out []span.Splice
	for _, at := range list {
		if at.At < at.Lead { // a later change removed bytes before it
			return nil, changedAt(at.At)
		}
		_, there := at.sides()
		found := make([]byte, len(there))
		read, err := now.ReadAt(found, at.At-at.Lead)
		if err != nil && err != io.EOF {
			return nil, err
		}
		if !bytes.Equal(found[:read], there) {
			return nil, changedAt(at.At)
		}
		out = append(out, span.Splice{Start: at.At, End: at.At + at.Added, New: at.kept[at.Lead : at.Lead+at.Gone]})
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
			start := c.At - moved // before that change
			if start+c.Gone >= at.At {
				break
			}
			moved += c.Added - c.Gone
			change = change[1:]
		}
		if len(change) > 0 && change[0].At-moved <= at.At+at.Added {
			return nil, changedAt(change[0].At)
		}
		at.At += moved
		out = append(out, at)
	}
	return out, nil
}

// Parts are the places of a change of a file above WholeLimit as they were and as
// they were made, with a little of what stands beside them, for showing; nil for
// other changes.
func (a *Archive) Parts(e Entry) (parts []Place, err error) {
	if !e.Partial() {
		return nil, nil
	}
	places, err := a.places(e)
	for _, at := range places {
		before, after := at.sides()
		parts = append(parts, Place{Offset: at.At - at.Lead, Before: before, After: after})
	}
	return parts, err
}

// Place is a range that a change replaced, with its bytes before and after.
type Place struct {
	Offset        int64 // in the file as it was after the change
	Before, After []byte
}
