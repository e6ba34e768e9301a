package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/server/arguments"
	"github.com/fsmcp/fsmcp/internal/server/schedule"
	"github.com/fsmcp/fsmcp/internal/server/wire"
	"github.com/fsmcp/fsmcp/internal/stack"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// conn is one client on one pair of streams, with its calls.
type conn struct {
	*Server
	ctx      context.Context // the parent of calls' contexts
	out      *output
	pool     *schedule.Pool
	sessions *sessions // used by the reader only
	launched string    // the conversation for which Claude Code has started the server, or ""
	peer     peer      // used by the reader only
	methods  methods
	requests requests
	dialogue dialogue
	roots    roots
}

// job is one tools/call.
type job struct {
	schedule.Job
	id     []byte
	spec   *arguments.Spec
	args   tools.Args
	call   toolcall.Call
	meta   []byte // serverInfo for the answer, if its revision wants it
	to     replies
	ctx    context.Context
	result *toolcall.Result // of the last run; used by the goroutine that ran it

	asks   bool   // its client can put a question to the user
	roots  bool   // its client can name its folders (since 2026-07-28)
	thread string // the client's name of its conversation
	retry  retry  // what it brings from an earlier try (since 2026-07-28)
	state  string // the requestState of the question in its answer
}

// jobOf returns the call of a scheduled job.
func jobOf(j *schedule.Job) *job { return j.Owner.(*job) }

// replies receives the one answer to a request, or the news that there is none.
type replies interface {
	// mayRun reports whether a request may cause output now. If not, it is answered "busy".
	mayRun() bool
	// reserve reserves room for the answer to a request, and reports false if there is none.
	reserve(size int) bool
	// answer takes a whole JSON-RPC message. reading says that the reader calls, which
	// must not wait.
	answer(line []byte, reading bool)
	none(reading bool)
}

// Serve reads messages from in and answers on out until the input ends, the client stops
// reading, or ctx ends: these are clean ends, and it returns nil. It first answers running
// calls, for a bounded time. After the end of ctx a read of in may stay blocked, unless in
// has SetReadDeadline.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	r := s.connect(ctx, in, out)
	c := r.conn
	stack.Go(r.read)
	var err error
	drain := s.opts.bounds.grace
	select {
	case err = <-r.ended:
		end := time.Now().Add(s.opts.bounds.drain)
		c.wait(r.backlog.whenClosed(), ctx.Done(), s.opts.bounds.drain)
		c.pool.Close(false)
		c.dialogue.end()
		c.wait(c.pool.WhenEmpty(), ctx.Done(), time.Until(end))
		drain = max(drain, time.Until(end))
	case <-ctx.Done():
	case <-c.out.Broken:
		s.opts.Log.Info().Msg("the client no longer reads")
	}
	if d, ok := in.(interface{ SetReadDeadline(time.Time) error }); ok {
		d.SetReadDeadline(time.Now())
	}
	c.dismiss(c.pool.Close(true))
	c.dialogue.end()
	c.wait(c.pool.WhenEmpty(), nil, s.opts.bounds.grace)
	c.pool.Stop()
	c.wait(c.pool.WhenEmpty(), nil, s.opts.bounds.grace/4)
	c.out.Drain(s.opts.bounds.grace, drain)
	return err
}

// dismiss answers calls that will not start any more. It waits at most the grace for a
// client that does not read.
func (c *conn) dismiss(jobs []*schedule.Job) {
	r, done := answerTo(refusal.New(refusal.NotBegun)), make(chan struct{})
	for _, j := range jobs {
		c.dropped(jobOf(j), r)
	}
	go func() {
		defer close(done)
		for _, j := range jobs {
			c.settle(jobOf(j), r, false)
		}
	}()
	c.wait(done, nil, c.opts.bounds.grace)
}

