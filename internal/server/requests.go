package server

import (
	"strconv"
	"sync"

	"github.com/fsmcp/fsmcp/internal/server/wire"
)

// requests holds the server's open requests to the client. Removing a request, by its
// answer or by withdrawing it, succeeds once.
type requests struct {
	mu     sync.Mutex
	last   int64
	open   map[string]func(wire.Value) // by id as JSON
	closed bool
}

// add stores a request that is about to be sent, and returns its id. The reader calls
// answered with the client's result; its kind is 0 if the answer is an error.
func (r *requests) add(answered func(result wire.Value)) (id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	if r.closed {
		return r.last
	}
	if r.open == nil {
		r.open = make(map[string]func(wire.Value))
	}
	r.open[strconv.FormatInt(r.last, 10)] = answered
	return r.last
}

// answered passes on an answer. Without an open request it is ignored.
func (r *requests) answered(id []byte, result wire.Value) {
	if answer := r.take(string(id)); answer != nil {
		answer(result)
	}
}

// withdraw removes a request, and reports whether it was still open.
func (r *requests) withdraw(id int64) bool { return r.take(strconv.FormatInt(id, 10)) != nil }

func (r *requests) take(id string) (answered func(wire.Value)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	answered = r.open[id]
	delete(r.open, id)
	return answered
}

// close forgets all requests: the client can answer no more.
func (r *requests) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open, r.closed = nil, true
}

// appendRequest appends a request to the client; params is JSON.
func appendRequest(b []byte, id int64, method string, params func([]byte) []byte) []byte {
	b = strconv.AppendInt(append(b, `{"jsonrpc":"2.0","id":`...), id, 10)
	b = append(b, `,"method":"`...)
	b = append(append(b, method...), '"')
	if params != nil {
		b = params(append(b, `,"params":`...))
	}
	return append(b, '}')
}

// appendWithdrawal appends the notification that a request needs no answer any more.
func appendWithdrawal(b []byte, id int64) []byte {
	b = append(b, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`...)
	return append(strconv.AppendInt(b, id, 10), `,"reason":"no answer is needed any more"}}`...)
}
