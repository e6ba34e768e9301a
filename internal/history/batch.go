package history

import "context"

// Batch stores changes that one call makes together: until Flush they are in memory, then each
// of the two files gets one write. No change may be made before its Flush has returned. It is
// for one goroutine.
type Batch struct {
	s       *Store
	w       *writer // nil: nothing waits
	frames  []byte  // of states, for the pack
	objects []*object
	stored  map[Sum]*object // those of objects that are states, with offsets in frames
	staged  []*stagedLine
}

// stagedLine is an entry that waits to be written.
type stagedLine struct {
	line
	mark *Mark
}

// lineRoom is the room for the line of a change, which may be longer.
const lineRoom = 512

// maxFrames bounds the bytes that a Batch holds.
const maxFrames = 1 << 20

// Batch begins one.
func (s *Store) Batch() *Batch { return &Batch{s: s} }

// Keep is Store.Keep but for the write, which comes with Flush.
func (b *Batch) Keep(ctx context.Context, c PendingChange) (*Mark, error) {
	return b.s.kept(ctx, c, b.keep)
}

func (b *Batch) keep(ctx context.Context, c PendingChange, settings Settings) (*Mark, error) {
	file := c.Old != nil
	if file && c.Size > maxFrames || c.Operation == OpEdit {
		if err := b.Flush(); err != nil {
			return nil, err
		}
		return b.s.keep(ctx, c, settings)
	}
	if b.w == nil {
		w, err := b.s.writer(ctx, settings)
		if err != nil {
			return nil, err
		}
		b.w, b.stored = w, make(map[Sum]*object)
	}
	l := c.line()
	if file {
		old, err := c.oldBytes()
		if err != nil {
			return nil, err
		}
		l.Old = b.state(sumOr(c.Was, old), old)
	}
	b.w.share()
	m := &Mark{w: b.w, batch: b}
	b.staged = append(b.staged, &stagedLine{l, m})
	if len(b.frames) > maxFrames {
		return m, b.Flush()
	}
	return m, nil
}

// state finds a state, or adds it whole.
func (b *Batch) state(sum Sum, content []byte) *object {
	if o := b.w.find(sum); o != nil {
		return o
	}
	if o := b.stored[sum]; o != nil {
		return o
	}
	at := int64(len(b.frames))
	b.frames = encoder().EncodeAll(content, b.frames)
	frame := b.frames[at:]
	o := &object{Sum: &sum, Chunks: []chunk{{At: at, Len: int64(len(frame)), Check: checkOf(frame)}}}
	if len(content) == 0 { // no chunk stands for no bytes
		o.Chunks, b.frames = nil, b.frames[:at]
	}
	b.objects, b.stored[sum] = append(b.objects, o), o
	return o
}

// Flush writes what waits. If it cannot, the changes count as not kept: an error is a *KeepError,
// or else each mark has the reason.
func (b *Batch) Flush() error {
	w := b.w
	if w == nil {
		return nil
	}
	err := w.writeBatch(b)
	for _, l := range b.staged {
		l.mark.batch = nil
		switch {
		case l.mark.w == nil:
		case err != nil:
			l.mark.release()
			l.mark.Missed = err
		case l.Old != nil:
			w.learn(l.Path, l.Old)
		}
	}
	w.release()
	*b = Batch{s: b.s}
	if err != nil && b.s.o.Settings().Required {
		return &KeepError{err}
	}
	return nil
}

// Discard gives up what waits, since none of the changes will be made.
func (b *Batch) Discard() {
	if b.w != nil {
		b.w.release()
	}
	*b = Batch{s: b.s}
}

// drop takes back the entry of a change that is not made after all.
func (b *Batch) drop(m *Mark) {
	for i, l := range b.staged {
		if l.mark == m {
			b.staged = append(b.staged[:i], b.staged[i+1:]...)
			return
		}
	}
}

// share adds a user, beside one that there is.
func (w *writer) share() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users++
}

// writeBatch writes the states and then the entries of a Batch, each by one write.
func (w *writer) writeBatch(b *Batch) (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.write(w.pack, b.frames, w.packEnd); err != nil {
		return err
	}
	for _, o := range b.objects {
		for i := range o.Chunks {
			o.Chunks[i].At += w.packEnd
		}
	}
	lines := make([]byte, 0, lineRoom*len(b.staged))
	for i := range b.staged {
		l := b.staged[i]
		w.stamp(&l.line)
		if lines, err = l.appendTo(lines); err != nil {
			return err
		}
		l.mark.number = l.Number
	}
	if err := w.write(w.journal, lines, w.lineEnd); err != nil {
		return err
	}
	w.packEnd += int64(len(b.frames))
	w.lineEnd += int64(len(lines))
	return nil
}
