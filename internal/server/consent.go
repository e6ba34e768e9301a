package server

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// maxQuestions bounds the questions of one call: after each answer the call runs again,
// and may then need consent to something else.
const maxQuestions = 3

// appendQuestion appends the params of an elicitation/create.
func appendQuestion(b []byte, q *toolcall.Question) []byte {
	b = wire.AppendString(append(b, `{"message":`...), q.Message)
	if q.Once {
		return append(b, `,"requestedSchema":{"type":"object","properties":{"answer":{"type":"string",`+
			`"description":"once: this call only","enum":["once"]}},"required":["answer"]}}`...)
	}
	return append(b, `,"requestedSchema":{"type":"object","properties":{"answer":{"type":"string",`+
		`"description":"once: this call only; session: this file for the rest of the session","enum":["once","session"]}},"required":["answer"]}}`...)
}

// ConsentAnswer is the user's answer to a question.
type ConsentAnswer int

// The answers.
const (
	NotAsked   ConsentAnswer = iota // the client could not ask, or does not say
	Once                            // yes, for this call
	Session                         // yes, for the session
	No                              // no
	Dismissed                       // no answer, deliberately
	Unreadable                      // an answer other than those offered
)

func (a ConsentAnswer) yes() bool { return a == Once || a == Session }

// answerOf reads the result of an elicitation.
func answerOf(result wire.Value) ConsentAnswer {
	if result.Kind != wire.Object {
		return NotAsked
	}
	switch wire.Member(result.Raw, "action").Text() {
	case "accept":
		content := wire.Member(result.Raw, "content")
		if content.Kind != wire.Object {
			return Unreadable
		}
		switch wire.Member(content.Raw, "answer").Text() {
		case "once":
			return Once
		case "session":
			return Session
		}
		return Unreadable
	case "decline":
		return No
	case "cancel":
		return Dismissed
	}
	return Unreadable
}

// why completes "the user ..." for an answer other than yes.
func (a ConsentAnswer) why() string {
	switch a {
	case No:
		return "declined"
	case Dismissed:
		return "dismissed the question"
	}
	return "gave no answer that can be understood"
}

// asked is a waiting call of a client of a revision before 2026-07-28.
type asked struct {
	job      *job
	question *toolcall.Question
	refusal  *toolcall.Result // the answer if the client turns out not to ask
	request  int64            // 0 while the user has an equal question
	timer    *time.Timer
}

// sameQuestion reports whether a yes to one for the session is a yes to both.
func (a *asked) sameQuestion(o *asked) bool {
	return a.job.call.Session == o.job.call.Session && a.question.Same(o.question)
}

// dialogue holds all open questions of a connection. Different questions are open at the
// same time; equal ones wait for each other, since the first answer may decide them all.
type dialogue struct {
	conn *conn

	mu      sync.Mutex
	waiting []*asked
	over    bool
}

// ask asks the user the question of a parked call.
func (d *dialogue) ask(j *job, r *toolcall.Result) {
	a := &asked{job: j, question: r.Question, refusal: r}
	d.mu.Lock()
	flush, over := false, d.over
	if !over {
		a.timer = time.AfterFunc(d.conn.opts.AskTimeout, func() {
			for range d.remove(false, func(o *asked) bool { return o == a }) {
				d.refuse(a, fmt.Sprintf("did not answer within %v", d.conn.opts.AskTimeout), false)
			}
		})
		d.waiting = append(d.waiting, a)
		flush = d.send()
	}
	d.mu.Unlock()
	d.conn.out.writeOut(flush, false)
	switch {
	case over:
		d.conn.pool.End(&j.Job, func() { d.conn.settle(j, r, false) })
	case !d.conn.pool.Parked(&j.Job): // cancelled before its question was in the dialogue
		d.remove(false, func(o *asked) bool { return o == a })
	}
}

// send sends the questions that wait for no equal one. The dialogue is locked.
func (d *dialogue) send() (flush bool) {
	for _, a := range d.waiting {
		before := func(o *asked) bool { return o.request != 0 && o.sameQuestion(a) }
		if d.over || a.request != 0 || slices.ContainsFunc(d.waiting, before) {
			continue
		}
		a.request = d.conn.requests.add(func(result wire.Value) { d.answered(a, answerOf(result)) })
		params := func(b []byte) []byte { return appendQuestion(b, a.question) }
		flush = d.conn.out.Put(appendRequest(d.conn.out.Buffer(), a.request, string(mcp.MethodElicitationCreate), params)) || flush
		d.conn.opts.Log.Info().Str("tool", a.job.spec.Tool.Name).Str("id", string(a.job.id)).Msg("the user is asked")
	}
	return flush
}

// remove removes calls from the dialogue, withdraws their questions at the
// client, and sends equal ones that waited. It returns the removed calls.
func (d *dialogue) remove(reading bool, which func(*asked) bool) (taken []*asked) {
	d.mu.Lock()
	flush := false
	d.waiting = slices.DeleteFunc(d.waiting, func(a *asked) bool {
		if !which(a) {
			return false
		}
		taken = append(taken, a)
		a.timer.Stop()
		if a.request != 0 && d.conn.requests.withdraw(a.request) {
			flush = d.conn.out.Put(appendWithdrawal(d.conn.out.Buffer(), a.request)) || flush
		}
		return true
	})
	flush = d.send() || flush
	d.mu.Unlock()
	d.conn.out.writeOut(flush, reading)
	return taken
}

// answered handles the user's answer to a question. The reader calls it.
func (d *dialogue) answered(q *asked, answer ConsentAnswer) {
	d.conn.opts.Log.Info().Str("tool", q.job.spec.Tool.Name).Str("id", string(q.job.id)).Stringer("answer", answer).Msg("the user has answered")
	which := func(o *asked) bool { return o == q }
	if answer == Session {
		q.job.call.Session.Grant(q.question)
		which = q.sameQuestion
	}
	for _, o := range d.remove(true, which) {
		switch answer {
		case Once, Session: // a yes for the session includes this call
			d.conn.rerun(o.job, func() { o.job.call.Consent = o.job.call.Consent.With(o.question) })
		case NotAsked:
			d.conn.pool.End(&o.job.Job, func() { d.conn.settle(o.job, o.refusal, true) })
		default:
			d.refuse(o, answer.why(), true)
		}
	}
}

// String names an answer for the log.
func (a ConsentAnswer) String() string {
	return [...]string{"none", "once", "session", "declined", "dismissed", "unreadable"}[a]
}

// refuse ends a call whose question did not get a yes; why completes "the user ...".
func (d *dialogue) refuse(a *asked, why string, reading bool) {
	d.conn.pool.End(&a.job.Job, func() { d.conn.settle(a.job, toolcall.Unanswered(a.job.spec.Tool.Name, a.question, why), reading) })
}

// end ends all questions: no answer can come any more. It does not wait for a
// client that does not read.
func (d *dialogue) end() {
	d.conn.requests.close()
	d.mu.Lock()
	d.over = true
	d.mu.Unlock()
	d.conn.roots.end(0)
	taken := d.remove(false, func(*asked) bool { return true })
	go func() {
		for _, a := range taken {
			d.refuse(a, "can no longer be asked", false)
		}
	}()
}
