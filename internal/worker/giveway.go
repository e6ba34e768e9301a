package worker

import (
	"sync"
	"sync/atomic"
	"time"
)

// wayFor is how long a processor stays free of workers after the last call that
// found them at work.
const wayFor = 100 * time.Millisecond

// way is a processor that workers with a job leave to those who want an answer
// meanwhile.
type way struct {
	jobs  atomic.Int32
	until atomic.Int64 // in nanoseconds since 1970
	given atomic.Bool

	mu      sync.Mutex
	workers map[*process]struct{}
	rest    processors // what is left to them
}

// GiveWay has workers that have a job keep off one processor, the caller's, for a
// tenth of a second from now on. A low priority is not enough: where Linux wakes a
// thread that has had its share a moment ago, as who asks and who answers in turns
// always have, it lets the worker beside it go on to the next tick of its clock,
// 4 ms, which is forty answers. While there is no job, it costs nothing.
func (p *Pool) GiveWay() { p.way.give() }

func (w *way) give() {
	if w.jobs.Load() == 0 {
		return
	}
	w.until.Store(time.Now().Add(wayFor).UnixNano())
	if w.given.Load() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.given.Load() {
		return
	}
	rest, ok := allButThis()
	if !ok {
		return
	}
	w.rest = rest
	w.given.Store(true)
	for one := range w.workers {
		one.runOn(rest)
	}
	time.AfterFunc(wayFor, w.end)
}

// end gives the processor back, unless there were more calls meanwhile.
func (w *way) end() {
	if left := w.until.Load() - time.Now().UnixNano(); left > 0 {
		time.AfterFunc(time.Duration(left), w.end)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.given.Store(false)
	if all, ok := allOfThem(); ok {
		for one := range w.workers {
			one.runOn(all)
		}
	}
}

// add has a new worker make way, too.
func (w *way) add(one *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.workers == nil {
		w.workers = make(map[*process]struct{})
	}
	w.workers[one] = struct{}{}
	if w.given.Load() {
		one.runOn(w.rest)
	}
}

func (w *way) remove(one *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.workers, one)
}
