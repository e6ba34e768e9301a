package server

import (
	"strconv"
	"sync"
)

// requests are those that the server has made to the client and that are not
// yet answered. Whoever takes one out of them, by its answer or by withdrawing
// it, is the only one to do so.
type requests struct {
	mu     sync.Mutex
	last   int64
	open   map[string]func(value) // by id as JSON
	closed bool
}

// add notes a request that is about to be sent, and returns its id. told is
// called by the reader with the result that the client answers, which has no
// kind where the answer is an error.
func (r *requests) add(answered func(result value)) (id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	if r.closed {
		return r.last
	}
	if r.open == nil {
		r.open = make(map[string]func(value))
	}
	r.open[strconv.FormatInt(r.last, 10)] = answered
	return r.last
}

// answered hands an answer to the one who asked. What nobody asked for, or no
// longer wants to know, is ignored.
func (r *requests) answered(id []byte, result value) {
	r.mu.Lock()
	answer := r.open[string(id)]
	delete(r.open, string(id))
	r.mu.Unlock()
	if answer != nil {
		answer(result)
	}
}

// withdraw forgets a request, and tells whether it was still open.
func (r *requests) withdraw(id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := strconv.FormatInt(id, 10)
	_, open := r.open[key]
	delete(r.open, key)
	return open
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

// appendWithdrawal appends word that a request needs no answer any more.
func appendWithdrawal(b []byte, id int64) []byte {
	b = append(b, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`...)
	return append(strconv.AppendInt(b, id, 10), `,"reason":"no answer is needed any more"}}`...)
}
