package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/tools"
)

// Why a call's context ended, for context.Cause. The tools find their words by what
// these are.
var (
	errCancelled = fmt.Errorf("the client gave the call up: %w", context.Canceled)
	errDeadline  = fmt.Errorf("the call took too long: %w", context.DeadlineExceeded)
	errStopping  = tools.ErrStopping
)

// bounds are the limits of one connection.
type bounds struct {
	width    int           // calls that run at one time
	queued   int           // calls that wait
	bytes    int           // of all calls that wait or run
	stuck    int           // calls that were given up, but have not returned
	slow     time.Duration // a call that runs longer no longer counts in width
	deadline time.Duration // every call is answered by then
	notice   time.Duration // so long before, its context ends
	tick     time.Duration // how often all that is looked at
	grace    time.Duration // for running calls when the server is told to stop
	drain    time.Duration // for answers at the end of input
	roots    time.Duration // for the client to name its folders
}

func defaultBounds() bounds {
	return bounds{
		width:    8,
		queued:   1000,
		bytes:    256 << 20,
		stuck:    32,
		slow:     time.Second,
		deadline: 29 * time.Second,
		notice:   time.Second,
		tick:     250 * time.Millisecond,
		grace:    3 * time.Second,
		drain:    30 * time.Second,
		roots:    2 * time.Second,
	}
}

// A job is one tool call on its way. The fields below the blank line belong to
// the pool, under its lock.
type job struct {
	id     []byte
	key    string // of the id
	spec   *spec
	args   tools.Args
	call   tools.Call
	meta   []byte // serverInfo for the answer, where its revision wants it
	lane   string // calls of one lane run one after the other
	size   int
	to     replies
	ctx    context.Context
	cancel context.CancelCauseFunc
	at     time.Time

	asks   bool   // its client can put a question to the user
	thread string // the client's name of its conversation
	retry  retry  // what it brings along of an earlier try (from 2026-07-28)
	state  string // the requestState of the question that its answer puts

	questionsLeft int // how many more questions it may be parked for

	pool    *pool
	phase   phase
	rests   time.Time     // since when its clock rests; zero while it runs
	spared  time.Duration // for how long it has rested before
	settled bool          // answered, or never to be answered
	warned  bool          // its context has ended for the deadline
	started time.Time
}

// phase says where a job is.
type phase int

const (
	isWaiting phase = iota
	isRunning       // counted against width
	isResting       // waits for a program of the user's; as many as width do not count there
	isSlow          // runs for long, as on a network file system that hangs, and no longer counts there
	isStuck         // given up, but has not returned
	isParked        // waits for the user or the client, outside of its lane; the deadline does not run
	isOver
)

// pool runs calls: those of one lane in order, others side by side, and none
// without an end. It never blocks the one who submits.
type pool struct {
	bounds
	run    func(*job) *tools.Result
	answer func(*job, *tools.Result)
	late   func(*job, bool) *tools.Result // the answer to a call given up; true when it had started
	unmade func(*job, *tools.Result)      // is told of the answer to a call that will never start
	ask    func(*job, *tools.Result)      // sees to the question of a job that was parked; resume or end follows

	mu        sync.Mutex
	lanes     map[string][]*job // a lane is there while one of its jobs is ready or runs; these wait behind it
	ready     []*job
	live      map[*job]struct{} // waiting, running, slow and parked
	byID      map[string]*job
	waiting   int
	liveBytes int // bytes
	count     [isOver]int
	idle      []chan *job
	ticking   bool
	looked    time.Time // when watch was last here, or began
	closed    bool
	empty     chan struct{} // closed when nothing lives any more; nil while nobody waits for it
}

func newPool(b bounds) *pool {
	return &pool{
		bounds: b,
		lanes:  make(map[string][]*job),
		live:   make(map[*job]struct{}),
		byID:   make(map[string]*job),
	}
}

// refusal says why a call is not taken now; empty when it is.
type refusal string

const (
	tooMany  refusal = "Too many calls are waiting already"
	tooStuck refusal = "Too many calls hang in the file system"
	stopping refusal = "The server is stopping"

	tooMuchOutput refusal = "Too much output waits for the rest of an array of messages"
)

// submit takes a job, or refuses it at once. With here, the caller offers to
// run the job itself; where nothing stands before it, mine tells it to, by
// runHere.
func (p *pool) submit(j *job, here bool) (why refusal, mine bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if why = p.register(j); why != "" {
		return why, false
	}
	p.waiting++
	return "", p.enqueue(j, here)
}

// park takes a job that is to wait for resume, or refuses it at once.
func (p *pool) park(j *job) (why refusal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if why = p.register(j); why == "" {
		j.phase = isParked
		p.count[isParked]++
	}
	return why
}

// register puts a job into the books of what lives.
func (p *pool) register(j *job) (why refusal) {
	switch {
	case p.closed:
		return stopping
	case p.count[isStuck] >= p.stuck:
		return tooStuck
	case p.waiting+p.count[isParked] >= p.queued, p.liveBytes+j.size > p.bytes:
		return tooMany
	}
	j.pool = p
	p.live[j] = struct{}{}
	p.byID[j.key] = j
	p.liveBytes += j.size
	if !p.ticking {
		p.ticking, p.looked = true, time.Now()
		time.AfterFunc(p.tick, p.watch)
	}
	return ""
}

