package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/server/arguments"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// Causes of the end of a call's context. The tools word their answers by them.
var (
	errCancelled = fmt.Errorf("the client gave the call up: %w", context.Canceled)
	errDeadline  = fmt.Errorf("the call took too long: %w", context.DeadlineExceeded)
	errStopping  = refusal.ErrStopping
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

// A job is one tool call. The fields below the blank line belong to the pool, under its
// lock.
type job struct {
	id     []byte
	key    string // of the id
	spec   *arguments.Spec
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
	retry  retry  // what it brings from an earlier try (since 2026-07-28)
	state  string // the requestState of the question in its answer

	questionsLeft int // how many more questions it may ask

	pool    *pool
	phase   phase
	rests   time.Time     // start of its clock's rest; zero while it runs
	spared  time.Duration // total of its earlier rests
	settled bool          // answered, or never to be answered
	warned  bool          // its context ended because of the deadline
	started time.Time
}

// phase is the state of a job.
type phase int

const (
	isWaiting phase = iota
	isRunning       // counted against width
	isResting       // waits for a user's program; up to width of these do not count
	isSlow          // runs long, as on a hanging network file system, and no longer counts
	isStuck         // given up, but has not returned
	isParked        // waits for the user or the client, outside of its lane; the deadline does not run
	isOver
)

// pool runs calls: those of one lane in order, others at the same time, each within a
// deadline. submit never blocks.
type pool struct {
	bounds
	run    func(*job) *tools.Result
	answer func(*job, *tools.Result)
	late   func(*job, bool) *tools.Result // returns the answer to a call that was given up; true if it had started
	unmade func(*job, *tools.Result)      // is called with the answer to a call that will never start
	ask    func(*job, *tools.Result)      // asks the question of a parked job; resume or end follows

	mu        sync.Mutex
	lanes     map[string][]*job // a lane exists while one of its jobs is ready or runs; the others wait here
	ready     []*job
	live      map[*job]struct{} // waiting, running, slow and parked
	byID      map[string]*job
	waiting   int
	liveBytes int // bytes
	count     [isOver]int
	idle      []chan *job
	ticking   bool
	looked    time.Time // the last run of watch, or the start
	closed    bool
	empty     chan struct{} // closed when no job is live; nil until a goroutine waits for that
}

func newPool(b bounds) *pool {
	return &pool{
		bounds: b,
		lanes:  make(map[string][]*job),
		live:   make(map[*job]struct{}),
		byID:   make(map[string]*job),
	}
}

// submit takes a job, or refuses it at once. With here, the caller offers to run the job
// itself; mine says that it must, by runHere.
func (p *pool) submit(j *job, here bool) (why refusal.Busy, mine bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if why = p.register(j); why != "" {
		return why, false
	}
	p.waiting++
	return "", p.enqueue(j, here)
}

// park takes a job that waits for resume, or refuses it at once.
func (p *pool) park(j *job) (why refusal.Busy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if why = p.register(j); why == "" {
		j.phase = isParked
		p.count[isParked]++
	}
	return why
}

// register adds a job to the live ones.
func (p *pool) register(j *job) (why refusal.Busy) {
	switch {
	case p.closed:
		return refusal.Stopping
	case p.count[isStuck] >= p.stuck:
		return refusal.TooManyStuck
	case p.waiting+p.count[isParked] >= p.queued, p.liveBytes+j.size > p.bytes:
		return refusal.TooManyCalls
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

// enqueue puts a job at the end of its lane. With here, the caller offers to run it; mine
// says that it must.
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

// runHere runs a job that submit left to its caller.
func (p *pool) runHere(j *job) {
	p.finish(j, p.run(j))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dispatch()
}

// dispatch gives ready jobs to workers, as many as may run.
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

// take removes the first ready job that is not settled and counts it as running. A job
// that was settled while it waited frees its lane for the next one.
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

// next returns a worker's next job. If there is none, the worker becomes idle.
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

// finish answers a job that has run, and then frees its lane: the next call on a file
// begins after the answer to the previous one. A job that ends in a question frees its
// lane, too, and is parked.
func (p *pool) finish(j *job, result *tools.Result) {
	if result.Ask != nil && p.pause(j) {
		p.ask(j, result)
		return
	}
	p.mu.Lock()
	live := !j.settled
	j.settled = true
	p.mu.Unlock()
	if live {
		p.answer(j, result)
	}
	j.cancel(nil)

	p.mu.Lock()
	defer p.mu.Unlock()
	p.count[j.phase]--
	p.unregister(j)
	p.freeLane(j)
}

// pause parks a job that has run, if it may ask one more question.
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

// resume runs a parked job again, prepared by prepare. It does nothing if the job is no
// longer parked.
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

// end settles a parked job, and then calls answer. It does nothing if the job is no longer
// parked.
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

// parked reports whether a job still waits for resume or end.
func (p *pool) parked(j *job) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return j.phase == isParked
}

// freeLane frees the lane for the next job.
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

// unregister removes a job from the live ones.
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

// cancel settles a job without an answer, in any phase. It returns the job, or nil if
// there is none, and whether it has started.
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

// maxLateness is the delay of watch that shows that this process was stopped, by a signal
// of its terminal or with a paused container.
const maxLateness = 2 * time.Second

// watch checks all live jobs: slow ones no longer count, late ones are answered. Time in
// which this process was stopped does not count.
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
		if j.phase == isParked || j.phase == isOver { // a finished one stays live until it is answered
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
	for i, j := range late { // after all answers: logging may take a while
		p.unmade(j, unmade[i])
	}
}

// age returns how long a job has been live, without its rests.
func (j *job) age(now time.Time) time.Duration {
	if !j.rests.IsZero() {
		now = j.rests
	}
	return now.Sub(j.at) - j.spared
}

// spare subtracts a time from a job's age, unless its clock rests anyway.
func (j *job) spare(d time.Duration) {
	if j.rests.IsZero() {
		j.spared += d
	}
}

// Rest implements tools.Clock. While the call waits for a user's program, another call may
// run in its place. It then goes on without waiting for a place: the rest of it is short.
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

// close takes no more jobs, and parks none for a question. With drop, it settles waiting
// and parked jobs and returns them; the caller answers them.
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

// whenEmpty returns a channel that is closed when no job is live.
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

// stop ends the contexts of all live jobs.
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

// ifLive calls f, under the lock, if the job is not settled.
func (p *pool) ifLive(j *job, f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !j.settled {
		f()
	}
}
