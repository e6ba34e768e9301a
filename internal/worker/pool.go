package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Options say how workers are started, and their bounds.
type Options struct {
	// Command returns the program, and its arguments beginning with its name. It is called
	// at each start of a worker.
	Command func() (path string, argv []string)
	// Env is the workers' whole environment.
	Env []string
	// Size bounds the number of workers.
	Size int
	// Deadline bounds a job that has no deadline of its own. On Linux the time for which the
	// worker waits for a processor does not count, up to three times the deadline in all.
	Deadline time.Duration
	// Memory bounds a worker's resident memory in bytes, on systems that report it. On
	// Windows twice as many bounds the memory that the system has promised to it.
	Memory int64
	// A worker ends after so many Jobs, and after so long without a job (Idle).
	Jobs int
	Idle time.Duration
	// First is the job that a new worker does before any other, with its own deadline. It
	// goes on when its caller gives up. nil: none.
	First *Job
	// Cage is the sandbox that workers are started in; nil: none.
	Cage *Cage
	// Lost is called for a worker that died or was killed, with the end of its standard
	// error; nil: nothing is called.
	Lost func(why error, stderr string)
}

// Bounds of the pool's watch over its workers.
const (
	watchEvery = 50 * time.Millisecond
	// stoppedFor bounds how long a worker may be stopped by a signal.
	stoppedFor = time.Second
	// maxTick bounds the time that one look at a worker counts. If more passed, this
	// process was stopped itself, by a signal or with a paused container.
	maxTick = time.Second
	// leaveWithin bounds the time in which a worker ends by itself.
	leaveWithin = time.Second
	// jobTime bounds the CPU time of one job, all threads together, in seconds. It is more
	// than any deadline allows: a job that waits for a processor uses none. It bounds a
	// worker whose parent is dead.
	jobTime = 300
)

// Errors of jobs without an answer.
var (
	ErrDied     = errors.New("the worker died")
	ErrDeadline = errors.New("the worker did not answer in time")
	ErrUnread   = errors.New("the body did not come in time")
	ErrMemory   = errors.New("the worker took too much memory")
	ErrStopped  = errors.New("the worker was stopped")
	// ErrForbidden: the sandbox ended the worker for a system call.
	ErrForbidden = errors.New("the worker made a system call that is forbidden to it")
	ErrStart     = errors.New("no worker can be started")
	ErrClosed    = errors.New("the pool is closed")
	// ErrUnready comes with the context's error: the worker's first job goes on.
	ErrUnready = errors.New("the worker was not ready in time")
)

// Progress receives done of total, in any unit, and the current step; total is 0 while it
// is unknown.
type Progress = func(done, total int64, what string)

// Job is one job for a worker.
type Job struct {
	Op     string
	Params any
	// Body is sent along: Size bytes from its beginning.
	Body io.ReaderAt
	Size int64
	// Deadline bounds this job; 0 means the pool's.
	Deadline time.Duration
	// Progress receives the job's progress; it may be nil.
	Progress Progress
}

// Reply is a worker's answer.
type Reply struct {
	Result json.RawMessage
	Blobs  [][]byte
}

// Pool keeps workers warm. It starts none before the first job.
type Pool struct {
	opts  Options
	slots chan struct{}

	mu     sync.Mutex
	idle   []*process // without a caller; those that do their first job come first
	all    map[*process]struct{}
	closed bool

	yield cpuYield

	filled sync.Once // the first job was done out of the cage
}

// New makes a pool. It starts nothing.
func New(o Options) *Pool {
	return &Pool{opts: o, slots: make(chan struct{}, max(o.Size, 1)), all: make(map[*process]struct{})}
}

// Do runs a job in the next free worker. The error is the context's, the body's, a
// *Failure of the job itself, or one of those above.
func (p *Pool) Do(ctx context.Context, j Job) (Reply, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	}
	if err := ctx.Err(); err != nil { // a cancelled caller costs no worker
		return Reply{}, err
	}
	if w := p.takeIdle(); w != nil {
		r, err := p.run(ctx, w, j)
		if !errors.Is(err, ErrDied) || errors.Is(err, ErrStart) || ctx.Err() != nil {
			return r, err
		}
		// The worker may have died before the job began.
	}
	w, err := p.launch()
	if err != nil {
		return Reply{}, err
	}
	return p.run(ctx, w, j)
}