// enqueue puts a waiting job at the end of its lane, and tells whether the
// caller, who offers it with here, is to run it.
func (p *pool) enqueue(j *job, here bool) (mine bool) {
	if behind, taken := p.lanes[j.lane]; taken {
		p.lanes[j.lane] = append(behind, j)
		return false
	}
	p.lanes[j.lane] = nil
	if here && len(p.ready) == 0 && p.count[isRunning] < p.width {
		p.start(j)
		return true
	}
	p.ready = append(p.ready, j)
	p.dispatch()
	return false
}

// start counts a job as running.
func (p *pool) start(j *job) {
	p.waiting--
	p.count[isRunning]++
	j.phase, j.started = isRunning, time.Now()
}

// runHere runs a job that submit has left to its caller.
func (p *pool) runHere(j *job) {
	p.finish(j, p.run(j))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dispatch()
}

// dispatch hands ready jobs to workers, as many as may run.
func (p *pool) dispatch() {
	for len(p.ready) > 0 && p.count[isRunning] < p.width {
		j := p.take()
		if j == nil {
			return
		}
		if n := len(p.idle); n > 0 {
			worker := p.idle[n-1]
			p.idle = p.idle[:n-1]
			worker <- j
			continue
		}
		go p.work(j)
	}
}

// take removes the first ready job that still wants to run and counts it as
// running. Jobs that were settled while they waited make room for the next of
// their lane.
func (p *pool) take() *job {
	for len(p.ready) > 0 {
		j := p.ready[0]
		p.ready[0] = nil
		p.ready = p.ready[1:]
		if j.settled {
			p.freeLane(j)
			continue
		}
		p.start(j)
		return j
	}
	return nil
}

// work is one worker: it runs jobs until there are none, and then waits for
// the next in the list of idle ones.
func (p *pool) work(j *job) {
	mine := make(chan *job, 1)
	for j != nil {
		p.finish(j, p.run(j))
		if j = p.next(mine); j == nil {
			j = <-mine
		}
	}
}

// next returns a worker's next job. Where there is none, the worker is put
// among the idle.
func (p *pool) next(worker chan *job) *job {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.count[isRunning] < p.width {
		if j := p.take(); j != nil {
			return j
		}
	}
	if p.closed {
		worker <- nil
	} else {
		p.idle = append(p.idle, worker)
	}
	return nil
}

// finish answers a job that has run, and then makes way for what waits behind
// it: the next call on a file begins after the answer to the one before.
// A job whose result is a question makes way, too, and is parked.
func (p *pool) finish(j *job, result *tools.Result) {
	if result.Ask != nil && p.pause(j) {
		p.ask(j, result)
		return
	}
	p.mu.Lock()
	tell := !j.settled
	j.settled = true
	p.mu.Unlock()
	if tell {
		p.answer(j, result)
	}
	j.cancel(nil)

	p.mu.Lock()
	defer p.mu.Unlock()
	p.count[j.phase]--
	p.unregister(j)
	p.freeLane(j)
}

// pause parks a job that has run, where it may be parked once more.
func (p *pool) pause(j *job) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j.settled || j.questionsLeft == 0 || p.closed {
		return false
	}
	j.questionsLeft--
	j.cancel(nil)
	p.count[j.phase]--
	p.freeLane(j)
	j.phase = isParked
	p.count[isParked]++
	return true
}

// resume has a parked job run as if it came now, prepared by prepare. It does
// nothing where the job is no longer parked.
func (p *pool) resume(j *job, prepare func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j.phase != isParked {
		return
	}
	prepare()
	p.count[isParked]--
	p.waiting++
	j.phase, j.at, j.spared, j.warned = isWaiting, time.Now(), 0, false
	p.enqueue(j, false)
}

// end settles a parked job, which answer then answers. It does nothing where
// the job is no longer parked.
func (p *pool) end(j *job, answer func()) {
	p.mu.Lock()
	parked := j.phase == isParked
	if parked {
		j.settled, j.phase = true, isOver
		p.count[isParked]--
	}
	p.mu.Unlock()
	if !parked {
		return
	}
	answer()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unregister(j)
}

// parked tells whether a job still waits for resume or end.
func (p *pool) parked(j *job) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return j.phase == isParked
}

// freeLane frees the lane for the job behind.
func (p *pool) freeLane(j *job) {
	j.phase = isOver
	behind := p.lanes[j.lane]
	if len(behind) == 0 {
		delete(p.lanes, j.lane)
		return
	}
	p.lanes[j.lane] = behind[1:]
	p.ready = append(p.ready, behind[0])
}

// unregister drops a job from the books of what lives.
func (p *pool) unregister(j *job) {
	if _, ok := p.live[j]; ok {
		delete(p.live, j)
		p.liveBytes -= j.size
	}
	if p.byID[j.key] == j {
		delete(p.byID, j.key)
	}
	if p.empty != nil && len(p.live) == 0 {
		close(p.empty)
		p.empty = nil
	}
}

