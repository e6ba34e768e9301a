// Package schedule decides when each call runs: calls of one lane in order, others at the
// same time, each answered within a deadline.
//
// It promises that Submit never blocks; that a call is answered once, also when it hangs;
// that the next call of a lane starts after the answer to the previous one; and that
// waiting, hanging and parked calls are bounded in number and bytes. It does not know what
// a call does, nor the protocol.
package schedule

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/refusal"
)

// Causes of the end of a call's context. The tools word their answers by them.
var (
	ErrCancelled = fmt.Errorf("the client gave the call up: %w", context.Canceled)
	ErrDeadline  = fmt.Errorf("the call took too long: %w", context.DeadlineExceeded)
)

// Bounds are the limits of one connection.
type Bounds struct {
	Width    int           // calls that run at one time
	Searches int           // searches that run at one time, beside those
	Queued   int           // calls that wait
	Bytes    int           // of all calls that wait or run
	Stuck    int           // calls that were given up, but have not returned
	Slow     time.Duration // a call that runs longer no longer counts in Width
	Deadline time.Duration // every call is answered by then
	Notice   time.Duration // so long before, its context ends
	Tick     time.Duration // how often all that is looked at
}

// DefaultBounds returns the usual limits.
func DefaultBounds() Bounds {
	return Bounds{
		Width:    8,
		Searches: 2,
		Queued:   1000,
		Bytes:    256 << 20,
		Stuck:    32,
		Slow:     time.Second,
		Deadline: 29 * time.Second,
		Notice:   time.Second,
		Tick:     250 * time.Millisecond,
	}
}

// A Job is one call. The fields below the blank line belong to the pool, under its lock.
type Job struct {
	Owner         any      // the call itself
	Key           string   // of the call's id
	Lane          string   // calls of one lane run one after the other
	Others        []string // further lanes of the call, see SetLanes
	Search        bool     // it runs beside the other calls, and takes no place from them
	Size          int      // bytes that the call holds
	At            time.Time
	Cancel        context.CancelCauseFunc
	QuestionsLeft int // how many more questions it may ask

	pool    *Pool
	ahead   int // the lanes in which other jobs come first
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

// Pool runs calls: those of one lane in order, others at the same time, each within a
// deadline. submit never blocks.
type Pool struct {
	Bounds
	Run     func(*Job) (asks bool)     // runs a call; asks says that it ended in a question
	Answer  func(*Job)                 // answers a call that has run
	Ask     func(*Job)                 // asks the question of a parked call; Resume or End follows
	Late    func(j *Job, started bool) // answers a call that was given up
	Dropped func(*Job)                 // reports a call that was given up before it started
	Held    func() bool                // reports that no call may start now; Wake follows

	mu        sync.Mutex
	live      registry
	lanes     lanes
	ready     []*Job      // the first of its lane each, without searches
	searches  []*Job      // the ready ones that are searches
	searching int         // searches that run and are not stuck
	count     [isOver]int // jobs in each phase
	idle      []chan *Job // idle workers
	ticking   bool
	looked    time.Time // the last run of watch, or the start
	closed    bool
}

// New makes a pool without its functions. Nothing holds its calls.
func New(b Bounds) *Pool {
	return &Pool{
		Bounds: b,
		Held:   func() bool { return false },
		live:   registry{jobs: make(map[*Job]struct{}), byKey: make(map[string]*Job)},
		lanes:  lanes{behind: make(map[string][]*Job), followed: make(map[string]chan struct{})},
	}
}

// Submit takes a job, or refuses it at once. With here, the caller offers to run the job
// itself; mine says that it must, by RunHere.
func (p *Pool) Submit(j *Job, here bool) (why refusal.Busy, mine bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if why = p.register(j); why != "" {
		return why, false
	}
	return "", p.enqueue(j, here)
}

// Park takes a job that waits for Resume, or refuses it at once.
func (p *Pool) Park(j *Job) (why refusal.Busy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if why = p.register(j); why == "" {
		p.move(j, isParked)
	}
	return why
}

// register adds a job to the live ones.
func (p *Pool) register(j *Job) (why refusal.Busy) {
	switch {
	case p.closed:
		return refusal.Stopping
	case p.count[isStuck] >= p.Stuck:
		return refusal.TooManyStuck
	case p.count[isWaiting]+p.count[isParked] >= p.Queued, p.live.bytes+j.Size > p.Bytes:
		return refusal.TooManyCalls
	}
	j.pool = p
	p.live.add(j)
	p.add(j, 1)
	if !p.ticking {
		p.ticking, p.looked = true, time.Now()
		time.AfterFunc(p.Tick, p.watch)
	}
	return ""
}

// enqueue puts a job at the end of its lane. With here, the caller offers to run the job
// itself. If mine is true, the caller has to run it.
func (p *Pool) enqueue(j *Job, here bool) (mine bool) {
	if !p.lanes.join(j) {
		return false
	}
	if here && !j.Search && len(p.ready) == 0 && p.hasPlace() {
		p.start(j)
		return true
	}
	p.makeReady(j)
	p.dispatch()
	return false
}

// hasPlace reports whether one more call that is no search may run.
func (p *Pool) hasPlace() bool { return p.count[isRunning] < p.Width && !p.Held() }

// Wake starts the calls that Held kept from starting.
func (p *Pool) Wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dispatch()
}

