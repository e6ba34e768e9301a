package server

import "github.com/fsmcp/fsmcp/internal/server/wire"

// output writes to the client. It takes the replies to the messages outside of arrays.
type output struct {
	*wire.Outbox
	unflushed bool // the reader owes a flush
}

// answer sends one answer.
func (o *output) answer(line []byte, reading bool) { o.writeOut(o.Put(line), reading) }

// mayRun always returns true: without room for output, no message is handled.
func (o *output) mayRun() bool { return true }

// reserve always returns true: every answer to a request that was handled is sent.
func (o *output) reserve(int) bool { return true }

func (o *output) none(bool) {}

// fail answers with a JSON-RPC error.
func (o *output) fail(to replies, id []byte, code int, text string) {
	to.answer(wire.AppendFailure(o.Buffer(), id, code, text, nil), true)
}

// writeOut makes sure that queued lines are written.
func (o *output) writeOut(flush, reading bool) {
	if reading {
		o.unflushed = flush || o.unflushed
	} else if flush {
		o.Flush()
	}
}
