package wire

import (
	"io"
	"slices"
	"sync"
	"time"
)

// MaxUnsent bounds the memory of the lines that wait for a client that does not read. All
// output counts: answers, errors, questions, notifications. When the bound is reached, the
// server starts no call and handles no message until the client reads.
const MaxUnsent = 64 << 20

// lineCost is the memory that a waiting line takes beside its buffer.
const lineCost = 64

// Outbox writes whole lines to the client, one at a time and in the order of put. It has
// no writer goroutine: a goroutine that puts a line while none writes becomes the writer
// until all is written.
//
// It owns the bound of unsent output. To put a line never waits, so that no goroutine
// waits for the client with a lock or a call's place. The reader and the pool ask Full
// before they begin what causes more output.
type Outbox struct {
	w      io.Writer
	Limit  int           // MaxUnsent, unless a test sets less before the first use
	Broken chan struct{} // closed when the client can no longer be written to
	Room   func()        // called when Full has become false; nil to call nothing
	spare  sync.Pool     // of *[]byte, the memory of written lines

	mu      sync.Mutex
	changed *sync.Cond
	lines   [][]byte // lines[next:] wait
	next    int
	unsent  int // memory of the lines that wait or are being written
	pending int // bytes of gathered answers of arrays
	written int // number of writes
	writing bool
	err     error
}

// NewOutbox makes an Outbox that writes to w.
func NewOutbox(w io.Writer) *Outbox {
	o := &Outbox{w: w, Limit: MaxUnsent, Broken: make(chan struct{})}
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
	for _, part := range parts {
		o.queue(part)
	}
	flush = !o.writing
	o.writing = true
	return flush
}

// queue puts a part behind those that wait. A part that fits into the free end of the last
// buffer is copied there: a short answer would else hold a buffer many times its size.
func (o *Outbox) queue(part []byte) {
	if o.next < len(o.lines) {
		last := &o.lines[len(o.lines)-1]
		if len(part) <= cap(*last)-len(*last) {
			*last = append(*last, part...)
			o.Recycle(part)
			return
		}
	}
	o.lines = append(o.lines, part)
	o.unsent += cap(part) + lineCost
}

// Full reports whether too much is unsent.
func (o *Outbox) Full() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.full()
}

func (o *Outbox) full() bool { return o.unsent >= o.Limit && o.err == nil }

// WaitForRoom waits while too much is unsent. Another goroutine must be the writer.
func (o *Outbox) WaitForRoom() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.full() {
		o.changed.Wait()
	}
}

// Reserve counts answers that an array gathers as unsent output. It returns false if there
// is no room for them.
func (o *Outbox) Reserve(size int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.unsent+o.pending+size > o.Limit {
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

// Offer puts a line that may be dropped; it never waits.
func (o *Outbox) Offer(line []byte) {
	if !o.Full() && o.Put(line) {
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
		size := cap(line) + lineCost
		o.Recycle(line)
		o.mu.Lock()
		o.sent(size, err)
	}
	o.writing = false
	o.changed.Broadcast()
}

// sent notes the end of a write.
func (o *Outbox) sent(size int, err error) {
	full := o.full()
	o.unsent -= size
	o.written++
	if err != nil {
		o.err = err
		o.lines, o.next = nil, 0
		close(o.Broken)
	}
	o.changed.Broadcast()
	if full && !o.full() && o.Room != nil {
		o.mu.Unlock()
		o.Room()
		o.mu.Lock()
	}
}

// Drain waits until all is written, the client is gone, the client has taken nothing for a
// while, or the time is over.
func (o *Outbox) Drain(idle, most time.Duration) {
	end := time.Now().Add(most)
	o.mu.Lock()
	defer o.mu.Unlock()
	late, seen := false, o.written
	var timer *time.Timer
	timer = time.AfterFunc(min(idle, most), func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		left := time.Until(end)
		if late = o.written == seen || left <= 0; late {
			o.changed.Broadcast()
			return
		}
		seen = o.written
		timer.Reset(min(idle, left))
	})
	for o.writing && o.err == nil && !late {
		o.changed.Wait()
	}
	timer.Stop()
}

// The size of a new buffer, and the bound of a spare one's.
const (
	newBuffer  = 4 << 10
	keptBuffer = 1 << 20
)

// Buffer returns an empty buffer for a line: a spare one, if there is any.
func (o *Outbox) Buffer() []byte {
	if b, ok := o.spare.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, newBuffer)
}

// Recycle keeps a buffer for later lines, unless it is too large or too small.
func (o *Outbox) Recycle(b []byte) {
	if cap(b) >= newBuffer && cap(b) <= keptBuffer {
		o.spare.Put(&b)
	}
}
