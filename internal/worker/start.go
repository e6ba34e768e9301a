package worker

import (
	"context"
	"fmt"
)

// prepare runs a new worker's first job, with or without a caller that waits for it.
func (p *Pool) prepare(w *process) {
	first := *p.opts.First
	first.Progress = func(done, total int64, what string) {
		if progress := w.progress.Load(); progress != nil {
			(*progress)(done, total, what)
		}
	}
	if w.caged {
		p.filled.Do(func() { p.fill(first) })
	}
	p.yield.jobs.Add(1)
	_, w.failed = w.do(context.Background(), first, p.opts)
	p.yield.jobs.Add(-1)
	p.mu.Lock()
	close(w.ready)
	unclaimed := p.removeIdle(w)
	p.mu.Unlock()
	if unclaimed {
		p.putBack(w)
	}
}

// fill does the first job in a process out of the cage, which gets no body: what it stores is
// there for those in the cage, which may read it. If it fails, they do without.
func (p *Pool) fill(first Job) {
	o := p.opts
	o.Cage = nil
	w, err := p.add(o)
	if err != nil {
		return
	}
	_, _ = w.do(context.Background(), first, o)
	p.drop(w)
	w.leave()
}

// isReady reports whether a worker's first job is over.
func (w *process) isReady() bool {
	select {
	case <-w.ready:
		return true
	default:
		return false
	}
}

// await waits for a worker's first job. If ctx ends before, the job goes on: the next
// caller waits for the same worker, or finds it ready.
func (p *Pool) await(ctx context.Context, w *process, progress Progress) error {
	if !w.isReady() {
		if progress != nil {
			w.progress.Store(&progress)
		}
		select {
		case <-w.ready:
		case <-ctx.Done():
			w.progress.Store(nil)
			p.putBack(w)
			return fmt.Errorf("%w: %w", ErrUnready, ctx.Err())
		}
	}
	if w.failed != nil {
		p.lose(w, w.failed)
		return startError(w.failed)
	}
	return nil
}
