package worker

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
)

// startup is a new worker that does its first job.
type startup struct {
	w        *process
	progress atomic.Pointer[Progress] // nil: no caller waits

	done chan struct{} // closed when it is ready or has failed (err)
	err  error
}

// fresh returns a new worker that has done its first job. If ctx ends before, the first
// job goes on: the next caller waits for the same worker, or finds it ready.
func (p *Pool) fresh(ctx context.Context, progress Progress) (*process, error) {
	if p.opts.First == nil {
		return p.launch()
	}
	s, err := p.nextStartup()
	if err != nil {
		return nil, err
	}
	if progress != nil {
		s.progress.Store(&progress)
	}
	select {
	case <-s.done:
	case <-ctx.Done():
		s.progress.Store(nil)
		p.release(s)
		return nil, fmt.Errorf("%w: %w", ErrUnready, ctx.Err())
	}
	if s.err != nil {
		p.lose(s.w, s.err)
		return nil, startError(s.err)
	}
	return s.w, nil
}

// nextStartup returns an unclaimed starting worker, or a new one.
func (p *Pool) nextStartup() (*startup, error) {
	p.mu.Lock()
	if n := len(p.unclaimed); n > 0 {
		s := p.unclaimed[n-1]
		p.unclaimed = p.unclaimed[:n-1]
		p.mu.Unlock()
		return s, nil
	}
	p.mu.Unlock()
	w, err := p.launch()
	if err != nil {
		return nil, err
	}
	s := &startup{w: w, done: make(chan struct{})}
	go p.ready(s)
	return s, nil
}

// ready runs a worker's first job. If no caller waits any more, it puts the worker back or
// ends it.
func (p *Pool) ready(s *startup) {
	first := *p.opts.First
	first.Progress = func(done, total int64, what string) {
		if progress := s.progress.Load(); progress != nil {
			(*progress)(done, total, what)
		}
	}
	p.yield.jobs.Add(1)
	_, s.err = s.w.do(context.Background(), first, p.opts)
	p.yield.jobs.Add(-1)
	p.mu.Lock()
	close(s.done)
	at := slices.Index(p.unclaimed, s)
	if at >= 0 {
		p.unclaimed = slices.Delete(p.unclaimed, at, at+1)
	}
	p.mu.Unlock()
	if at >= 0 {
		p.settle(s)
	}
}

// release marks a starting worker as unclaimed: it gets ready for the next caller.
func (p *Pool) release(s *startup) {
	p.mu.Lock()
	ended := false
	select {
	case <-s.done:
		ended = true
	default:
		p.unclaimed = append(p.unclaimed, s)
	}
	p.mu.Unlock()
	if ended {
		p.settle(s)
	}
}

// settle puts an unclaimed worker back when it is ready, or ends it when it failed.
func (p *Pool) settle(s *startup) {
	if s.err != nil {
		p.lose(s.w, s.err)
	} else {
		p.putBack(s.w)
	}
}
