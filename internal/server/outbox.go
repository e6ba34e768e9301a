package server

import (
	"io"
	"slices"
	"sync"
	"time"
)

// maxUnsent bounds the bytes that wait for a client that does not read. Beyond it senders
// wait, so that memory stays bounded.
const maxUnsent = 64 << 20

// outbox writes whole lines to the client, one at a time and in the order of put. It has
// no writer goroutine: a goroutine that puts a line while none writes becomes the writer
// until all is written.
type outbox struct {
	w      io.Writer
	broken chan struct{} // closed when the client can no longer be written to
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

func newOutbox(w io.Writer) *outbox {
	o := &outbox{w: w, broken: make(chan struct{})}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// put queues a line, given in parts and without its newline. The parts belong to the
// outbox afterwards. If no goroutine writes, the caller becomes the writer: put returns
// true, and flush must follow. put never waits.
func (o *outbox) put(parts ...[]byte) (flush bool) {
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

// send puts a line and makes sure that it is written. It waits while too much is unsent.
func (o *outbox) send(parts ...[]byte) {
	if o.put(parts...) {
		o.flush()
		return
	}
	o.room()
}

// room waits while too much is unsent. Another goroutine must be the writer.
func (o *outbox) room() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.unsent > maxUnsent && o.err == nil {
		o.changed.Wait()
	}
}

// smallAnswer is the size up to which an answer of an array always has room. An error in
// its place would save nothing, and would hide the effect of a change.
const smallAnswer = 4 << 10

// reserve counts a gathered answer of an array as unsent output. It returns false if there
// is no room for it.
func (o *outbox) reserve(size int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if size > smallAnswer && o.unsent+o.pending+size > maxUnsent {
		return false
	}
	o.pending += size
	return true
}

// release gives back what was reserved.
func (o *outbox) release(size int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pending -= size
}

// full reports whether waiting answers of arrays take all the room.
func (o *outbox) full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pending >= maxUnsent
}

// offer puts a line that may be dropped; it never waits.
func (o *outbox) offer(line []byte) {
	o.mu.Lock()
	full := o.unsent > maxUnsent
	o.mu.Unlock()
	if !full && o.put(line) {
		go o.flush()
	}
}

// flush writes until nothing is left. Only a caller whose put returned true may call it.
func (o *outbox) flush() {
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
		o.recycle(line)
		o.mu.Lock()
		o.unsent -= size
		if err != nil {
			o.err = err
			o.lines, o.next = nil, 0
			close(o.broken)
		}
		o.changed.Broadcast()
	}
	o.writing = false
	o.changed.Broadcast()
}

// drain waits until all is written, the client is gone, or the time is over.
func (o *outbox) drain(most time.Duration) {
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

// buffer returns an empty buffer for a line: a spare one, if there is any.
func (o *outbox) buffer() []byte {
	if b, ok := o.spare.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, 4<<10)
}

func (o *outbox) recycle(b []byte) {
	if cap(b) <= keptBuffer {
		o.spare.Put(&b)
	}
}