// drop settles a job that waits or is parked: it will never run.
func (p *pool) drop(j *job) {
	j.settled = true
	if j.phase == isParked {
		j.phase = isOver
		p.count[isParked]--
	} else {
		p.waiting--
	}
	p.unregister(j)
}

// cancel settles a job without an answer, wherever it is. It returns the job,
// or nil where there is none, and whether it has begun.
func (p *pool) cancel(key string) (j *job, begun bool) {
	p.mu.Lock()
	j = p.byID[key]
	if j == nil || j.settled {
		p.mu.Unlock()
		return nil, false
	}
	if begun = j.phase != isWaiting && j.phase != isParked; !begun {
		p.drop(j)
	} else {
		j.settled = true
		delete(p.byID, key)
	}
	end := j.cancel
	p.mu.Unlock()
	end(errCancelled)
	j.to.none()
	return j, begun
}

// maxLateness is how much later than due watch has to come for that to mean that this
// process stood still, by a signal of its terminal or with a paused container.
const maxLateness = 2 * time.Second

// watch looks at all live jobs: slow ones make room for others, late ones are
// answered for. Time in which this process stood still counts for none.
func (p *pool) watch() {
	now := time.Now()
	var warn []context.CancelCauseFunc
	var late, begun []*job
	p.mu.Lock()
	if stood := now.Sub(p.looked) - p.tick; stood > maxLateness {
		for j := range p.live {
			j.spare(min(stood, now.Sub(j.at)))
		}
	}
	p.looked = now
	for j := range p.live {
		if j.phase == isParked || j.phase == isOver { // an ended one lives until it is answered
			continue
		}
		age := j.age(now)
		if j.phase == isRunning && now.Sub(j.started) >= p.slow && p.count[isSlow] < p.stuck {
			p.move(j, isSlow)
		}
		if age >= p.deadline-p.notice && !j.warned {
			j.warned = true
			warn = append(warn, j.cancel)
		}
		if age < p.deadline {
			continue
		}
		if j.phase == isWaiting {
			p.drop(j)
			late = append(late, j)
			continue
		}
		if !j.settled {
			j.settled = true
			begun = append(begun, j)
		}
		p.move(j, isStuck)
		p.unregister(j)
	}
	p.dispatch()
	p.ticking = len(p.live) > 0
	if p.ticking {
		time.AfterFunc(p.tick, p.watch)
	}
	p.mu.Unlock()

	for _, end := range warn {
		end(errDeadline)
	}
	unmade := make([]*tools.Result, len(late))
	for i, j := range late {
		unmade[i] = p.late(j, false)
		p.answer(j, unmade[i])
	}
	for _, j := range begun {
		p.answer(j, p.late(j, true))
	}
	for i, j := range late { // when all have their answers: telling may take its time
		p.unmade(j, unmade[i])
	}
}

// age is how long a job has been on its way, without what its clock has rested.
func (j *job) age(now time.Time) time.Duration {
	if !j.rests.IsZero() {
		now = j.rests
	}
	return now.Sub(j.at) - j.spared
}

// spare takes a time off a job's age, unless its clock rests anyway.
func (j *job) spare(d time.Duration) {
	if j.rests.IsZero() {
		j.spared += d
	}
}

// Rest implements tools.Clock. What the call waits for is none of the server's work,
// so that another one may take its place meanwhile; it goes on without waiting for
// one, since what is left of it is short.
func (j *job) Rest() (resume func()) {
	p := j.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	j.rests = time.Now()
	if j.phase == isRunning && p.count[isResting] < p.width {
		p.move(j, isResting)
		p.dispatch()
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		j.spared += time.Since(j.rests)
		j.rests = time.Time{}
		if j.phase == isResting {
			p.move(j, isRunning)
		}
	}
}

func (p *pool) move(j *job, to phase) {
	p.count[j.phase]--
	j.phase = to
	p.count[to]++
}

// close takes no more jobs, and parks none for a question. With drop, those
// that wait or are parked are returned, settled: the caller answers them.
func (p *pool) close(drop bool) (dropped []*job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if drop {
		for j := range p.live {
			if j.phase == isWaiting || j.phase == isParked {
				p.drop(j)
				dropped = append(dropped, j)
			}
		}
	}
	for _, worker := range p.idle {
		worker <- nil
	}
	p.idle = nil
	return dropped
}

// whenEmpty returns a channel that is closed once no job lives.
func (p *pool) whenEmpty() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.empty == nil {
		p.empty = make(chan struct{})
	}
	empty := p.empty
	if len(p.live) == 0 {
		close(empty)
		p.empty = nil
	}
	return empty
}

// stop ends the contexts of all that still lives.
func (p *pool) stop() {
	p.mu.Lock()
	var all []context.CancelCauseFunc
	for j := range p.live {
		all = append(all, j.cancel)
	}
	p.mu.Unlock()
	for _, end := range all {
		end(errStopping)
	}
}

// ifLive calls f, under the lock, where the job may still say something.
func (p *pool) ifLive(j *job, f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !j.settled {
		f()
	}
}
