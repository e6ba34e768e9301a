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
// for a diff, where there can be one.
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
	base := rec.Sum()
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
	base := rec.Sum()
	was := reportedState{base: base, sum: base, text: rec.Content, whole: true}
	if f.reported != nil && f.reported.base == base {
		was, same = *f.reported, false
		if was.text == nil {
			was.text, was.whole = rec.Content, true
		}
	}
	if same {
		return m, nothing
	}
	raw, stamp, sum, err := []byte(nil), t.Stamp, f.sum, error(nil)
	if f.hashed == (fsys.Stamp{}) || !f.hashed.Same(t.Stamp) {
		raw, stamp, sum, err = contentNow(t)
	}
	if err != nil {
		if errors.Is(err, fsys.ErrUnstable) {
			return m, later
		}
		return m, nothing
	}
	proof := fsys.Stamp{}
	if stamp.Settled(c.service.Now()) {
		proof = stamp
		if raw == nil {
			c.update(t.Path, func(f *follower) { f.hashed, f.sum = stamp, sum })
		}
	}
	if !was.gone && sum == was.sum {
		c.update(t.Path, func(f *follower) { f.proof = proof })
		return m, nothing
	}
	m = reminder{path: t.Path, why: whyChanged(stamp.Size), proof: proof, now: reportedState{base: base, sum: sum}}
	if sum == base {
		m.why = "is again as it was when it was read"
	}
	if c.ownChange(stamp) {
		c.reported([]reminder{m})
		return m, nothing
	}
	if full && raw != nil && was.text != nil && !isNotebook(t.Path) {
		if diff, all := changes.Since(was.text, raw, rec.Enc); diff != "" {
			m.diff, m.now.text, m.now.whole = diff, raw, all && was.whole
		}
	}
	return m, changed
}

// contentNow returns a file's present stamp and sum, and its bytes if a record would keep
// them.
func contentNow(t *fsys.Target) (raw []byte, stamp fsys.Stamp, sum state.Sum, err error) {
	f, err := t.Open()
	if err != nil {
		return nil, stamp, sum, err
	}
	defer f.Close()
	if stamp, err = f.Stamp(); err != nil {
		return nil, stamp, sum, err
	}
	if stamp.Size <= state.KeepContent {
		raw, stamp, err = f.ReadAll(state.KeepContent)
		if err == nil {
			return raw, stamp, sha256.Sum256(raw), nil
		}
		if large := (*fsys.TooLargeError)(nil); !errors.As(err, &large) {
			return nil, stamp, sum, err
		}
		if stamp, err = f.Stamp(); err != nil {
			return nil, stamp, sum, err
		}
	}
	sum, err = sumOfFile(f, stamp)
	return nil, stamp, sum, err
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
