package server

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/fsmcp/fsmcp/internal/server/wire"
)

// reader reads the messages of one client. While the backlog is open, catchUp handles them.
type reader struct {
	conn    *conn
	out     *output
	in      wire.Lines
	ended   chan error // receives the end of the input
	backlog backlog
	handoff readerHandoff
	ownJob  *job // that the reader must run
}

// read is the loop: it handles one line after the other until the input ends, or until
// another goroutine has taken over as the reader. When the output is full, lines go into
// the backlog.
func (r *reader) read() {
	for {
		var m received
		if m.line, m.err = r.in.Next(); errors.Is(m.err, wire.ErrTooLong) {
			m.line = r.in.Lost
		} else if m.err != nil {
			if errors.Is(m.err, io.EOF) {
				m.err = nil
			}
			r.ended <- m.err
			return
		}
		if r.backlog.open() && (r.cancelsEarly(m) || r.backlog.add(m)) {
			continue
		}
		r.handle(m)
		if !r.work() {
			return
		}
		if r.out.Full() {
			r.backlog.begin()
			go r.catchUp()
		}
	}
}

// handle handles one line of the input.
func (r *reader) handle(m received) {
	if m.err == nil {
		r.line(m.line)
		return
	}
	r.conn.opts.Log.Warn().Msg("a message was too long")
	r.out.fail(r.out, m.line, mcp.INVALID_REQUEST, fmt.Sprintf("The message is longer than %d MB. It was not read.", r.in.Limit>>20))
}

// work does the rest of a line's work: it writes answers and runs a call. It reports
// whether the caller is still the reader.
func (r *reader) work() bool {
	if r.ownJob == nil && !r.out.unflushed {
		return true
	}
	j, flush := r.ownJob, r.out.unflushed
	r.ownJob, r.out.unflushed = nil, false
	work := r.handoff.beginWork()
	if flush {
		r.out.Flush()
	}
	if j != nil {
		r.conn.pool.RunHere(&j.Job)
	}
	return r.handoff.endWork(work)
}

// line handles one line: a message, or an array of them.
func (r *reader) line(line []byte) {
	m, err := wire.ParseMessage(line)
	if errors.Is(err, wire.ErrNotObject) && line[0] == '[' {
		r.batch(line)
		return
	}
	r.message(m, err, len(line), r.out)
}

// message handles one message that was parsed with err.
func (r *reader) message(m wire.Message, err error, size int, to replies) {
	id := m.ID
	if !wire.GoodID(id) {
		id = nil
	}
	switch {
	case errors.Is(err, wire.ErrNotObject):
		r.out.fail(to, nil, mcp.INVALID_REQUEST, "A message must be a JSON object.")
	case errors.Is(err, wire.ErrTwice):
		r.out.fail(to, id, mcp.INVALID_REQUEST, "A member of the message was given twice.")
	case errors.Is(err, wire.ErrDepth):
		r.out.fail(to, nil, mcp.INVALID_REQUEST, fmt.Sprintf("The message is nested more than %d levels deep.", wire.MaxDepth))
	case err != nil:
		r.out.fail(to, nil, mcp.PARSE_ERROR, "The message is not valid JSON.")
	case !utf8.Valid(m.ID):
		r.out.fail(to, nil, mcp.PARSE_ERROR, "The id is not valid UTF-8.")
	case m.Answer && m.Method == "":
		r.conn.requests.answered(m.ID, m.Result)
		to.none(true)
	case !m.Version:
		r.out.fail(to, id, mcp.INVALID_REQUEST, `jsonrpc must be "2.0".`)
	case m.Method == "":
		r.out.fail(to, id, mcp.INVALID_REQUEST, "The message has no method.")
	case m.ID == nil:
		r.notified(m)
		to.none(true)
	case id == nil:
		r.out.fail(to, nil, mcp.INVALID_REQUEST, "The id must be a string or a number.")
	case m.Method == wire.MethodCall:
		// The reader runs a single call itself, which saves a change of threads. If more input
		// is buffered, the pool runs it.
		_, single := to.(*output)
		r.ownJob = r.conn.call(m, size, to, single && !r.backlog.isOpen && !r.in.Buffered())
	default:
		r.conn.methods.ask(m, to)
	}
}

// notified handles a notification. The reader cancels calls itself, so that a cancellation
// reaches waiting calls.
func (r *reader) notified(m wire.Message) {
	switch m.Method {
	case wire.MethodCancelled:
		if j, begun := r.conn.cancel(m); j != nil {
			r.conn.cancelled(j, begun, true)
		}
	case wire.MethodRootsChanged:
		r.conn.roots.changed()
	}
}