// connect makes the reader of a client and its conn. It starts nothing.
func (s *Server) connect(ctx context.Context, in io.Reader, out io.Writer) *reader {
	c := &conn{
		Server:   s,
		ctx:      context.WithoutCancel(ctx),
		out:      &output{Outbox: wire.NewOutbox(out)},
		pool:     schedule.New(s.opts.bounds.Bounds),
		sessions: newSessions(s.opts.NewSession),
		launched: launched(s.opts.Getenv),
	}
	c.methods = methods{Server: s, out: c.out, peer: &c.peer}
	c.dialogue.conn, c.roots.conn = c, c
	r := &reader{conn: c, out: c.out, in: wire.NewLines(in), ended: make(chan error, 1)}
	r.handoff.takeOver = r.read
	c.out.Limit = s.opts.bounds.unsent
	c.out.Room, c.pool.Held = c.pool.Wake, c.out.Full
	c.pool.Run = func(scheduled *schedule.Job) bool {
		j := jobOf(scheduled)
		if j.asks && j.meta != nil {
			j.result = c.runAsking(j)
		} else {
			j.result = s.run(j.ctx, j.spec, j.call, j.args)
		}
		return j.result.Question != nil
	}
	c.pool.Answer = func(scheduled *schedule.Job) {
		j := jobOf(scheduled)
		r := j.result
		j.result = nil // it may be long, and the job stays in its lane's queue for a while
		c.settle(j, r, false)
	}
	c.pool.Ask = func(j *schedule.Job) { c.dialogue.ask(jobOf(j), jobOf(j).result) }
	c.pool.Late = func(j *schedule.Job, started bool) { c.settle(jobOf(j), lateAnswer(jobOf(j), started), false) }
	c.pool.Dropped = func(j *schedule.Job) { c.dropped(jobOf(j), lateAnswer(jobOf(j), false)) }
	return r
}

// wait waits until done or stop is closed, the client is gone, or the time is over.
func (c *conn) wait(done, stop <-chan struct{}, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
	case <-c.out.Broken:
	case <-stop:
	case <-timer.C:
	}
}

// cancel cancels the call that a notification names. It returns nil if there is none.
func (c *conn) cancel(m wire.Message) (j *job, begun bool) {
	id := wire.Member(m.Params.Raw, "requestId").Raw
	scheduled, begun := c.pool.CancelCall(wire.IDKey(id))
	if scheduled == nil {
		return nil, false
	}
	return jobOf(scheduled), begun
}

// cancelled ends the question of a call that was just cancelled.
func (c *conn) cancelled(j *job, begun, reading bool) {
	j.to.none(reading)
	c.dialogue.remove(reading, func(a *asked) bool { return a.job == j })
	if !begun {
		c.dropped(j, answerTo(refusal.New(refusal.Cancelled)))
	}
	c.opts.Log.Info().Str("id", string(j.id)).Msg("call cancelled")
}

// call queues one tools/call. It decodes the arguments, since the file decides the call's
// lane. With here, the reader offers to run the call; call then returns it if the reader
// must.
func (c *conn) call(m wire.Message, size int, to replies, here bool) (own *job) {
	tool, meta, err := m.Call()
	if err != nil {
		c.out.fail(to, m.ID, mcp.INVALID_PARAMS, "In tools/call, "+err.Error()+".")
		return nil
	}
	modern, ok := era(&meta)
	if !ok {
		c.methods.ask(m, to)
		return nil
	}
	sp, ok := c.specs[tool]
	if !ok {
		c.out.fail(to, m.ID, mcp.INVALID_PARAMS, c.unknownTool(tool))
		return nil
	}
	j := &job{id: bytes.Clone(m.ID), spec: sp, to: to, Job: schedule.Job{Size: size, At: time.Now()}}
	j.Owner = j
	if modern != nil {
		j.meta, j.roots = c.info, modern.Roots != nil
	}
	client := c.limits(&meta)
	session := c.session(&meta, client.Name)
	args, remark, refused := sp.Decode(m.Args)
	if refused != nil {
		c.refused(sp, nil, toolcall.Call{Session: session, ID: meta.CallID(j.id)}, 0, refused)
		c.settle(j, refused, true)
		return nil
	}
	j.args = args
	j.Key = wire.IDKey(j.id)
	j.thread = string(meta.Thread)
	j.call = toolcall.Call{Session: session, ID: meta.CallID(j.id), Client: client, Remark: remark}
	if modern != nil {
		j.asks, j.retry = asks(modern), retryOf(&m)
	} else if j.asks = asks(&c.peer.capabilities); j.asks {
		j.QuestionsLeft = maxQuestions
	}
	j.call.CanAsk = j.asks
	j.call.Clock = j
	if meta.Progress != nil {
		j.call.Progress = c.progress(j, bytes.Clone(meta.Progress))
	}
	j.ctx, j.Cancel = context.WithCancelCause(c.ctx)
	if !to.mayRun() {
		c.refuse(j, refusal.TooMuchOutput)
		return nil
	}
	if c.roots.hold(j, m.Inputs) {
		return nil
	}
	c.parseFile(j) // by the folders as they are now
	why, mine := c.pool.Submit(&j.Job, here)
	switch {
	case mine:
		return j
	case why != "":
		c.refuse(j, why)
	}
	return nil
}

