// Package state is readFileState: a record of every file that one conversation has
// been shown, and the one comparison of a record with its file.
//
// It promises that a record never claims more than what was noted, that bounds
// evict the least recently used and never refuse, and that calls on one path
// can be kept apart. It opens no file: callers hand it bytes and stamps, and the bytes
// have the last word.
package state

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/keylock"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Bounds of what a conversation remembers. They evict; they never refuse.
const (
	// KeepText is the size in bytes up to which a file's text is kept, to word a diff.
	KeepText = 256 << 10
	// keepTotal bounds all kept text together, in bytes.
	keepTotal = 64 << 20
	// keepFiles bounds the number of records.
	keepFiles = 10_000
)

// InMemory is the size in bytes above which a file is large: it is read into memory
// for a change alone, one at a time, and its new bytes are not hashed as a whole. Only tests
// change it, before they begin.
var InMemory int64 = 64 << 20

// Sum is a SHA-256.
type Sum [32]byte

// MarshalText writes a hash in hexadecimal digits.
func (s Sum) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, s[:]), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Sum) UnmarshalText(b []byte) error {
	if len(b) != hex.EncodedLen(len(s)) {
		return hex.ErrLength
	}
	_, err := hex.Decode(s[:], b)
	return err
}

// Record tells what was shown of one file. Records are values: change a copy and Put
// it.
type Record struct {
	Stamp fsys.Stamp
	// Settled says that Stamp was older than the clock's step when it was taken: only
	// then does an equal stamp later prove equal bytes.
	Settled bool
	// Parts are the shown parts, in ascending order. They may overlap, and some may be of
	// an older state of the file: each proves its own bytes alone. While Text is kept, it
	// proves them, and their hashes are zero.
	Parts []Part
	// Older says that some parts may be of an older state of the file than Stamp, in which
	// their lines may have had other numbers.
	Older bool
	// Text holds the bytes of the file, up to KeepText and as long as the bound on all of
	// it allows; nil otherwise.
	Text []byte
	// All is the hash of all bytes of a notebook: its cells are shown, but a change of them
	// replaces other bytes, too, and finds them by their number. Of another file it stands for
	// the text that an earlier process knew; else it is zero.
	All Sum
	// Reported are parts that only a reminder has shown. Another agent may have read the
	// reminder, so they only let through an Edit that repeats their text.
	Reported []Part
	// Enc is the encoding by which the bytes were read or written: a change may leave
	// too little in a legacy charset for it to be recognised again.
	Enc text.Encoding
	// Index is the sparse line index of a file that was not read into memory.
	Index *text.Scan
	views map[PageRequest]served
}

// Proves reports whether a file with this stamp now has the bytes it had when the
// record was made, as far as a stamp can tell: a program that writes through a
// memory map can change a file without a new one.
func (r Record) Proves(now fsys.Stamp) bool { return r.Settled && r.Stamp.Same(now) }

// Shown returns the bytes that were shown.
func (r Record) Shown() span.Set { return spansOf(r.Parts) }

// ReportedSpans returns the bytes that only a reminder has shown.
func (r Record) ReportedSpans() span.Set { return spansOf(r.Reported) }

// InFull reports whether nothing is left that was not shown or reported. It is never so of
// a file above InMemory: to compare all of it takes too long.
func (r Record) InFull() bool {
	return r.Stamp.Size <= InMemory && len(r.Shown().Union(r.ReportedSpans()).Missing(r.Stamp.Size)) == 0
}

// ID tells records apart: of equal bytes that were shown alike it is the same.
func (r Record) ID() Sum {
	switch {
	case r.Text != nil:
		return sha256.Sum256(r.Text)
	case r.Parts == nil:
		return Sum{}
	}
	return SumOf(r.Parts)
}

// Fits reports whether parts are of the record's bytes, as far as it knows them.
func (r Record) Fits(parts []Part) bool {
	if r.Text == nil {
		return true
	}
	_, lost, _ := verified(Memory(r.Text), parts, nil) // from memory
	return len(lost) == 0
}

// With returns the record with more parts, which were shown too. Its text is kept if
// they fit it.
func (r Record) With(parts []Part) Record {
	if r.Text != nil && r.Fits(parts) {
		r.Parts = unproven(r.Shown().Union(spansOf(parts)))
		return r
	}
	r = r.withoutText()
	r.Parts = joined(r.Parts, parts)
	return r
}

// withoutText returns the record with hashes in the place of its text.
func (r Record) withoutText() Record {
	if r.Text != nil {
		r.Parts, r.Reported = partsIn(r.Text, r.Shown()), partsIn(r.Text, r.ReportedSpans())
		r.Text = nil
	}
	return r
}

// At returns the record for a file that has this stamp now and is not in memory. The line
// index and the views that were served stay if the stamp proves that the bytes are the
// same.
func (r Record) At(now fsys.Stamp, settled bool) Record {
	if same := r.Proves(now); !same {
		r.Index, r.views = nil, nil
		r.Older = r.Older || len(r.Parts) > 0 && !r.Stamp.Same(now)
	}
	r = r.withoutText()
	r.Stamp, r.Settled = now, settled
	return r
}

// PageRequest is one way to ask for a part of a text: the same request for an unchanged
// file can be answered by a stub.
type PageRequest struct {
	Offset, Limit, Column int
	Cell                  string // of a notebook
	Large                 bool   // bounds are lifted
}