// chainProgress returns the progress functions of the first job and of the job itself.
// Together they rise. nil stays nil.
func chainProgress(progress Progress) (first, then Progress) {
	if progress == nil {
		return nil, nil
	}
	base := int64(0)
	first = func(done, total int64, what string) {
		base = done + 1
		progress(done, total, what)
	}
	then = func(done, total int64, what string) { progress(base+done, base+total, what) }
	return first, then
}

// startError returns the error of a worker that was lost before it had a job: it says
// nothing about the job.
func startError(err error) error {
	if errors.As(err, new(*Failure)) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrStart, err)
}

// lose ends a worker that cannot be used again, and calls Lost unless the worker reported
// the error itself.
func (p *Pool) lose(w *process, why error) {
	p.drop(w)
	w.kill()
	if p.opts.Lost != nil && !errors.As(why, new(*Failure)) {
		p.opts.Lost(why, w.stderr.String())
	}
}

// takeIdle returns the worker that became idle last, and nil if there is none.
func (p *Pool) takeIdle() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	w := p.idle[n-1]
	p.idle = p.idle[:n-1]
	if w.rest != nil {
		w.rest.Stop()
	}
	return w
}

// run runs a job in a worker that is ready or gets ready, and then puts the worker back or
// ends it.
func (p *Pool) run(ctx context.Context, w *process, j Job) (Reply, error) {
	var first Progress
	first, j.Progress = chainProgress(j.Progress)
	if err := p.await(ctx, w, first); err != nil {
		return Reply{}, err
	}
	p.yield.jobs.Add(1)
	defer p.yield.jobs.Add(-1)
	r, err := w.do(ctx, j, p.opts)
	if err != nil && !errors.As(err, new(*Failure)) {
		if ctx.Err() != nil { // the caller gave up
			p.drop(w)
			w.kill()
		} else {
			p.lose(w, err)
		}
		return r, err
	}
	p.putBack(w)
	return r, err
}

// putBack puts a worker without a caller among the idle ones. It ends one that failed at
// its first job, and one after its last.
func (p *Pool) putBack(w *process) {
	p.mu.Lock()
	ready := w.isReady()
	done := p.closed || ready && (w.failed != nil || w.jobs >= p.opts.Jobs)
	switch {
	case done:
	case ready:
		p.idle = append(p.idle, w)
		w.rest = time.AfterFunc(p.opts.Idle, func() { p.retire(w) })
	default:
		p.idle = slices.Insert(p.idle, 0, w)
	}
	p.mu.Unlock()
	switch {
	case !done:
	case ready && w.failed != nil:
		p.lose(w, w.failed)
	default:
		p.drop(w)
		go w.leave()
	}
}

// retire ends a worker that is still idle.
func (p *Pool) retire(w *process) {
	p.mu.Lock()
	found := p.removeIdle(w)
	p.mu.Unlock()
	if found {
		p.drop(w)
		w.leave()
	}
}

// removeIdle takes a worker from the idle ones, and reports whether it was there. p.mu is
// held.
func (p *Pool) removeIdle(w *process) bool {
	at := slices.Index(p.idle, w)
	if at >= 0 {
		p.idle = slices.Delete(p.idle, at, at+1)
	}
	return at >= 0
}

func (p *Pool) drop(w *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, w)
	p.yield.remove(w)
}

// Close ends all workers, including busy ones.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	all := p.all
	p.all, p.idle = make(map[*process]struct{}), nil
	p.mu.Unlock()
	for w := range all {
		w.kill()
	}
}

// launch starts a worker.
func (p *Pool) launch() (*process, error) {
	w, err := p.add(p.opts)
	if err != nil {
		return nil, err
	}
	if p.opts.First == nil {
		close(w.ready)
	} else {
		go p.prepare(w)
	}
	return w, nil
}

// add starts a process that Close ends.
func (p *Pool) add(o Options) (*process, error) {
	w, err := launch(o)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		w.kill()
		return nil, ErrClosed
	}
	p.all[w] = struct{}{}
	p.yield.add(w)
	return w, nil
}