// parseFile parses the file arguments of a call, which decide the call's lanes.
func (c *conn) parseFile(j *job) {
	if j.Search = toolcall.Searches(j.spec.Tool.Name); j.Search {
		j.Lane = "search " + j.Key // of its own
		return
	}
	j.call.File = c.opts.ParseFile(j.args.Target())
	j.Lane, j.Others = j.call.File.Key, nil
	if many, ok := j.args.(tools.ManyTargets); ok {
		keys := []string{j.Lane}
		for _, raw := range many.Targets() {
			keys = append(keys, c.opts.ParseFile(raw).Key)
		}
		j.SetLanes(keys)
	}
}

// rerun runs a parked call again.
func (c *conn) rerun(j *job, prepare func()) {
	c.pool.Resume(&j.Job, func() {
		prepare()
		j.ctx, j.Cancel = context.WithCancelCause(c.ctx)
	})
}

// refuse answers a call that the pool refused.
func (c *conn) refuse(j *job, why refusal.Busy) {
	j.Cancel(nil)
	r := answerTo(refusal.New(refusal.NotAccepted, why))
	c.dropped(j, r)
	c.settle(j, r, true)
}

// dropped reports a call that was accepted and will never run.
func (c *conn) dropped(j *job, r *toolcall.Result) {
	c.refused(j.spec, j.args, j.call, time.Since(j.At), r)
	j.args = nil // they may be long, and the job stays in its lane's queue for a while
}

// era returns the client's capabilities if a call is of the revision 2026-07-28, and nil if it
// is of an earlier one. ok is false if what the request says about its revision must be
// refused. (To parse the capabilities in each call takes 2.5 microseconds.)
func era(m *wire.CallMeta) (modern *mcp.ClientCapabilities, ok bool) {
	switch {
	case !mcp.IsModernProtocol(m.Version):
		return nil, true
	case !mcp.IsValidProtocolVersion(m.Version) || m.Capabilities == nil:
		return nil, false
	}
	err := json.Unmarshal(m.Capabilities, &modern)
	return modern, err == nil && modern != nil
}

// limits returns the client's bounds: from the client information in the request, else
// from the handshake.
func (c *conn) limits(m *wire.CallMeta) toolcall.ClientLimits {
	if m.ClientInfo == nil || m.ClientInfo[0] != '{' {
		return c.peer.limits
	}
	name := wire.Member(m.ClientInfo, "name")
	if name.Kind != wire.String {
		return toolcall.ClientLimits{}
	}
	return c.limitsFor(name.Text())
}

// run runs one tool. It turns a panic into an answer.
func (s *Server) run(ctx context.Context, sp *arguments.Spec, call toolcall.Call, args tools.Args) (result *toolcall.Result) {
	defer func() {
		if r := recover(); r != nil {
			s.opts.Log.Error().Str("tool", sp.Tool.Name).Str("id", call.ID).Interface("panic", r).Bytes("stack", debug.Stack()).Msg("a tool failed inside")
			result = panicAnswer(sp)
		}
	}()
	if result = sp.Tool.Run(ctx, call, args); result == nil {
		result = panicAnswer(sp)
	}
	return result
}

