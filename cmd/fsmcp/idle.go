package main

import (
	"context"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/darkroom"
	"github.com/fsmcp/fsmcp/internal/tools"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// idleAfter is how long no call has to be under way before the server counts as
// idle: a client's first moments are its own.
const idleAfter = 5 * time.Second

// idleTracker knows whether calls are under way, and has workers give way to them.
type idleTracker struct {
	workers []*worker.Pool

	mu    sync.Mutex
	calls int
	since time.Time // when the last one ended
}

// wrap are the same tools, whose calls it sees.
func (l *idleTracker) wrap(all []tools.Tool) []tools.Tool {
	l.since = time.Now()
	for i, t := range all {
		all[i].Run = func(ctx context.Context, call tools.Call, args tools.Args) *tools.Result {
			for _, p := range l.workers {
				p.GiveWay()
			}
			l.count(1)
			defer l.count(-1)
			return t.Run(ctx, call, args)
		}
	}
	return all
}

func (l *idleTracker) count(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls += n
	l.since = time.Now()
}

// remaining is how long it is until there was none for long enough.
func (l *idleTracker) remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls > 0 {
		return idleAfter
	}
	return idleAfter - time.Since(l.since)
}

// wait waits for a lull; it returns false where ctx ends before.
func (l *idleTracker) wait(ctx context.Context) bool {
	for left := l.remaining(); left > 0; left = l.remaining() {
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return false
		}
	}
	return ctx.Err() == nil
}

// compilePDFium has what reads PDFs compiled before the first of them, while nothing else
// is to be done, by a process of low priority that ends with it.
func (p *parts) compilePDFium(ctx context.Context, log zerolog.Logger) {
	if !p.idle.wait(ctx) || !p.settings.config().PDFWarm || findMedia() == "" {
		return
	}
	defer p.compiler.Close()
	if _, err := p.compiler.Do(ctx, darkroom.Preparing()); err != nil && ctx.Err() == nil {
		log.Warn().Err(err).Msg("what reads PDFs could not be readied in the background; the first PDF does it")
	}
}
