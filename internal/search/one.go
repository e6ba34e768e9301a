package search

import (
	"context"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// one searches a single file. The error is ErrNeverSearched, that of ctx or of opening it.
func (s *Searcher) one(ctx context.Context, scope *Scope, g *grepper) (*run, error) {
	start := scope.Starts[0]
	if s.neverSearched(start) {
		return nil, ErrNeverSearched
	}
	f, err := start.Open()
	if err != nil {
		return nil, err
	}
	r := s.newRun(scope, g)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer f.Close()
		w := &worker{run: r}
		select {
		case w.room = <-s.slots:
		case <-ctx.Done():
			return
		}
		w.room.begin()
		defer s.release(w.room)
		if err := g.search(w, f, result{start: start}, nil); err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.missed.add(start.Path)
		}
	}()
	limited, end := bounded(ctx, scope.Within)
	defer end()
	select {
	case <-done:
		r.outcome.Complete = true
	case <-limited.Done():
		r.stopped.Store(true)
		select {
		case <-done:
		case <-time.After(grace):
		}
		switch ended, partly := g.state(); {
		case partly:
		case ended:
			r.outcome.Complete = true
		default: // it waited for other searches
			r.outcome.NotSearched = []string{start.Path}
		}
	}
	return r, ctx.Err()
}

// open opens the file of a result again, where the rules still let a Read through.
func (r *result) open() (*fsys.File, error) {
	if r.start != nil {
		return r.again, nil
	}
	if !r.allowed() {
		return nil, fsys.ErrMoved
	}
	began := time.Now()
	dir, err := r.root.dir.OpenDir(parent(r.rel))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := dir.Open(base(r.rel))
	if err != nil {
		return nil, err
	}
	if !r.root.walk.AllowedFile(f.Opened(), began, func() string { return r.rel }) {
		f.Close()
		return nil, fsys.ErrMoved
	}
	return f, nil
}

// allowed reports whether the rules, as they are now, let a Read of the result through.
func (r *result) allowed() bool { return r.start != nil || r.root.walk.Allowed(r.rel, r.dir) }
