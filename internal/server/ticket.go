package server

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Since the revision 2026-07-28 a question is the answer to a call, and the client repeats
// the call with the user's answer and the question's requestState. A ticket is the
// server's record of such a question. It is good for one retry of the same call within a
// bounded time.
type ticket struct {
	question *toolcall.Question
	given    *toolcall.Consent // the user's consent in earlier rounds
	left     int               // how many more questions the call may ask
	expires  time.Time
	number   uint64 // orders those that expire at the same tick of the clock
}

// tickets holds the open tickets. A state is a nonce, an expiry, and an HMAC under a key
// of this process over both, the call and the question.
type tickets struct {
	key [32]byte

	mu     sync.Mutex
	out    map[nonce]*ticket
	issued uint64 // how many there were
}

type nonce [16]byte

// maxTickets bounds the tickets of clients that do not come back.
const maxTickets = 1000

func newTickets() *tickets {
	t := &tickets{out: make(map[nonce]*ticket)}
	rand.Read(t.key[:])
	return t
}

// issue stores a ticket and returns its state.
func (t *tickets) issue(j *job, k *ticket) (state string) {
	var n nonce
	rand.Read(n[:])
	t.mu.Lock()
	t.makeRoom()
	t.issued++
	k.number = t.issued
	t.out[n] = k
	t.mu.Unlock()
	plain := binary.BigEndian.AppendUint64(n[:], uint64(k.expires.UnixNano()))
	return base64.RawURLEncoding.EncodeToString(t.seal(plain, j, k.question))
}

// makeRoom drops expired tickets, and if that is not enough, those that expire first.
func (t *tickets) makeRoom() {
	if len(t.out) < maxTickets {
		return
	}
	now := time.Now()
	var first nonce
	for n, k := range t.out {
		if !k.expires.After(now) {
			delete(t.out, n)
		} else if f, ok := t.out[first]; !ok || k.expires.Before(f.expires) || k.expires.Equal(f.expires) && k.number < f.number {
			first = n
		}
	}
	if len(t.out) >= maxTickets {
		delete(t.out, first)
	}
}

const plainState = len(nonce{}) + 8

// redeem removes and returns the ticket of a state. It returns nil if the state was not
// issued, was used, has expired, or was issued to another call.
func (t *tickets) redeem(j *job, state string) *ticket {
	b, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil || len(b) != plainState+sha256.Size {
		return nil
	}
	n := nonce(b[:len(nonce{})])
	t.mu.Lock()
	k := t.out[n]
	delete(t.out, n)
	t.mu.Unlock()
	if k == nil || !time.Now().Before(k.expires) || !t.valid(j, state, k.question) {
		return nil
	}
	return k
}

// valid reports whether a state was issued to this call for this question.
func (t *tickets) valid(j *job, state string, q *toolcall.Question) bool {
	b, err := base64.RawURLEncoding.DecodeString(state)
	return err == nil && len(b) == plainState+sha256.Size && hmac.Equal(b, t.seal(b[:plainState:plainState], j, q))
}

// seal appends the HMAC to the plain part of a state.
func (t *tickets) seal(plain []byte, j *job, q *toolcall.Question) []byte {
	mac := hmac.New(sha256.New, t.key[:])
	part := func(b []byte) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(b)))
		mac.Write(size[:])
		mac.Write(b)
	}
	arguments, _ := json.Marshal(j.args) // encoded again: another spelling is the same call
	part(plain)
	part([]byte(j.spec.Tool.Name))
	part([]byte(j.thread))
	part(arguments)
	part([]byte(q.Rule))
	for _, name := range q.Names {
		part([]byte(name))
	}
	return mac.Sum(plain)
}

// retry holds what a call brings from an earlier try.
type retry struct {
	state  string
	answer ConsentAnswer
}

// retryOf reads the params of a repeated call.
func retryOf(m *wire.Message) (r retry) {
	r.state = m.State.Text()
	if m.Inputs.Kind == wire.Object {
		r.answer = answerOf(wire.Member(m.Inputs.Raw, inputConsent))
	}
	return r
}

// The names of the inputs that a call may request.
const (
	inputConsent = "consent"
	inputRoots   = "roots"
)

// runAsking runs a call of a client that gets questions as results. Consent counts for the
// question as it is now: the call is tried without it first.
func (c *conn) runAsking(j *job) *toolcall.Result {
	var k *ticket
	if j.retry.state != "" {
		k = c.tickets.redeem(j, j.retry.state)
	}
	switch v := j.retry.answer; {
	case v == No, v == Dismissed, v == Unreadable && k != nil:
		var q *toolcall.Question
		if k != nil {
			q = k.question
		}
		return toolcall.Unanswered(j.spec.Tool.Name, q, v.why())
	case k == nil:
		k = &ticket{left: maxQuestions}
	}
	call := j.call
	call.Consent = k.given
	r := c.run(j.ctx, j.spec, call, j.args)
	if j.retry.answer.yes() && k.question != nil && r.Question != nil && c.tickets.valid(j, j.retry.state, r.Question) {
		if j.retry.answer == Session {
			call.Session.Grant(r.Question)
		}
		call.Consent = call.Consent.With(r.Question) // a yes for the session includes this call
		r = c.run(j.ctx, j.spec, call, j.args)
	}
	if r.Question != nil && k.left > 0 {
		j.state = c.tickets.issue(j, &ticket{question: r.Question, given: call.Consent, left: k.left - 1, expires: time.Now().Add(c.opts.AskTimeout)})
	}
	return r
}

// putsQuestion reports whether the answer to a call is the question of its result.
func (j *job) putsQuestion(r *toolcall.Result) bool { return r.Question != nil && j.state != "" }

// appendInput appends the result that asks the client for one input. An empty state is
// left out.
func appendInput(b, serverInfo []byte, name, method, state string, params func([]byte) []byte) []byte {
	b = appendMeta(append(b, '{'), toolcall.Facts{}, serverInfo)
	b = append(b, `"inputRequests":{"`...)
	b = append(append(b, name...), `":{"method":"`...)
	b = append(append(b, method...), `","params":`...)
	b = append(params(b), `}}`...)
	if state != "" {
		b = wire.AppendString(append(b, `,"requestState":`...), state)
	}
	return append(b, `,"resultType":"input_required"}`...)
}
