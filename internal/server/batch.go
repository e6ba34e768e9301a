package server

import (
	"bytes"
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
	answers  [][]byte
	reserved int // bytes
	open     int // messages not yet answered
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
	b := &batch{conn: c, open: len(items)}
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

// answer takes one answer, and sends all after the last.
func (b *batch) answer(line []byte, reading bool) {
	if cap(line) > 2*len(line) { // a thousand short answers must not hold as many long buffers
		spare := line
		line = bytes.Clone(line)
		b.conn.out.Recycle(spare)
	}
	b.mu.Lock()
	b.answers = append(b.answers, line)
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
	over := b.open == 0
	b.mu.Unlock()
	if !over {
		return
	}
	b.conn.out.Release(b.reserved)
	if len(b.answers) == 0 {
		return
	}
	var parts [][]byte
	for i, answer := range b.answers {
		separator := ","
		if i == 0 {
			separator = "["
		}
		parts = append(parts, []byte(separator), answer)
	}
	parts = append(parts, []byte("]"))
	b.conn.deliver(reading, parts...)
}
