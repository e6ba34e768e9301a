package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Options say how workers are started and what they may take.
type Options struct {
	// Command is the program, and its arguments with the name it goes by first.
	// It is asked each time that a worker is started.
	Command func() (path string, argv []string)
	// Env is the workers' whole environment.
	Env []string
	// Size is how many workers there are at most.
	Size int
	// Deadline bounds a job that names none.
	Deadline time.Duration
	// Memory bounds a worker's resident memory in bytes, where that can be seen.
	Memory int64
	// Jobs is after how many jobs, Idle after how long without one, a worker ends.
	Jobs int
	Idle time.Duration
	// First is what a new worker does before any job, with a deadline of its own,
	// whatever becomes of the one who waits for it. nil: nothing.
	First *Job
	// Lost is told of a worker that died or was killed, with the end of what it
	// wrote to standard error. nil tells nobody.
	Lost func(why error, stderr string)
}

// The times in which workers are looked after.
const (
	watchEvery = 50 * time.Millisecond
	// stoppedFor is how long a worker may stand still by a signal.
	stoppedFor = time.Second
	// maxTick is the most that passes for one look at a worker: where more has gone
	// by, this process stood still itself, by a signal or with a paused container.
	maxTick = time.Second
	// leaveWithin is how long a worker may take to end when it is told to.
	leaveWithin = time.Second
)

// Why a job got no answer of its own.
var (
	ErrDied     = errors.New("the worker died")
	ErrDeadline = errors.New("the worker did not answer in time")
	ErrUnread   = errors.New("the body did not come in time")
	ErrMemory   = errors.New("the worker took too much memory")
	ErrStopped  = errors.New("the worker was stopped")
	ErrStart    = errors.New("no worker can be started")
	ErrClosed   = errors.New("the pool is closed")
	// ErrUnready comes beside the context's: what a worker does first goes on.
	ErrUnready = errors.New("the worker was not ready in time")
)

// Progress is told how far a job is, and with what: done of total, in whatever unit;
// total is 0 where nobody knows it.
type Progress = func(done, total int64, what string)

// Job is what a worker is to do.
type Job struct {
	Op     string
	Params any
	// Body is sent along: Size bytes from its beginning.
	Body io.ReaderAt
	Size int64
	// Deadline is the job's own; 0 is the pool's.
	Deadline time.Duration
	// Progress is told how far the job is; nil tells nobody.
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

	mu        sync.Mutex
	idle      []*process
	unclaimed []*startup // those that nobody waits for any more
	all       map[*process]struct{}
	closed    bool

	yield cpuYield
}

// New makes a pool. It starts nothing.
func New(o Options) *Pool {
	return &Pool{opts: o, slots: make(chan struct{}, max(o.Size, 1)), all: make(map[*process]struct{})}
}

// Do has a worker do a job, when one is free. The error is the context's, the
// body's, a *Failure of the job itself, or one of those above.
func (p *Pool) Do(ctx context.Context, j Job) (Reply, error) {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	}
	if err := ctx.Err(); err != nil { // no worker is ended for it
		return Reply{}, err
	}
	w := p.takeIdle()
	if w != nil {
		r, err := p.run(ctx, w, j)
		if !errors.Is(err, ErrDied) || ctx.Err() != nil {
			return r, err
		}
		// It may have been dead before the job began.
	}
	first, then := chainProgress(j.Progress)
	w, err := p.fresh(ctx, first)
	if err != nil {
		return Reply{}, err
	}
	j.Progress = then
	return p.run(ctx, w, j)
}

// chainProgress makes the progress of what comes first and then of the job one that
// rises. nil stays nil.
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

// startError is what became of a worker that was lost before it had a job: it has
// nothing to do with the job.
func startError(err error) error {
	var own *Failure
	if errors.As(err, &own) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrStart, err)
}

// lose ends a worker that is of no more use, and tells of it where it did not
// say so itself.
func (p *Pool) lose(w *process, why error) {
	p.drop(w)
	w.kill()
	var own *Failure
	if p.opts.Lost != nil && !errors.As(why, &own) {
		p.opts.Lost(why, w.stderr.String())
	}
}

// takeIdle takes the worker that was idle last.
func (p *Pool) takeIdle() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return nil
	}
	w := p.idle[n-1]
	p.idle = p.idle[:n-1]
	w.rest.Stop()
	return w
}

// run has a worker do a job and sees to what becomes of the worker.
func (p *Pool) run(ctx context.Context, w *process, j Job) (Reply, error) {
	p.yield.jobs.Add(1)
	defer p.yield.jobs.Add(-1)
	r, err := w.do(ctx, j, p.opts)
	var own *Failure
	if err != nil && !errors.As(err, &own) {
		if ctx.Err() != nil { // its own doing
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

// putBack puts a worker among the idle, or lets it go where it has done enough.
func (p *Pool) putBack(w *process) {
	p.mu.Lock()
	done := p.closed || w.jobs >= p.opts.Jobs
	if !done {
		p.idle = append(p.idle, w)
		w.rest = time.AfterFunc(p.opts.Idle, func() { p.retire(w) })
	}
	p.mu.Unlock()
	if done {
		p.drop(w)
		go w.leave()
	}
}

// retire ends a worker that is still idle.
func (p *Pool) retire(w *process) {
	p.mu.Lock()
	found := false
	for i, other := range p.idle {
		if other == w {
			p.idle = append(p.idle[:i:i], p.idle[i+1:]...)
			found = true
			break
		}
	}
	p.mu.Unlock()
	if found {
		p.drop(w)
		w.leave()
	}
}

func (p *Pool) drop(w *process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, w)
	p.yield.remove(w)
}

// PIDs are the process ids of the workers there are.
func (p *Pool) PIDs() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []int
	for w := range p.all {
		out = append(out, w.cmd.Process.Pid)
	}
	return out
}

// Close ends all workers, also those that have a job.
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
	w, err := launch(p.opts)
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
