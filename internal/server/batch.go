package server

import (
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// batch gathers the answers to one array of messages into one array. Only the
// revision 2025-03-26 has arrays.
type batch struct {
	conn *conn

	mu   sync.Mutex
	line []byte
	open int // messages not yet answered
}

// maxBatch bounds the messages of one array, since the smallest of them takes
// an answer many times its size.
const maxBatch = 1000

// batch splits an array and handles its messages one by one.
func (c *conn) batch(line []byte) {
	if c.peer.ProtocolVersion() != mcp.ProtocolVersion20250326 {
		c.fail(c, nil, mcp.INVALID_REQUEST, "An array of messages belongs to protocol version 2025-03-26 alone. Send one message a line.")
		return
	}
	items := elements(line)
	if len(items) == 0 || len(items) > maxBatch {
		c.fail(c, nil, mcp.INVALID_REQUEST, fmt.Sprintf("An array holds 1 to %d messages, not %d.", maxBatch, len(items)))
		return
	}
	b := &batch{conn: c, line: append(c.out.buffer(), '['), open: len(items)}
	for _, item := range items {
		m, err := parseMessage(item)
		if err == nil && m.method == methodInit {
			c.fail(b, m.id, mcp.INVALID_REQUEST, "initialize cannot be part of an array.")
			continue
		}
		c.message(m, err, len(item), b)
	}
}

// elements are the values of an array that was scanned before.
func elements(array []byte) (items [][]byte) {
	s := scanner{b: array, i: 1}
	for s.space() != ']' {
		v, err := s.value()
		if err != nil {
			return nil
		}
		items = append(items, v.raw)
		if s.space() == ',' {
			s.i++
		}
	}
	return items
}

// answer takes one answer, and sends all after the last.
func (b *batch) answer(line []byte, reading bool) {
	b.mu.Lock()
	if len(b.line) > 1 {
		b.line = append(b.line, ',')
	}
	b.line = append(b.line, line...)
	b.conn.out.recycle(line)
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
	whole := b.open == 0 && len(b.line) > 1
	b.mu.Unlock()
	if whole {
		b.conn.answer(append(b.line, ']'), reading)
	}
}
