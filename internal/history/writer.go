package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/span"
)

// The names of a segment's files. Earlier builds stored another form under other names, and
// would take entries of this one for files that were created.
const (
	packExt           = ".pack2"
	journalExt        = ".journal2"
	earlierPackExt    = ".pack"
	earlierJournalExt = ".journal"
	stemTime          = "20060102T150405.000"
)

// Bounds of one pack. They are small against the bounds of all packs, so that little is
// removed with the oldest one.
const (
	minPack = 1 << 20
	maxPack = 32 << 20
	packs   = 32 // a full history has at least so many
	maxSpan = 24 * time.Hour
	minSpan = time.Minute
)

// maxStored bounds the states and paths that a writer remembers, so that equal bytes are
// stored once. After that it begins anew, and stores some a second time.
const maxStored = 1024

// maxLoaded bounds the bytes that are decompressed while a change waits.
const maxLoaded = 1 << 20

// A state above wholeState bytes is stored as the changes of an earlier one, its base, at
// most maxChanges. A base is whole: no state needs more than one other.
const (
	wholeState = 8 << 10
	maxChanges = 64
)

// writer is a journal and a pack that this process adds to. It holds a lock on the journal,
// so that no process removes them.
type writer struct {
	id   string
	stem string // of the names of its files
	root *os.Root
	now  func() time.Time
	born time.Time

	mu      sync.Mutex
	users   int  // the Store, while this is its writer, and changes under way
	broken  bool // a part of a write could not be removed
	named   bool // the names of both files are synced
	pack    *os.File
	journal *os.File
	packEnd int64
	lineEnd int64
	number  int
	latest  int64 // time of the last entry
	stored  map[Sum]*object
	last    map[string]*object // by path
}

// newWriter starts a segment. The caller is its first user.
func newWriter(root *os.Root, id string, now func() time.Time) (*writer, error) {
	w := &writer{id: id, root: root, now: now, born: now(), users: 1, stored: make(map[Sum]*object), last: make(map[string]*object)}
	w.stem = w.born.UTC().Format(stemTime) + "-" + id
	const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL
	var err error
	if w.journal, err = root.OpenFile(w.stem+journalExt, flags, 0o600); err != nil {
		return nil, err
	}
	locked, err := tryLock(w.journal)
	if err == nil && !locked {
		err = errors.New("a new journal is locked by another process")
	}
	if err == nil {
		w.pack, err = root.OpenFile(w.stem+packExt, flags, 0o600)
	}
	if err != nil {
		w.closeFiles()
		root.Remove(w.stem + packExt)
		root.Remove(w.stem + journalExt)
		return nil, err
	}
	return w, nil
}

// acquire adds a user. It returns false if a new pack is due.
func (w *writer) acquire(now time.Time, settings Settings) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	span := min(maxSpan, max(minSpan, settings.MaxAge/packs))
	size := min(maxPack, max(minPack, settings.MaxSize/packs))
	if w.broken || w.packEnd+w.lineEnd > size || now.Sub(w.born) > span || !w.exists() {
		return false
	}
	w.users++
	return true
}

// exists reports whether the journal still exists, under its name.
func (w *writer) exists() bool {
	mine, err := w.journal.Stat()
	now, other := w.root.Lstat(w.stem + journalExt)
	return err == nil && other == nil && os.SameFile(mine, now)
}

// release removes a user. The last one closes the files.
func (w *writer) release() {
	w.mu.Lock()
	w.users--
	last := w.users == 0
	w.mu.Unlock()
	if last {
		w.closeFiles()
		w.root.Close()
	}
}

func (w *writer) closeFiles() {
	for _, f := range []*os.File{w.pack, w.journal} {
		if f != nil {
			f.Close()
		}
	}
}

