package reminders

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/state"
)

// finding is the outcome of a look at a file.
type finding int

const (
	nothing finding = iota
	changed
	later // it could not be looked at now
)

// compare compares a file with its record and with what was reported last. full asks
// for a diff, if there can be one.
//
// While a call works on the file it returns later: that call may be about to change the
// file or its record, and its own change would look like another's.
func (c *Conversation) compare(path string, full bool) (m reminder, is finding) {
	done, free := c.records.TryLock(path)
	if !free {
		return m, later
	}
	defer done()
	f, ok := c.follower(path)
	rec, known := c.records.Get(path)
	if !ok || !known && f.picture == nil {
		return m, nothing
	}
	fresh, err := c.service.Watcher.Follow(path) // its folder may be another one by now
	if c.watched(path, false, err); fresh {
		f.proof = fsys.Stamp{}
	}
	t, err := c.service.Files.Again(path, c.grants)
	if errors.Is(err, fsys.ErrNotDir) {
		return vanished(path, f, rec)
	}
	if err != nil {
		return m, nothing
	}
	defer t.Close()
	switch {
	case t.Kind == fsys.Missing:
		return vanished(path, f, rec)
	case t.Kind != fsys.Regular || t.Path != path:
		m, is = vanished(path, f, rec)
		m.why = "is another kind of file or leads elsewhere now"
		return m, is
	case f.proof != (fsys.Stamp{}) && f.proof.Same(t.Stamp):
		return m, nothing
	case f.picture != nil:
		if m, is = comparePicture(path, f, t.Stamp); is == changed && c.ownChange(t.Stamp) {
			c.reported([]reminder{m})
			is = nothing
		}
		return m, is
	}
	return c.compareBytes(t, f, rec, full)
}

func vanished(path string, f follower, rec state.Record) (m reminder, is finding) {
	base := rec.ID()
	if f.reported != nil && f.reported.gone && (f.picture != nil || f.reported.base == base) {
		return m, nothing
	}
	return reminder{path: path, why: "was deleted or moved", now: reportedState{base: base, gone: true}}, changed
}

// comparePicture compares a picture by its stamp.
func comparePicture(path string, f follower, now fsys.Stamp) (m reminder, is finding) {
	was := *f.picture
	if now.SameFile(was) && now.Size == was.Size && now.Mtime == was.Mtime {
		return m, nothing
	}
	return reminder{path: path, why: whyChanged(now.Size), stamp: now}, changed
}

func whyChanged(size int64) string {
	return fmt.Sprintf("was changed outside of this conversation (%s now)", phrase.Bytes(size))
}

// trusted is the size from which an equal stamp is believed although it proves
// nothing: to read the file after each change of our own would cost more than a
// reminder is worth.
const trusted = 1 << 20

// compareBytes reads a file and words what is different from what is known.
func (c *Conversation) compareBytes(t *fsys.Target, f follower, rec state.Record, full bool) (m reminder, is finding) {
	same := rec.Proves(t.Stamp)
	if t.Stamp.Size > trusted {
		same = t.Stamp.Same(rec.Stamp)
	}
	if same && f.reported == nil {
		return m, nothing
	}
	was := reportedState{text: rec.Text, whole: true}
	reported := f.reported != nil && f.reported.base == rec.ID()
	if reported {
		if was = *f.reported; was.text == nil {
			was.text, was.whole = rec.Text, true
		}
	} else if same {
		return m, nothing
	}
	now, err := c.contentNow(t, f, rec)
	if errors.Is(err, fsys.ErrUnstable) {
		return m, later
	}
	if err != nil {
		return m, nothing
	}
	proof := fsys.Stamp{}
	if now.stamp.Settled(c.service.Now()) {
		proof = now.stamp
	}
	if reported && !was.gone && now.sum == was.sum || !reported && now.same {
		c.update(t.Path, func(f *follower) { f.proof = proof })
		return m, nothing
	}
	m = reminder{path: t.Path, why: whyChanged(now.stamp.Size), proof: proof, now: reportedState{base: rec.ID(), sum: now.sum}}
	if now.same {
		m.why = "is again as it was when it was read"
	}
	if c.ownChange(now.stamp) {
		c.reported([]reminder{m})
		return m, nothing
	}
	if full && now.raw != nil && was.text != nil && !isNotebook(t.Path) {
		if diff, all := changes.Since(was.text, now.raw, rec.Enc); diff != "" {
			m.diff, m.now.text, m.now.whole = diff, now.raw, all && was.whole
		}
	}
	return m, changed
}

// content is a file as it is now.
type content struct {
	stamp fsys.Stamp
	sum   state.Sum // none of a small file that is the same, if nothing was reported of it
	same  bool      // it is as its record has it
	raw   []byte    // the bytes, if a record would keep them
}

// contentNow reads a file. What it finds of a large one is noted under a settled stamp.
func (c *Conversation) contentNow(t *fsys.Target, f follower, rec state.Record) (now content, err error) {
	if f.hashed != (fsys.Stamp{}) && f.hashed.Same(t.Stamp) && f.comparedTo == rec.ID() {
		return content{stamp: t.Stamp, sum: f.sum, same: f.same}, nil
	}
	if t.NotHere() { // a reminder is not worth fetching it
		return now, fsys.ErrNotHere
	}
	file, err := t.Open()
	if err != nil {
		return now, err
	}
	defer file.Close()
	if now.stamp, err = file.Stamp(); err != nil {
		return now, err
	}
	if now.stamp.Size <= state.KeepText {
		now.raw, now.stamp, err = file.ReadAll(state.KeepText)
		if err == nil {
			now.same, err = isSame(state.Memory(now.raw), now.stamp.Size, rec)
			if !now.same || f.reported != nil {
				now.sum = sha256.Sum256(now.raw)
			}
			return now, err
		}
		if large := (*fsys.TooLargeError)(nil); !errors.As(err, &large) {
			return now, err
		}
		now.raw = nil
		if now.stamp, err = file.Stamp(); err != nil {
			return now, err
		}
	}
	if now.same, err = isSame(file, now.stamp.Size, rec); err != nil {
		return now, err
	}
	if now.sum, err = sumOfFile(file, now.stamp); err == nil && now.stamp.Settled(c.service.Now()) {
		c.update(t.Path, func(f *follower) { f.hashed, f.sum, f.same, f.comparedTo = now.stamp, now.sum, now.same, rec.ID() })
	}
	return now, err
}

// isSame reports whether a file of so many bytes is as its record, which is in full, has it.
func isSame(f io.ReaderAt, size int64, rec state.Record) (bool, error) {
	if size != rec.Stamp.Size {
		return false, nil
	}
	now, err := state.Compare(f, size, rec, nil)
	return !now.Changed, err
}

// sumOfFile hashes a file whose bytes are not kept. For one above state.InMemory, which
// cannot have been shown in full at that size, it hashes size and time instead.
func sumOfFile(f io.ReaderAt, stamp fsys.Stamp) (sum state.Sum, err error) {
	if stamp.Size > state.InMemory {
		return sha256.Sum256(fmt.Appendf(nil, "%d %d", stamp.Size, stamp.Mtime)), nil
	}
	hash := sha256.New()
	if _, err = io.Copy(hash, io.NewSectionReader(f, 0, stamp.Size)); err == nil {
		hash.Sum(sum[:0])
	}
	return sum, err
}
