package history

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/span"
)

// The names of a pack and its journal.
const (
	packExt    = ".pack"
	journalExt = ".journal"
	stemTime   = "20060102T150405.000"
)

// Bounds of one pack. They are small against the bounds of all packs, so that little is
// removed with the oldest one.
const (
	minPack  = 1 << 20
	maxPack  = 32 << 20
	packs    = 32 // a full history has at least so many
	maxSpan  = 24 * time.Hour
	minSpan  = time.Minute
	maxDepth = 64 // length of a chain of states, each stored as a change of the next
	// leanSize and leanDepth bound the bytes that are unpacked while a change waits.
	leanSize  = 1 << 20
	leanDepth = maxDepth / 2
)

// maxKnown bounds the states and paths that a writer remembers of its pack, so that equal
// bytes are stored once. After that it begins anew, and stores some a second time.
const maxKnown = 1024

// writer is a journal and a pack that this process adds to. It holds a lock on the journal,
// so that no process removes them.
type writer struct {
	id   string
	root *os.Root
	code *coder
	now  func() time.Time
	born time.Time

	mu      sync.Mutex
	users   int // changes under way
	retired bool
	broken  bool // a part of a write could not be removed
	pack    *os.File
	journal *os.File
	packEnd int64
	lineEnd int64
	number  int
	latest  int64 // time of the last entry
	stored  map[Sum]ref
	last    map[string]ref // by path
}

// ref is a state in the pack.
type ref struct {
	at, size int64
	depth    int // number of states below it in its chain
}

// newWriter starts a pack. The caller is its first user.
func newWriter(root *os.Root, id string, now func() time.Time, code *coder) (*writer, error) {
	w := &writer{id: id, root: root, code: code, now: now, born: now(), users: 1, stored: make(map[Sum]ref), last: make(map[string]ref)}
	stem := w.born.UTC().Format(stemTime) + "-" + id
	const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL
	var err error
	if w.journal, err = root.OpenFile(stem+journalExt, flags, 0o600); err != nil {
		return nil, err
	}
	locked, err := tryLock(w.journal)
	if err == nil && !locked {
		err = errors.New("a new journal is locked by another process")
	}
	if err == nil {
		w.pack, err = root.OpenFile(stem+packExt, flags, 0o600)
	}
	if err == nil {
		_, err = w.pack.WriteAt([]byte(packMagic), 0)
	}
	if err != nil {
		w.closeFiles()
		root.Remove(stem + packExt)
		root.Remove(stem + journalExt)
		return nil, err
	}
	w.packEnd = int64(len(packMagic))
	return w, nil
}

// acquire adds a user. It returns false if a new pack is due.
func (w *writer) acquire(now time.Time, settings Settings) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	span := min(maxSpan, max(minSpan, settings.MaxAge/packs))
	size := min(maxPack, max(minPack, settings.MaxSize/packs))
	if w.retired || w.broken || w.packEnd+w.lineEnd > size || now.Sub(w.born) > span || !w.there() {
		return false
	}
	w.users++
	return true
}

// there reports whether the journal still exists, under its name.
func (w *writer) there() bool {
	mine, err := w.journal.Stat()
	if err != nil {
		return false
	}
	now, err := w.root.Lstat(mine.Name())
	return err == nil && os.SameFile(mine, now)
}

// retire makes the last user close the writer.
func (w *writer) retire() {
	w.mu.Lock()
	w.retired = true
	idle := w.users == 0
	w.mu.Unlock()
	if idle {
		w.close()
	}
}

func (w *writer) release() {
	w.mu.Lock()
	w.users--
	idle := w.users == 0 && w.retired
	w.mu.Unlock()
	if idle {
		w.close()
	}
}

func (w *writer) close() {
	w.closeFiles()
	w.root.Close()
}

func (w *writer) closeFiles() {
	for _, f := range []*os.File{w.pack, w.journal} {
		if f != nil {
			f.Close()
		}
	}
}

// add appends a record to the pack. b has room for the frame and then the payload.
func (w *writer) add(kind byte, b []byte) (at int64, err error) {
	frame(kind, b)
	w.mu.Lock()
	defer w.mu.Unlock()
	at = w.packEnd
	if err := w.write(w.pack, b, at); err != nil {
		return 0, err
	}
	w.packEnd += int64(len(b))
	return at, nil
}

