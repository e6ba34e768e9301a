package wire

import (
	"io"
	"slices"
	"sync"
	"time"
)

// MaxUnsent bounds the bytes that wait for a client that does not read. Beyond it senders
// wait, so that memory stays bounded.
const MaxUnsent = 64 << 20

// Outbox writes whole lines to the client, one at a time and in the order of put. It has
// no writer goroutine: a goroutine that puts a line while none writes becomes the writer
// until all is written.
type Outbox struct {
	w      io.Writer
	Broken chan struct{} // closed when the client can no longer be written to
	spare  sync.Pool     // of *[]byte, the memory of written lines

	mu      sync.Mutex
	changed *sync.Cond
	lines   [][]byte // lines[next:] wait
	next    int
	unsent  int
	pending int // bytes of gathered answers of arrays
	writing bool
	err     error
}

// NewOutbox makes an Outbox that writes to w.
func NewOutbox(w io.Writer) *Outbox {
	o := &Outbox{w: w, Broken: make(chan struct{})}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// Put queues a line, given in parts and without its newline. The parts belong to the
// outbox afterwards. If no goroutine writes, the caller becomes the writer: put returns
// true, and flush must follow. put never waits.
func (o *Outbox) Put(parts ...[]byte) (flush bool) {
	last := len(parts) - 1
	parts[last] = append(parts[last], '\n')
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return false
	}
	o.lines = append(o.lines, parts...)
	for _, part := range parts {
		o.unsent += len(part)
	}
	flush = !o.writing
	o.writing = true
	return flush
}

// Send puts a line and makes sure that it is written. It waits while too much is unsent.
func (o *Outbox) Send(parts ...[]byte) {
	if o.Put(parts...) {
		o.Flush()
		return
	}
	o.WaitForRoom()
}

// WaitForRoom waits while too much is unsent. Another goroutine must be the writer.
func (o *Outbox) WaitForRoom() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.unsent > MaxUnsent && o.err == nil {
		o.changed.Wait()
	}
}

// smallAnswer is the size up to which an answer of an array always has room. An error in
// its place would save nothing, and would hide the effect of a change.
const smallAnswer = 4 << 10

// Reserve counts a gathered answer of an array as unsent output. It returns false if there
// is no room for it.
func (o *Outbox) Reserve(size int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if size > smallAnswer && o.unsent+o.pending+size > MaxUnsent {
		return false
	}
	o.pending += size
	return true
}

// Release gives back what was reserved.
func (o *Outbox) Release(size int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pending -= size
}

// Full reports whether waiting answers of arrays take all the room.
func (o *Outbox) Full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pending >= MaxUnsent
}

// Offer puts a line that may be dropped; it never waits.
func (o *Outbox) Offer(line []byte) {
	o.mu.Lock()
	full := o.unsent > MaxUnsent
	o.mu.Unlock()
	if !full && o.Put(line) {
		go o.Flush()
	}
}

// Flush writes until nothing is left. Only a caller whose put returned true may call it.
func (o *Outbox) Flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.lines) > 0 && o.err == nil {
		line := o.lines[o.next]
		o.lines[o.next] = nil
		if o.next++; 2*o.next >= len(o.lines) { // no line is moved more than once on average
			o.lines, o.next = slices.Delete(o.lines, 0, o.next), 0
		}
		o.mu.Unlock()
		_, err := o.w.Write(line)
		size := len(line)
		o.Recycle(line)
		o.mu.Lock()
		o.unsent -= size
		if err != nil {
			o.err = err
			o.lines, o.next = nil, 0
			close(o.Broken)
		}
		o.changed.Broadcast()
	}
	o.writing = false
	o.changed.Broadcast()
}

// Drain waits until all is written, the client is gone, or the time is over.
func (o *Outbox) Drain(most time.Duration) {
	late := false
	timer := time.AfterFunc(most, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		late = true
		o.changed.Broadcast()
	})
	defer timer.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing && o.err == nil && !late {
		o.changed.Wait()
	}
}

// keptBuffer bounds the size of a spare buffer.
const keptBuffer = 1 << 20

// Buffer returns an empty buffer for a line: a spare one, if there is any.
func (o *Outbox) Buffer() []byte {
	if b, ok := o.spare.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, 4<<10)
}

// Recycle keeps a buffer for later lines, unless it is too large.
func (o *Outbox) Recycle(b []byte) {
	if cap(b) <= keptBuffer {
		o.spare.Put(&b)
	}
}
