package server

import (
	"context"
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
	return append(b, `,"requestedSchema":{"type":"object","properties":{"answer":{"type":"string",`+
		`"description":"once: this call only; session: this file for the rest of the session","enum":["once","session"]}},"required":["answer"]}}`...)
}

// A verdict is the user's answer to a question.
type verdict int

const (
	unasked      verdict = iota // the client could not ask, or does not say
	allowOnce                   // yes, for this call
	allowSession                // yes, for the session
	declined                    // no
	dismissed                   // no answer, deliberately
	unreadable                  // an answer other than those offered
)

// verdictOf reads the result of an elicitation.
func verdictOf(result wire.Value) verdict {
	if result.Kind != wire.Object {
		return unasked
	}
	switch wire.Member(result.Raw, "action").Text() {
	case "accept":
		content := wire.Member(result.Raw, "content")
		if content.Kind != wire.Object {
			return unreadable
		}
		switch wire.Member(content.Raw, "answer").Text() {
		case "once":
			return allowOnce
		case "session":
			return allowSession
		}
		return unreadable
	case "decline":
		return declined
	case "cancel":
		return dismissed
	}
	return unreadable
}

// why completes "the user ..." for a verdict other than yes.
func (v verdict) why() string {
	switch v {
	case declined:
		return "declined"
	case dismissed:
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
	mu      sync.Mutex
	waiting []*asked
	over    bool
}

// question asks the user the question of a parked call.
func (c *conn) question(j *job, r *toolcall.Result) {
	a := &asked{job: j, question: r.Ask, refusal: r}
	d := &c.dialogue
	d.mu.Lock()
	flush, over := false, d.over
	if !over {
		a.timer = time.AfterFunc(c.opts.AskTimeout, func() {
			for range c.removeQuestions(false, func(o *asked) bool { return o == a }) {
				c.refuseAsked(a, fmt.Sprintf("did not answer within %v", c.opts.AskTimeout), false)
			}
		})
		d.waiting = append(d.waiting, a)
		flush = c.sendQuestions()
	}
	d.mu.Unlock()
	c.writeOut(flush, false)
	switch {
	case over:
		c.pool.End(&j.Job, func() { c.settle(j, r, false) })
	case !c.pool.Parked(&j.Job): // cancelled before its question was in the dialogue
		c.removeQuestions(false, func(o *asked) bool { return o == a })
	}
}

// sendQuestions sends the questions that wait for no equal one. The dialogue is locked.
func (c *conn) sendQuestions() (flush bool) {
	d := &c.dialogue
	for _, a := range d.waiting {
		before := func(o *asked) bool { return o.request != 0 && o.sameQuestion(a) }
		if d.over || a.request != 0 || slices.ContainsFunc(d.waiting, before) {
			continue
		}
		a.request = c.requests.add(func(result wire.Value) { c.answered(a, verdictOf(result)) })
		params := func(b []byte) []byte { return appendQuestion(b, a.question) }
		flush = c.out.Put(appendRequest(c.out.Buffer(), a.request, string(mcp.MethodElicitationCreate), params)) || flush
		c.opts.Log.Info().Str("tool", a.job.spec.Tool.Name).Str("id", string(a.job.id)).Msg("the user is asked")
	}
	return flush
}

// removeQuestions removes calls from the dialogue, withdraws their questions at the
// client, and sends equal ones that waited. It returns the removed calls.
func (c *conn) removeQuestions(reading bool, which func(*asked) bool) (taken []*asked) {
	d := &c.dialogue
	d.mu.Lock()
	flush := false
	d.waiting = slices.DeleteFunc(d.waiting, func(a *asked) bool {
		if !which(a) {
			return false
		}
		taken = append(taken, a)
		a.timer.Stop()
		if a.request != 0 && c.requests.withdraw(a.request) {
			flush = c.out.Put(appendWithdrawal(c.out.Buffer(), a.request)) || flush
		}
		return true
	})
	flush = c.sendQuestions() || flush
	d.mu.Unlock()
	c.writeOut(flush, reading)
	return taken
}

// writeOut makes sure that queued lines are written.
func (c *conn) writeOut(flush, reading bool) {
	if reading {
		c.unflushed = flush || c.unflushed
	} else if flush {
		c.out.Flush()
	}
}

// answered handles the user's answer to a question. The reader calls it.
func (c *conn) answered(a *asked, v verdict) {
	c.opts.Log.Info().Str("tool", a.job.spec.Tool.Name).Str("id", string(a.job.id)).Stringer("answer", v).Msg("the user has answered")
	which := func(o *asked) bool { return o == a }
	if v == allowSession {
		a.job.call.Session.Grant(a.question)
		which = a.sameQuestion
	}
	for _, o := range c.removeQuestions(true, which) {
		switch v {
		case allowOnce, allowSession: // a yes for the session includes this call
			c.rerun(o.job, func() { o.job.call.Consent = o.job.call.Consent.With(o.question) })
		case unasked:
			c.pool.End(&o.job.Job, func() { c.settle(o.job, o.refusal, true) })
		default:
			c.refuseAsked(o, v.why(), true)
		}
	}
}

// String names a verdict for the log.
func (v verdict) String() string {
	return [...]string{"none", "once", "session", "declined", "dismissed", "unreadable"}[v]
}

// rerun runs a parked call again.
func (c *conn) rerun(j *job, prepare func()) {
	c.pool.Resume(&j.Job, func() {
		prepare()
		j.ctx, j.Cancel = context.WithCancelCause(c.ctx)
	})
}

// refuseAsked ends a call whose question did not get a yes; why completes "the user ...".
func (c *conn) refuseAsked(a *asked, why string, reading bool) {
	c.pool.End(&a.job.Job, func() { c.settle(a.job, toolcall.Unanswered(a.job.spec.Tool.Name, a.question, why), reading) })
}

// endQuestions ends all questions: no answer can come any more. It does not wait for a
// client that does not read.
func (c *conn) endQuestions() {
	c.requests.close()
	c.dialogue.mu.Lock()
	c.dialogue.over = true
	c.dialogue.mu.Unlock()
	c.roots.end(0, c.release)
	taken := c.removeQuestions(false, func(*asked) bool { return true })
	go func() {
		for _, a := range taken {
			c.refuseAsked(a, "can no longer be asked", false)
		}
	}()
}