// append appends a line to the journal and returns the entry's number.
func (w *writer) append(l line) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l.Void == 0 {
		w.latest = max(w.latest+1, w.now().UnixNano())
		l.Number, l.Time = w.number+1, w.latest
	}
	b, err := l.encode()
	if err != nil {
		return 0, err
	}
	if err := w.write(w.journal, b, w.lineEnd); err != nil {
		return 0, err
	}
	w.lineEnd += int64(len(b))
	w.number = max(w.number, l.Number)
	return l.Number, nil
}

// write removes what it could write only in part: the next write must not follow that.
func (w *writer) write(f *os.File, b []byte, at int64) error {
	_, err := f.WriteAt(b, at)
	if err != nil && f.Truncate(at) != nil {
		w.broken = true
	}
	return err
}

// reader returns the pack as it was written so far.
func (w *writer) reader() *pack {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &pack{r: w.pack, end: w.packEnd, code: w.code}
}

func (w *writer) find(sum Sum) (ref, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k, ok := w.stored[sum]
	return k, ok
}

func (w *writer) learn(path string, sum Sum, k ref) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.stored) == maxKnown {
		clear(w.stored)
	}
	if len(w.last) == maxKnown {
		clear(w.last)
	}
	w.stored[sum], w.last[path] = k, k
}

// states stores the file as it is and as it will be.
func (w *writer) states(c Change, l *line) error {
	var old []byte
	var base ref
	if c.Old != nil {
		var err error
		if old, err = c.oldBytes(); err != nil {
			return err
		}
		sum := sumOr(c.Was, old)
		if base, err = w.stateBefore(c.path(), sum, old); err != nil {
			return err
		}
		l.Before, l.BeforeAt = sum.String(), base.at
	}
	if c.Gone {
		return nil
	}
	sum, is, err := w.stateAfter(c, old, base)
	if err != nil {
		return err
	}
	l.After, l.AfterAt = sum.String(), is.at
	return nil
}

