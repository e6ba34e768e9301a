package app

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/fsmcp/fsmcp/internal/media/decoder"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// IdleAfter is the time without a call after which the server counts as idle. The client's
// first calls come within it.
const IdleAfter = 5 * time.Second

// idleTracker knows whether calls are under way, and makes workers yield the CPU to them.
type idleTracker struct {
	workers []*worker.Pool

	calls atomic.Int64
	last  atomic.Pointer[time.Time] // begin or end of the last call
}

// wrap returns the same tools, and counts their calls.
func (l *idleTracker) wrap(all []tools.Tool) []tools.Tool {
	l.count(0)
	for i, t := range all {
		all[i].Run = func(ctx context.Context, call toolcall.Call, args tools.Args) *toolcall.Result {
			for _, p := range l.workers {
				p.YieldCPU()
			}
			l.count(1)
			defer l.count(-1)
			return t.Run(ctx, call, args)
		}
	}
	return all
}

func (l *idleTracker) count(n int64) {
	now := time.Now()
	l.last.Store(&now) // before the count: remaining reads them in the other order
	l.calls.Add(n)
}

// remaining returns the time until the server counts as idle.
func (l *idleTracker) remaining() time.Duration {
	if l.calls.Load() > 0 {
		return IdleAfter
	}
	return IdleAfter - time.Since(*l.last.Load())
}

// wait returns true once the server is idle, and false if ctx ends before.
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

// compilePDFium compiles PDFium in an idle moment, before the first PDF. A process of low
// priority does it, and ends with the server.
func (a *App) compilePDFium(ctx context.Context) {
	if !a.idle.wait(ctx) || !a.settings.config().PDFWarm || a.decoders.media() == "" {
		return
	}
	defer a.decoders.compiler.Close()
	if _, err := a.decoders.compiler.Do(ctx, decoder.PrepareJob()); err != nil && ctx.Err() == nil {
		a.log.Warn().Err(err).Msg("what reads PDFs could not be readied in the background; the first PDF does it")
	}
}
