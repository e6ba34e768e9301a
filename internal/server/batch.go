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
// array could hold a thousand answers of any size. Room for a small answer to each message
// is reserved before the first message is handled, since an array can stay open for long.
// Without that room the array's requests are answered "busy", and none stays open.
type batch struct {
	out  *output
	full bool // there is no room for its small answers

	mu       sync.Mutex
	answers  [][]byte
	reserved int // bytes
	open     int // messages not yet answered
}

// smallAnswer is the size up to which an answer of an array always has room. An error in
// its place would save nothing, and would hide the effect of a change. An id, which every
// answer repeats, takes at most half of it.
const (
	smallAnswer = 4 << 10
	maxBatchID  = smallAnswer / 2
)

// maxBatch bounds the messages of one array, since the smallest of them takes
// an answer many times its size.
const maxBatch = 1000

// batch splits an array and handles its messages one by one.
func (r *reader) batch(line []byte) {
	if r.conn.peer.version != mcp.ProtocolVersion20250326 {
		r.out.fail(r.out, nil, mcp.INVALID_REQUEST, "An array of messages belongs to protocol version 2025-03-26 alone. Send one message a line.")
		return
	}
	items := wire.Elements(line)
	if len(items) == 0 || len(items) > maxBatch {
		r.out.fail(r.out, nil, mcp.INVALID_REQUEST, fmt.Sprintf("An array holds 1 to %d messages, not %d.", maxBatch, len(items)))
		return
	}
	b := &batch{out: r.out, open: len(items), reserved: len(items) * smallAnswer}
	if b.full = !r.out.Reserve(b.reserved); b.full {
		b.reserved = 0
	}
	for _, item := range items {
		m, err := wire.ParseMessage(item)
		if len(m.ID) > maxBatchID {
			r.out.fail(b, nil, mcp.INVALID_REQUEST, fmt.Sprintf("In an array an id has at most %d bytes.", maxBatchID))
			continue
		}
		if err == nil && m.Method == wire.MethodInitialize && (m.ID == nil || wire.GoodID(m.ID)) {
			r.out.fail(b, m.ID, mcp.INVALID_REQUEST, "initialize cannot be part of an array.")
			continue
		}
		r.message(m, err, len(item), b)
	}
}

// mayRun reports whether there is room for the array's answers.
func (b *batch) mayRun() bool { return !b.full }

// reserve takes room for an answer, which must follow.
func (b *batch) reserve(size int) bool {
	if size <= smallAnswer {
		return true
	}
	if b.full || !b.out.Reserve(size) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved += size
	return true
}

// answer takes one answer, and sends all after the last.
func (b *batch) answer(line []byte, reading bool) {
	answer := bytes.Clone(line) // in no more memory than was reserved
	b.out.Recycle(line)
	b.mu.Lock()
	b.answers = append(b.answers, answer)
	b.closeOne(reading)
}

// none notes that a message gets no answer.
func (b *batch) none(reading bool) {
	b.mu.Lock()
	b.closeOne(reading)
}

// closeOne counts one message as done, and gives up the lock.
func (b *batch) closeOne(reading bool) {
	b.open--
	over := b.open == 0
	b.mu.Unlock()
	if !over {
		return
	}
	flush := false
	if parts := b.parts(); len(parts) > 0 {
		flush = b.out.Put(parts...)
	}
	b.out.Release(b.reserved)
	b.out.writeOut(flush, reading)
}

// parts returns the array of the answers in parts; none if there is no answer.
func (b *batch) parts() (parts [][]byte) {
	if len(b.answers) == 0 {
		return nil
	}
	for i, answer := range b.answers {
		separator := ","
		if i == 0 {
			separator = "["
		}
		parts = append(parts, []byte(separator), answer)
	}
	return append(parts, []byte("]"))
}