func (c Change) oldBytes() ([]byte, error) {
	if c.From != nil || c.Size == 0 {
		return c.From, nil
	}
	b := make([]byte, c.Size)
	if _, err := c.Old.ReadAt(b, 0); err != nil && err != io.EOF {
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

// stateBefore finds or stores the state that is about to be replaced. If another program
// changed the file since the last entry, it is stored as a change of that.
func (w *writer) stateBefore(path string, sum Sum, old []byte) (ref, error) {
	if k, ok := w.find(sum); ok && k.depth < maxDepth {
		return k, nil
	}
	w.mu.Lock()
	last, ok := w.last[path]
	w.mu.Unlock()
	if ok && last.depth < leanDepth && last.size <= leanSize && len(old) <= leanSize {
		if base, _, err := w.reader().load(last.at); err == nil {
			changes := []span.Splice{tight(span.Splice{End: int64(len(base)), New: old}, base)}
			if worthLeaning(changes, int64(len(old))) {
				return w.lean(path, sum, int64(len(old)), changes, last)
			}
		}
	}
	return w.whole(path, sum, int64(len(old)), bytes.NewReader(old))
}

// stateAfter finds or stores the state that a change makes.
func (w *writer) stateAfter(c Change, old []byte, base ref) (Sum, ref, error) {
	changes := make([]span.Splice, len(c.Splices))
	size := int64(len(old)) + span.Growth(c.Splices)
	for i, s := range c.Splices {
		changes[i] = tight(s, old)
	}
	var sum Sum
	if c.Is != nil {
		sum = *c.Is
	} else {
		h := sha256.New()
		if _, err := io.Copy(h, span.NewReader(old, changes)); err != nil {
			return sum, ref{}, err
		}
		h.Sum(sum[:0])
	}
	if k, ok := w.find(sum); ok {
		w.learn(c.path(), sum, k)
		return sum, k, nil
	}
	var k ref
	var err error
	if base.at != 0 && base.depth < maxDepth && worthLeaning(changes, size) {
		k, err = w.lean(c.path(), sum, size, changes, base)
	} else {
		k, err = w.whole(c.path(), sum, size, span.NewReader(old, changes))
	}
	return sum, k, err
}

// worthLeaning reports whether changes take much less room than the size bytes that they
// make.
func worthLeaning(changes []span.Splice, size int64) bool {
	cost := int64(0)
	for _, s := range changes {
		cost += int64(len(s.New)) + 6
	}
	return cost < size/2+64
}

// tight returns a splice without the bytes at its ends that it leaves as they are.
func tight(s span.Splice, old []byte) span.Splice {
	was := old[s.Start:s.End]
	n := commonPrefix(was, s.New)
	s.Start, s.New, was = s.Start+int64(n), s.New[n:], was[n:]
	n = commonSuffix(was, s.New)
	s.End, s.New = s.End-int64(n), s.New[:len(s.New)-n]
	return s
}

func commonPrefix(a, b []byte) (n int) {
	most := min(len(a), len(b))
	for _, step := range compareSteps {
		for n+step <= most && bytes.Equal(a[n:n+step], b[n:n+step]) {
			n += step
		}
	}
	return n
}

func commonSuffix(a, b []byte) (n int) {
	most := min(len(a), len(b))
	for _, step := range compareSteps {
		for n+step <= most && bytes.Equal(a[len(a)-n-step:len(a)-n], b[len(b)-n-step:len(b)-n]) {
			n += step
		}
	}
	return n
}

// compareSteps are numbers of bytes that are compared at once: processors are quick at
// blocks.
var compareSteps = []int{256, 1}

// lean stores a state as the changes to another one.
func (w *writer) lean(path string, sum Sum, size int64, changes []span.Splice, base ref) (ref, error) {
	r := record{kind: kindState, sum: sum, size: size, base: base.at}
	var added []io.Reader
	at := int64(0)
	for _, c := range changes {
		r.cuts = append(r.cuts, cut{skip: c.Start - at, gone: c.End - c.Start, added: int64(len(c.New))})
		r.lit.size += int64(len(c.New))
		at = c.End
		added = append(added, bytes.NewReader(c.New))
	}
	return w.state(path, r, io.MultiReader(added...), base.depth+1)
}

// whole stores a state on its own.
func (w *writer) whole(path string, sum Sum, size int64, content io.Reader) (ref, error) {
	return w.state(path, record{kind: kindState, sum: sum, size: size, lit: literal{size: size}}, content, 0)
}

func (w *writer) state(path string, r record, content io.Reader, depth int) (ref, error) {
	at, err := w.put(r, content)
	k := ref{at: at, size: r.size, depth: depth}
	if err == nil {
		w.learn(path, r.sum, k)
	}
	return k, err
}

// places stores the places of a change of a file above WholeLimit.
func (w *writer) places(c Change, most int64) (at int64, err error) {
	r, kept := placesOf(c.Old, c.Size, c.Splices)
	gone := int64(0)
	for _, at := range r.places {
		gone += at.gone
	}
	if gone > most {
		return 0, ErrTooLarge
	}
	r.lit.size = bytesOf(r.places)
	return w.put(r, kept)
}

// put stores a record with the bytes of its literal: inline where they fit into one piece,
// else piece by piece.
func (w *writer) put(r record, content io.Reader) (at int64, err error) {
	buf := make([]byte, min(r.lit.size, pieceLen))
	if r.lit.size <= pieceLen {
		if _, err := io.ReadFull(content, buf); err != nil {
			return 0, err
		}
		r.lit.method, r.lit.inline = w.code.pack(nil, buf)
	} else {
		for left := r.lit.size; left > 0; left -= int64(len(buf)) {
			buf = buf[:min(left, pieceLen)]
			if _, err := io.ReadFull(content, buf); err != nil {
				return 0, err
			}
			method, b := w.code.pack(make([]byte, frameLen+1, frameLen+1+len(buf)/2), buf)
			b[frameLen] = method
			piece, err := w.add(kindPiece, b)
			if err != nil {
				return 0, err
			}
			r.lit.pieces = append(r.lit.pieces, piece)
		}
	}
	c := codec{b: make([]byte, frameLen, frameLen+128+len(r.lit.inline))}
	r.code(&c)
	return w.add(r.kind, c.b)
}