func panicAnswer(sp *arguments.Spec) *toolcall.Result {
	if !sp.Tool.ReadOnly {
		return answerTo(refusal.New(refusal.BugInChange, sp.Tool.Name))
	}
	return answerTo(refusal.New(refusal.Bug, sp.Tool.Name))
}

// answerTo returns the answer to a call that the server refuses: such refusals have one
// code in every tool.
func answerTo(r *refusal.Refusal) *toolcall.Result { return toolcall.Refuse("", r) }

// lateAnswer returns the answer to a call that was given up at the deadline.
func lateAnswer(j *job, begun bool) *toolcall.Result {
	switch {
	case !begun:
		return answerTo(refusal.New(refusal.LateToBegin))
	case j.spec.Tool.ReadOnly:
		return answerTo(refusal.New(refusal.Late))
	}
	return answerTo(refusal.New(refusal.LateChange))
}

// maxAnswer bounds an answer, in bytes.
const maxAnswer = 8 << 20

// settle encodes and sends the answer to a job.
func (c *conn) settle(j *job, r *toolcall.Result, reading bool) {
	line := c.encode(j, r)
	if len(line) > maxAnswer {
		size := len(line)
		c.out.Recycle(line)
		r = answerTo(refusal.New(refusal.LongAnswer, size, maxAnswer))
		line = c.encode(j, r)
	}
	if !j.to.reserve(len(line)) {
		c.out.Recycle(line)
		r = answerTo(refusal.New(refusal.NoRoom))
		if !j.spec.Tool.ReadOnly {
			r = answerTo(refusal.New(refusal.NoRoomChanged))
		}
		line = c.encode(j, r)
		j.to.reserve(len(line)) // the new answer is small
	}
	c.log(j, r, len(line))
	if !j.putsQuestion(r) {
		c.opts.Sent(j.call, r)
	}
	j.to.answer(line, reading)
}

func (c *conn) encode(j *job, r *toolcall.Result) []byte {
	return wire.AppendAnswer(c.out.Buffer(), j.id, func(b []byte) []byte {
		if j.putsQuestion(r) {
			params := func(b []byte) []byte { return appendQuestion(b, r.Question) }
			return appendInput(b, j.meta, inputConsent, string(mcp.MethodElicitationCreate), j.state, params)
		}
		return appendResult(b, r, j.meta)
	})
}

// log logs a call's name and outcome, never its content.
func (c *conn) log(j *job, r *toolcall.Result, size int) {
	e := c.opts.Log.Info()
	if !e.Enabled() {
		return
	}
	if r.Facts.Error != "" && !j.putsQuestion(r) {
		e = e.Str("error", r.Facts.Error)
	}
	said := "call answered"
	if j.putsQuestion(r) {
		said = "the user is asked"
	}
	e.Str("tool", j.spec.Tool.Name).Str("id", string(j.id)).Dur("took", time.Since(j.At)).Int("bytes", size).Msg(said)
}

// progress returns the function by which a tool reports progress. Reports go out before
// the answer, rise, and are limited in number.
func (c *conn) progress(j *job, token []byte) func(done, total int64, what string) {
	const apart = 100 * time.Millisecond
	var mu sync.Mutex
	var last time.Time
	most := int64(-1)
	return func(done, total int64, what string) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if done <= most || now.Sub(last) < apart && done != total {
			return
		}
		most, last = done, now
		c.pool.IfLive(&j.Job, func() { c.out.Offer(appendProgress(nil, token, done, total, what)) })
	}
}

func appendProgress(b, token []byte, done, total int64, what string) []byte {
	b = append(b, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`...)
	b = append(b, token...)
	b = strconv.AppendInt(append(b, `,"progress":`...), done, 10)
	if total > 0 {
		b = strconv.AppendInt(append(b, `,"total":`...), total, 10)
	}
	if what != "" {
		b = wire.AppendString(append(b, `,"message":`...), what)
	}
	return append(b, "}}"...)
}