// makeReady puts a job that no other job of its lane holds up at the end of its queue.
func (p *Pool) makeReady(j *Job) {
	if j.Search {
		p.searches = append(p.searches, j)
	} else {
		p.ready = append(p.ready, j)
	}
}

// start counts a job as running. A search counts as slow from its beginning: it takes no
// place from other calls.
func (p *Pool) start(j *Job) {
	j.started = time.Now()
	if j.Search {
		p.move(j, isSlow)
	} else {
		p.move(j, isRunning)
	}
}

// RunHere runs a job that Submit left to its caller.
func (p *Pool) RunHere(j *Job) {
	p.finish(j, p.Run(j))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dispatch()
}

// dispatch gives ready jobs to workers, as many as may run.
func (p *Pool) dispatch() {
	for {
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

// take removes the first ready job that is not settled and for which there is a place, and
// counts it as running.
func (p *Pool) take() *Job {
	for len(p.ready) > 0 && p.hasPlace() {
		if j := p.pop(&p.ready); j != nil {
			return j
		}
	}
	for len(p.searches) > 0 && p.searching < p.Searches && !p.Held() {
		if j := p.pop(&p.searches); j != nil {
			return j
		}
	}
	return nil
}

// pop removes the first job of a queue and counts it as running. A job that was settled
// while it waited frees its lane for the next one; pop returns nil then.
func (p *Pool) pop(queue *[]*Job) *Job {
	j := (*queue)[0]
	(*queue)[0] = nil
	*queue = (*queue)[1:]
	if j.settled {
		p.freeLane(j)
		return nil
	}
	p.start(j)
	return j
}

// work is one worker: it runs jobs until there are none, and then waits for
// the next in the list of idle ones.
func (p *Pool) work(j *Job) {
	mine := make(chan *Job, 1)
	for j != nil {
		p.finish(j, p.Run(j))
		if j = p.next(mine); j == nil {
			j = <-mine
		}
	}
}

// next returns a worker's next job. If there is none, the worker becomes idle.
func (p *Pool) next(worker chan *Job) *Job {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j := p.take(); j != nil {
		return j
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
func (p *Pool) finish(j *Job, asks bool) {
	if asks && p.pause(j) {
		p.Ask(j)
		return
	}
	p.mu.Lock()
	live := !j.settled
	j.settled = true
	p.mu.Unlock()
	if live {
		p.Answer(j)
	}
	j.Cancel(nil)

	p.mu.Lock()
	defer p.mu.Unlock()
	p.freeLane(j)
	p.live.remove(j)
}

// pause parks a job that has run, if it may ask one more question.
func (p *Pool) pause(j *Job) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j.settled || j.QuestionsLeft == 0 || p.closed {
		return false
	}
	j.QuestionsLeft--
	j.Cancel(nil)
	p.freeLane(j)
	p.move(j, isParked)
	return true
}

// Resume runs a parked job again, prepared by prepare. It does nothing if the job is no
// longer parked.
func (p *Pool) Resume(j *Job, prepare func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j.phase != isParked {
		return
	}
	prepare()
	p.move(j, isWaiting)
	j.At, j.spared, j.warned = time.Now(), 0, false
	p.enqueue(j, false)
}

// End settles a parked job, and then calls answer. It does nothing if the job is no longer
// parked.
func (p *Pool) End(j *Job, answer func()) {
	p.mu.Lock()
	parked := j.phase == isParked
	if parked {
		j.settled = true
		p.move(j, isOver)
	}
	p.mu.Unlock()
	if !parked {
		return
	}
	answer()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live.remove(j)
}

// Parked reports whether a job still waits for Resume or End.
func (p *Pool) Parked(j *Job) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return j.phase == isParked
}

// freeLane ends a job, and frees its lanes for the next ones.
func (p *Pool) freeLane(j *Job) {
	p.move(j, isOver)
	p.lanes.leave(j, p.makeReady)
}

// drop settles a job that waits or is parked: it will never run.
func (p *Pool) drop(j *Job) {
	j.settled = true
	p.move(j, isOver)
	p.live.remove(j)
}

// CancelCall settles a job without an answer, in any phase. It returns the job, or nil if
// there is none, and whether it has started.
func (p *Pool) CancelCall(key string) (j *Job, begun bool) {
	p.mu.Lock()
	j = p.live.byKey[key]
	if j == nil || j.settled {
		p.mu.Unlock()
		return nil, false
	}
	if begun = j.phase != isWaiting && j.phase != isParked; !begun {
		p.drop(j)
	} else {
		j.settled = true
		delete(p.live.byKey, key)
	}
	end := j.Cancel
	p.mu.Unlock()
	end(ErrCancelled)
	return j, begun
}

// maxLateness is the delay of watch that shows that this process was stopped, by a signal
// of its terminal or with a paused container.
const maxLateness = 2 * time.Second

// watch checks all live jobs: slow ones no longer count, late ones are answered. Time in
// which this process was stopped does not count.
func (p *Pool) watch() {
	now := time.Now()
	var warn []context.CancelCauseFunc
	var late, begun []*Job
	p.mu.Lock()
	if stood := now.Sub(p.looked) - p.Tick; stood > maxLateness {
		for j := range p.live.jobs {
			j.spare(min(stood, now.Sub(j.At)))
		}
	}
	p.looked = now
	for j := range p.live.jobs {
		if j.phase == isParked || j.phase == isOver { // a finished one stays live until it is answered
			continue
		}
		age := j.age(now)
		if j.phase == isRunning && now.Sub(j.started) >= p.Slow && p.count[isSlow] < p.Stuck {
			p.move(j, isSlow)
		}
		if age >= p.Deadline-p.Notice && !j.warned {
			j.warned = true
			warn = append(warn, j.Cancel)
		}
		if age < p.Deadline {
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
		p.live.remove(j)
	}
	p.dispatch()
	p.ticking = len(p.live.jobs) > 0
	if p.ticking {
		time.AfterFunc(p.Tick, p.watch)
	}
	p.mu.Unlock()

	for _, end := range warn {
		end(ErrDeadline)
	}
	for _, j := range late {
		p.Late(j, false)
	}
	for _, j := range begun {
		p.Late(j, true)
	}
	for _, j := range late { // after all answers: logging may take a while
		p.Dropped(j)
	}
}

// age returns how long a job has been live, without its rests.
func (j *Job) age(now time.Time) time.Duration {
	if !j.rests.IsZero() {
		now = j.rests
	}
	return now.Sub(j.At) - j.spared
}

// spare subtracts a time from a job's age, unless its clock rests anyway.
func (j *Job) spare(d time.Duration) {
	if j.rests.IsZero() {
		j.spared += d
	}
}

// Rest implements toolcall.Clock. While the call waits for a user's program, another call may
// run in its place. It then goes on without waiting for a place: the rest of it is short.
func (j *Job) Rest() (resume func()) {
	p := j.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	j.rests = time.Now()
	if j.phase == isRunning && p.count[isResting] < p.Width {
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

// Followed implements toolcall.Clock: another call of the job's lane waits for it.
func (j *Job) Followed() <-chan struct{} {
	p := j.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lanes.follow(j.Lane)
}

// move changes the phase of a job.
func (p *Pool) move(j *Job, to phase) {
	p.add(j, -1)
	j.phase = to
	p.add(j, 1)
}

// add counts a job n times in its phase.
func (p *Pool) add(j *Job, n int) {
	if j.phase != isOver {
		p.count[j.phase] += n
	}
	if j.Search && isRunning <= j.phase && j.phase <= isSlow {
		p.searching += n
	}
}

// Close takes no more jobs, and parks none for a question. With drop, it settles waiting
// and parked jobs and returns them; the caller answers them.
func (p *Pool) Close(drop bool) (dropped []*Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if drop {
		for j := range p.live.jobs {
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

// WhenEmpty returns a channel that is closed when no job is live.
func (p *Pool) WhenEmpty() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.live.whenEmpty()
}

// Stop ends the contexts of all live jobs.
func (p *Pool) Stop() {
	p.mu.Lock()
	var all []context.CancelCauseFunc
	for j := range p.live.jobs {
		all = append(all, j.Cancel)
	}
	p.mu.Unlock()
	for _, end := range all {
		end(refusal.ErrStopping)
	}
}

// IfLive calls f, under the lock, if the job is not settled.
func (p *Pool) IfLive(j *Job, f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !j.settled {
		f()
	}
}
