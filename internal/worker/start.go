package worker

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
)

// start is a new worker that does what comes first.
type start struct {
	w    *process
	told atomic.Pointer[Progress] // nil: nobody waits for it

	done chan struct{} // closed when it is ready, or err says why not
	err  error
}

// fresh has a new worker ready. What comes first goes on where the context ends: the
// next who comes waits on for the same worker, or finds it ready.
func (p *Pool) fresh(ctx context.Context, told Progress) (*process, error) {
	if p.opts.First == nil {
		return p.launch()
	}
	s, err := p.starting()
	if err != nil {
		return nil, err
	}
	if told != nil {
		s.told.Store(&told)
	}
	select {
	case <-s.done:
	case <-ctx.Done():
		s.told.Store(nil)
		p.leaveBehind(s)
		return nil, fmt.Errorf("%w: %w", ErrUnready, ctx.Err())
	}
	if s.err != nil {
		p.lose(s.w, s.err)
		return nil, unstarted(s.err)
	}
	return s.w, nil
}

// starting is a worker that was left behind while it gets ready, or a new one.
func (p *Pool) starting() (*start, error) {
	p.mu.Lock()
	if n := len(p.behind); n > 0 {
		s := p.behind[n-1]
		p.behind = p.behind[:n-1]
		p.mu.Unlock()
		return s, nil
	}
	p.mu.Unlock()
	w, err := p.launch()
	if err != nil {
		return nil, err
	}
	s := &start{w: w, done: make(chan struct{})}
	go p.ready(s)
	return s, nil
}

// ready has a worker do what comes first. Where nobody waits for it any more, it
// sees to what becomes of the worker.
func (p *Pool) ready(s *start) {
	first := *p.opts.First
	first.Progress = func(done, total int64, what string) {
		if told := s.told.Load(); told != nil {
			(*told)(done, total, what)
		}
	}
	p.way.jobs.Add(1)
	_, s.err = s.w.do(context.Background(), first, p.opts)
	p.way.jobs.Add(-1)
	p.mu.Lock()
	close(s.done)
	at := slices.Index(p.behind, s)
	if at >= 0 {
		p.behind = slices.Delete(p.behind, at, at+1)
	}
	p.mu.Unlock()
	if at >= 0 {
		p.settle(s)
	}
}

// leaveBehind has a worker that is not waited for any more get ready for the next.
func (p *Pool) leaveBehind(s *start) {
	p.mu.Lock()
	ended := false
	select {
	case <-s.done:
		ended = true
	default:
		p.behind = append(p.behind, s)
	}
	p.mu.Unlock()
	if ended {
		p.settle(s)
	}
}

// settle keeps a worker that is ready for the next who comes.
func (p *Pool) settle(s *start) {
	if s.err != nil {
		p.lose(s.w, s.err)
	} else {
		p.keep(s.w)
	}
}