// served remembers when a view was last answered with the text, if no stub followed.
type served struct {
	sum  Sum // of the bytes that it showed; zero if the record's text proves them
	call int
	at   time.Time
}

// Bounds of a stub: beyond them the text is served again, since a server
// cannot see its client drop the earlier answer from the conversation.
const (
	stubAge   = 10 * time.Minute
	stubCalls = 50
)

// Files is the readFileState of one conversation. It is safe for concurrent use.
type Files struct {
	mu    sync.Mutex
	byKey map[string]*list.Element // of *entry
	used  *list.List               // front: most recently used
	kept  int                      // bytes of content held
	calls int
	now   func() time.Time
	locks keylock.Locks // of paths

	// For records that outlive the process, see Keep.
	load    func() map[string]Record
	changed func()
	touched map[string]struct{}
}

type entry struct {
	path string
	rec  Record
}

// New starts an empty memory. now is the clock.
func New(now func() time.Time) *Files {
	return &Files{byKey: map[string]*list.Element{}, used: list.New(), now: now}
}

// Lock waits until no other call of this conversation works on path and
// returns the function that lets the next one in. It fails only with ctx's error.
func (f *Files) Lock(ctx context.Context, path string) (unlock func(), err error) {
	return f.locks.Lock(ctx, path)
}

// LockAll is Lock for several paths, taken in one order.
func (f *Files) LockAll(ctx context.Context, paths []string) (unlock func(), err error) {
	return f.locks.LockAll(ctx, paths)
}

// TryLock is Lock without waiting: ok is false if a call
// works on path, or waits to.
func (f *Files) TryLock(path string) (unlock func(), ok bool) { return f.locks.TryLock(path) }

// CountCall counts a tool call: stubs are not given over too many of them.
func (f *Files) CountCall() {
	f.mu.Lock()
	f.calls++
	f.mu.Unlock()
}

// Get returns the record of path, if there is one.
func (f *Files) Get(path string) (Record, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loaded()
	el, ok := f.byKey[path]
	if !ok {
		return Record{}, false
	}
	f.used.MoveToFront(el)
	return el.Value.(*entry).rec, true
}

// views returns a copy of the views of path's record, which may be nil: records are values, so a
// shared map is never changed. f is locked.
func (f *Files) views(path string) (e *entry, views map[PageRequest]served) {
	el, ok := f.byKey[path]
	if !ok {
		return nil, nil
	}
	e = el.Value.(*entry)
	return e, maps.Clone(e.rec.views)
}

// Put replaces the record of path. Text above KeepText is not kept.
func (f *Files) Put(path string, rec Record) {
	if len(rec.Text) > KeepText {
		rec = rec.withoutText()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loaded()
	f.touch(path)
	el, ok := f.byKey[path]
	if !ok {
		el = f.used.PushFront(&entry{path: path})
		f.byKey[path] = el
	}
	e := el.Value.(*entry)
	f.kept += len(rec.Text) - len(e.rec.Text)
	e.rec = rec
	f.used.MoveToFront(el)
	f.evict()
}

// Below returns the paths, at or below a path, that have records.
func (f *Files) Below(path string) (paths []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loaded()
	for p := range f.byKey {
		if fsys.Within(path, p) {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths
}

// Forget drops what is known of path.
func (f *Files) Forget(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.loaded()
	if el, ok := f.byKey[path]; ok {
		f.touch(path)
		f.drop(el)
	}
}

// evict holds the bounds: first the text of the files used longest ago, then
// whole records.
func (f *Files) evict() {
	for el := f.used.Back(); el != nil && f.kept > keepTotal; el = el.Prev() {
		e := el.Value.(*entry)
		f.kept -= len(e.rec.Text)
		e.rec = e.rec.withoutText()
	}
	for f.used.Len() > keepFiles {
		f.drop(f.used.Back())
	}
}

func (f *Files) drop(el *list.Element) {
	e := f.used.Remove(el).(*entry)
	f.kept -= len(e.rec.Text)
	delete(f.byKey, e.path)
}

// Served notes that view was answered with the text of path's record. sum is of the
// bytes that the answer showed; zero if the record's text proves them.
func (f *Files) Served(path string, v PageRequest, sum Sum) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, views := f.views(path)
	if e == nil {
		return
	}
	maps.DeleteFunc(views, func(_ PageRequest, s served) bool { return f.calls-s.call > stubCalls })
	if views == nil {
		views = make(map[PageRequest]served)
	}
	views[v] = served{sum: sum, call: f.calls, at: f.now()}
	e.rec.views = views
}

// Stub reports whether a repeated view of an unchanged file, which would show bytes with
// this sum, may be answered by the stub: never two stubs in a row for one view, none over too
// long a time or too many calls.
func (f *Files) Stub(path string, v PageRequest, sum Sum) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	el, ok := f.byKey[path]
	if !ok {
		return false
	}
	s, ok := el.Value.(*entry).rec.views[v]
	return ok && s.sum == sum && f.calls-s.call <= stubCalls && f.now().Sub(s.at) <= stubAge
}

// Stubbed notes that a view was answered by the stub: the next answer is the text.
func (f *Files) Stubbed(path string, v PageRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e, views := f.views(path); e != nil {
		delete(views, v)
		e.rec.views = views
	}
}
