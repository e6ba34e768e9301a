// Package state is readFileState: a record of every file that one conversation has
// been shown, and whether the file still has the shown bytes.
//
// It promises that a record never claims more than what was noted, that bounds
// evict the least recently used and never refuse, and that calls on one path
// can be kept apart. It does not touch the disk: callers hand it stamps and
// hashes, and the file itself has the last word.
package state

import (
	"container/list"
	"context"
	"crypto/sha256"
	"maps"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/keylock"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Bounds of what a conversation remembers. They evict; they never refuse.
const (
	// KeepContent is the size in bytes up to which a file's text is kept for diffs.
	KeepContent = 256 << 10
	// keepTotal bounds all kept text together, in bytes.
	keepTotal = 64 << 20
	// keepFiles bounds the number of records.
	keepFiles = 10_000
	// WholeHash is the size in bytes above which a record holds a hash of each
	// shown part instead of one of the whole file.
	WholeHash = 1 << 20
	// InMemory is the size in bytes up to which a file is held in memory; a larger one
	// is compared by its parts alone.
	InMemory = 64 << 20
)

// Origin says how a record came to be.
type Origin uint8

// The origins of a record.
const (
	ByRead Origin = iota
	ByWrite
	ByEdit
	ByReport // a refusal told the outside change
)

// Sum is a SHA-256.
type Sum [32]byte

// Part is a shown range of a large file with the hash of its bytes.
type Part struct {
	span.Span
	Sum Sum
}

// Record tells what was shown of one file. Records are values: change a copy and Put
// it.
type Record struct {
	Stamp fsys.Stamp
	// Settled says that Stamp was older than the clock's grain when it was
	// taken: only then does an equal stamp later prove equal bytes.
	Settled bool
	// Hash is of the whole file. It is zero where nothing needed it yet: beside
	// Content, and of a file above WholeHash that was not shown in full.
	Hash Sum
	// Parts are the shown parts of a file above WholeHash; nil otherwise. They may
	// overlap, and some may be of an older state of the file: each proves its own bytes
	// alone.
	Parts []Part
	Shown span.Set // raw bytes shown
	// Reported are raw bytes that only a reminder has shown. Another agent may have been
	// the one that saw it: they let an edit through that knows them by heart, and
	// nothing else.
	Reported span.Set
	Origin   Origin
	// Enc is the encoding by which the bytes were read or written: a change may leave
	// too little in a legacy charset for it to be recognised again.
	Enc text.Encoding
	// Content is the file as it was, up to KeepContent and as long as the
	// bound on all of it allows; nil otherwise.
	Content []byte
	// Index is the sparse line index of a file that is not held in memory.
	Index *text.Scan
	views map[View]served
}

// Proves tells whether a file with this stamp now has the bytes it had when the
// record was made, as far as a stamp can tell: a program that writes through a
// memory map can change a file without a new one.
func (r Record) Proves(now fsys.Stamp) bool { return r.Settled && r.Stamp.Same(now) }

// InFull reports whether nothing is left that was not shown or reported. A record of
// parts that have no hash together is never in full: it cannot be compared as a whole.
func (r Record) InFull() bool {
	whole := r.Parts == nil || r.Hash != (Sum{}) && r.Stamp.Size <= InMemory
	return whole && len(r.Shown.Union(r.Reported).Missing(r.Stamp.Size)) == 0
}

// Sum is the hash of the whole file; zero where neither it nor the text is kept.
func (r Record) Sum() Sum {
	if r.Hash == (Sum{}) && r.Content != nil {
		return sha256.Sum256(r.Content)
	}
	return r.Hash
}

// View is one way to ask for a part of a text: the same view of an unchanged
// file can be answered by a stub.
type View struct {
	Offset, Limit, Column int
	Cell                  string // of a notebook
}

// served remembers when a view was last answered with the text itself.
type served struct {
	sum     Sum // of the bytes that it showed
	call    int
	at      time.Time
	stubbed bool // the last answer was a stub: the next is the text
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
}

type entry struct {
	path string
	rec  Record
}

// New starts an empty memory. now is the clock.
func New(now func() time.Time) *Files {
	return &Files{
		byKey: map[string]*list.Element{},
		used:  list.New(),
		now:   now,
	}
}

// Lock waits until no other call of this conversation works on path and
// returns the function that lets the next one in. It fails only with ctx's error.
func (f *Files) Lock(ctx context.Context, path string) (unlock func(), err error) {
	return f.locks.Lock(ctx, path)
}

// TryLock is Lock without waiting: ok is false where a call
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
	el, ok := f.byKey[path]
	if !ok {
		return Record{}, false
	}
	f.used.MoveToFront(el)
	return el.Value.(*entry).rec, true
}

// Put replaces the record of path. Content above KeepContent is not kept.
func (f *Files) Put(path string, rec Record) {
	if len(rec.Content) > KeepContent {
		rec.Content = nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	el, ok := f.byKey[path]
	if !ok {
		el = f.used.PushFront(&entry{path: path})
		f.byKey[path] = el
	}
	e := el.Value.(*entry)
	f.kept += len(rec.Content) - len(e.rec.Content)
	e.rec = rec
	f.used.MoveToFront(el)
	f.evict()
}

// Forget drops what is known of path.
func (f *Files) Forget(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if el, ok := f.byKey[path]; ok {
		f.drop(el)
	}
}

// evict holds the bounds: first the text of the files used longest ago, then
// whole records.
func (f *Files) evict() {
	for el := f.used.Back(); el != nil && f.kept > keepTotal; el = el.Prev() {
		e := el.Value.(*entry)
		f.kept -= len(e.rec.Content)
		e.rec.Hash, e.rec.Content = e.rec.Sum(), nil
	}
	for f.used.Len() > keepFiles {
		f.drop(f.used.Back())
	}
}

func (f *Files) drop(el *list.Element) {
	e := f.used.Remove(el).(*entry)
	f.kept -= len(e.rec.Content)
	delete(f.byKey, e.path)
}

// Served notes that view was answered with the text of path's record. sum is of the
// bytes that the answer showed, of a file that is not compared as a whole.
func (f *Files) Served(path string, v View, sum Sum) {
	f.mu.Lock()
	defer f.mu.Unlock()
	el, ok := f.byKey[path]
	if !ok {
		return
	}
	views := maps.Clone(el.Value.(*entry).rec.views) // records are values: never change a shared map
	maps.DeleteFunc(views, func(_ View, s served) bool { return f.calls-s.call > stubCalls })
	if views == nil {
		views = make(map[View]served)
	}
	views[v] = served{sum: sum, call: f.calls, at: f.now()}
	el.Value.(*entry).rec.views = views
}

// Stub tells whether a repeated view of an unchanged file, which would show bytes
// with this sum, may be answered by the stub, and remembers that it was: never two
// stubs in a row for one view, none over too long a time or too many calls.
func (f *Files) Stub(path string, v View, sum Sum) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	el, ok := f.byKey[path]
	if !ok {
		return false
	}
	rec := &el.Value.(*entry).rec
	s, ok := rec.views[v]
	if !ok || s.stubbed || s.sum != sum || f.calls-s.call > stubCalls || f.now().Sub(s.at) > stubAge {
		return false
	}
	s.stubbed = true
	rec.views = maps.Clone(rec.views) // records are values: never change a shared map
	rec.views[v] = s
	return true
}
