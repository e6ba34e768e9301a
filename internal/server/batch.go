package server

import (
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/fsmcp/fsmcp/internal/server/wire"
)

// batch gathers the answers to one array of messages into one array. Only the revision
// 2025-03-26 has arrays. Gathered answers count as unsent output of the connection: an
// array could hold a thousand answers of any size.
type batch struct {
	conn *conn

	mu       sync.Mutex
	parts    [][]byte // of the array's line, without its end
	reserved int      // bytes
	open     int      // messages not yet answered
}

// maxBatch bounds the messages of one array, since the smallest of them takes
// an answer many times its size.
const maxBatch = 1000

// batch splits an array and handles its messages one by one.
func (c *conn) batch(line []byte) {
	if c.peer.version != mcp.ProtocolVersion20250326 {
		c.fail(c, nil, mcp.INVALID_REQUEST, "An array of messages belongs to protocol version 2025-03-26 alone. Send one message a line.")
		return
	}
	items := wire.Elements(line)
	if len(items) == 0 || len(items) > maxBatch {
		c.fail(c, nil, mcp.INVALID_REQUEST, fmt.Sprintf("An array holds 1 to %d messages, not %d.", maxBatch, len(items)))
		return
	}
	b := &batch{conn: c, parts: [][]byte{append(c.out.Buffer(), '[')}, open: len(items)}
	for _, item := range items {
		m, err := wire.ParseMessage(item)
		if err == nil && m.Method == wire.MethodInitialize && (m.ID == nil || wire.GoodID(m.ID)) {
			c.fail(b, m.ID, mcp.INVALID_REQUEST, "initialize cannot be part of an array.")
			continue
		}
		c.message(m, err, len(item), b)
	}
}

// reserve takes room for an answer, which must follow.
func (b *batch) reserve(size int) bool {
	if !b.conn.out.Reserve(size) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved += size
	return true
}

// joined is the size up to which answers are copied into one part. Larger ones
// are parts of their own, so that a long array is not copied as it grows.
const joined = 64 << 10

// answer takes one answer, and sends all after the last.
func (b *batch) answer(line []byte, reading bool) {
	b.mu.Lock()
	last := len(b.parts) - 1
	if last > 0 || len(b.parts[0]) > 1 {
		b.parts[last] = append(b.parts[last], ',')
	}
	if len(b.parts[last])+len(line) <= joined {
		b.parts[last] = append(b.parts[last], line...)
		b.conn.out.Recycle(line)
	} else {
		b.parts = append(b.parts, line)
	}
	b.closeOne(reading)
}

// none notes that a message gets no answer.
func (b *batch) none() {
	b.mu.Lock()
	b.closeOne(true)
}

// closeOne counts one message as done, and gives up the lock.
func (b *batch) closeOne(reading bool) {
	b.open--
	last := len(b.parts) - 1
	over, answers := b.open == 0, last > 0 || len(b.parts[0]) > 1
	b.mu.Unlock()
	if !over {
		return
	}
	b.conn.out.Release(b.reserved)
	if answers {
		b.parts[last] = append(b.parts[last], ']')
		b.conn.deliver(reading, b.parts...)
	}
}