// put stores bytes as chunks.
func (w *writer) put(content io.Reader, size int64) (chunks []chunk, err error) {
	buf := make([]byte, min(size, chunkLen))
	for left := size; left > 0; left -= int64(len(buf)) {
		buf = buf[:min(left, chunkLen)]
		if _, err := io.ReadFull(content, buf); err != nil {
			return nil, err
		}
		c, err := w.add(encoder().EncodeAll(buf, nil))
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// add appends a frame to the pack.
func (w *writer) add(frame []byte) (chunk, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := chunk{At: w.packEnd, Len: int64(len(frame)), Check: checkOf(frame)}
	if err := w.write(w.pack, frame, c.At); err != nil {
		return c, err
	}
	w.packEnd += c.Len
	return c, nil
}

// append appends a line to the journal and returns the entry's number.
func (w *writer) append(l line) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.Void == 0 && l.Made == nil {
		w.stamp(&l)
	}
	return l.Number, w.writeLine(l)
}

// stamp gives an entry its number and time. The caller holds mu.
func (w *writer) stamp(l *line) {
	w.number++
	w.latest = max(w.latest+1, w.now().UnixNano())
	l.Number, l.Time = w.number, w.latest
}

func (w *writer) writeLine(l line) error {
	b, err := l.appendTo(nil)
	if err == nil {
		err = w.write(w.journal, b, w.lineEnd)
	}
	if err == nil {
		w.lineEnd += int64(len(b))
	}
	return err
}

// write removes what it could write only in part: the next write must not follow that.
func (w *writer) write(f *os.File, b []byte, at int64) error {
	_, err := f.WriteAt(b, at)
	if err != nil && f.Truncate(at) != nil {
		w.broken = true
	}
	return err
}

// sync syncs both files, and their names the first time.
func (w *writer) sync() error {
	w.mu.Lock()
	named := w.named
	w.mu.Unlock()
	for _, f := range []*os.File{w.pack, w.journal} {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if named {
		return nil
	}
	if err := owndir.SyncNames(w.root); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.named = true
	return nil
}

func (w *writer) find(sum Sum) *object {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stored[sum]
}

// learn remembers the state that a file has now.
func (w *writer) learn(path string, o *object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.stored) == maxStored {
		clear(w.stored)
	}
	if len(w.last) == maxStored {
		clear(w.last)
	}
	w.stored[*o.Sum], w.last[path] = o, o
}

// states stores the file as it is and as it will be.
func (w *writer) states(c PendingChange, l *line) error {
	old, err := c.oldBytes()
	if err != nil {
		return err
	}
	if c.Old != nil {
		if l.Old, err = w.stateBefore(c.path(), sumOr(c.Was, old), old); err != nil {
			return err
		}
		w.learn(c.path(), l.Old)
	}
	if c.Gone {
		return nil
	}
	sum := c.Is
	if sum == nil {
		h := sha256.New()
		if _, err := io.Copy(h, span.NewReader(old, c.Splices)); err != nil {
			return err
		}
		sum = (*Sum)(h.Sum(nil))
	}
	if l.New, err = w.state(*sum, l.Old, old, c.Splices); err == nil {
		w.learn(c.path(), l.New)
	}
	return err
}

// oldBytes returns the bytes that the change replaces; nil if there is no file.
func (c PendingChange) oldBytes() ([]byte, error) {
	if c.From != nil || c.Size == 0 {
		return c.From, nil
	}
	b := make([]byte, c.Size)
	if n, err := c.Old.ReadAt(b, 0); n < len(b) {
		if err == io.EOF { // the file was cut meanwhile
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b, nil
}

func sumOr(s *Sum, b []byte) Sum {
	if s != nil {
		return *s
	}
	return sha256.Sum256(b)
}

// stateBefore finds or stores the state that a change replaces. If another program changed
// the file since its last entry, the state is stored as a change of that.
func (w *writer) stateBefore(path string, sum Sum, old []byte) (o *object, err error) {
	w.mu.Lock()
	last := w.last[path]
	w.mu.Unlock()
	if last != nil && *last.Sum == sum {
		return last, nil
	}
	if last != nil && w.find(sum) == nil && len(old) <= maxLoaded {
		if was, err := (pack{w.pack}).state(last); err == nil {
			return w.state(sum, last, was, []span.Splice{{End: int64(len(was)), New: old}})
		}
	}
	return w.state(sum, nil, old, nil)
}

// state finds or stores the state that splices make of old bytes. was is the state of
// these, nil if it is not stored. Up to wholeState, and if the changes since the base of was
// are many, the new state is stored whole and can be a base itself.
func (w *writer) state(sum Sum, was *object, old []byte, splices []span.Splice) (o *object, err error) {
	if o := w.find(sum); o != nil {
		return o, nil
	}
	o = &object{Sum: &sum}
	size := int64(len(old)) + span.Growth(splices)
	if was != nil && size > wholeState {
		base, changes, err := pack{w.pack}.parts(was)
		if err == nil && len(changes) < maxChanges {
			if b, err := json.Marshal(append(changes, span.Tighten(splices, old))); err == nil && int64(len(b)) < size/8 {
				o.Base = base
				o.Chunks, err = w.put(bytes.NewReader(b), int64(len(b)))
				return o, err
			}
		}
	}
	o.Chunks, err = w.put(span.NewReader(old, splices), size)
	return o, err
}
