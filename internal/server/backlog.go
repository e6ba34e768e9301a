package server

import (
	"bytes"
	"sync"

	"github.com/fsmcp/fsmcp/internal/server/wire"
)

// maxBacklog bounds the memory of the messages in the backlog.
const maxBacklog = 1 << 20

// received is one line of the input. If err says that it was too long, line is its id.
type received struct {
	line []byte
	err  error
}

func (m received) size() int { return cap(m.line) + 64 }

// backlog holds messages that came while output was full, in their order. It lets the
// reader see a cancellation and the end of the input though no message is handled. When it
// is full, too, the reader waits.
type backlog struct {
	mu      sync.Mutex
	changed sync.Cond
	isOpen  bool // without the lock, only the goroutine that handles messages may read it
	closed  chan struct{}
	waiting []received
	bytes   int
}

// begin opens the backlog. It is closed, and the caller handles the messages.
func (b *backlog) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changed.L = &b.mu
	b.isOpen, b.closed = true, make(chan struct{})
}

// open reports whether messages go into the backlog.
func (b *backlog) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isOpen
}

// add adds a message, and waits while there are too many. It returns false if the backlog
// is closed.
func (b *backlog) add(m received) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isOpen {
		return false
	}
	b.waiting = append(b.waiting, m)
	b.bytes += m.size()
	for b.bytes > maxBacklog {
		b.changed.Wait()
	}
	return true
}

// next removes the first message. If there is none, it closes the backlog.
func (b *backlog) next() (m received, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		b.isOpen, b.waiting = false, nil
		close(b.closed)
		return m, false
	}
	m, b.waiting[0] = b.waiting[0], received{}
	b.waiting = b.waiting[1:]
	b.bytes -= m.size()
	b.changed.Signal()
	return m, true
}

// whenClosed returns a channel that is closed when the backlog is. The input has ended.
func (b *backlog) whenClosed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isOpen {
		closed := make(chan struct{})
		close(closed)
		return closed
	}
	return b.closed
}

// catchUp handles the messages of the backlog as the client reads. It then leaves the
// handling to the reader again.
func (r *reader) catchUp() {
	for {
		r.out.WaitForRoom()
		m, ok := r.backlog.next()
		if !ok {
			return
		}
		r.handle(m)
		if r.out.unflushed {
			r.out.unflushed = false
			go r.out.Flush() // which may wait for the client
		}
	}
}

// cancelsEarly cancels a call at once if a message says so, before the messages of the
// backlog. A call that is itself in the backlog is cancelled in its turn.
func (r *reader) cancelsEarly(received received) bool {
	if received.err != nil || !bytes.Contains(received.line, []byte(wire.MethodCancelled)) {
		return false
	}
	m, err := wire.ParseMessage(received.line)
	if err != nil || !m.Version || m.ID != nil || m.Answer || m.Method != wire.MethodCancelled {
		return false
	}
	j, begun := r.conn.cancel(m)
	if j != nil {
		go r.conn.cancelled(j, begun, false) // which may wait for the client
	}
	return j != nil
}
