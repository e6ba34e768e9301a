package worker

import (
	"sync"
	"sync/atomic"
	"time"
)

// yieldTime is how long a processor stays free of workers after the last call that
// found them at work.
const yieldTime = 100 * time.Millisecond

// cpuYield is a processor that workers with a job leave to those who want an answer
// meanwhile.
type cpuYield struct {
	jobs   atomic.Int32
	until  atomic.Int64 // in nanoseconds since 1970
	active atomic.Bool

	mu      sync.Mutex
	workers map[*process]struct{}
	others  cpuSet // what is left to them
}

// YieldCPU has workers that have a job keep off one processor, the caller's, for a
// tenth of a second from now on. A low priority is not enough: where Linux wakes a
// thread that has had its share a moment ago, as who asks and who answers in turns
// always have, it lets the worker beside it go on to the next tick of its clock,
// 4 ms, which is forty answers. While there is no job, it costs nothing.
func (p *Pool) YieldCPU() { p.yield.start() }

func (w *cpuYield) start() {
	if w.jobs.Load() == 0 {
		return
	}
	w.until.Store(time.Now().Add(yieldTime).UnixNano())
	if w.active.Load() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.active.Load() {
		return
	}
	rest, ok := otherCPUs()
	if !ok {
		return
	}
	w.others = rest
	w.active.Store(true)
	for one := range w.workers {
		one.runOn(rest)
	}
	time.AfterFunc(yieldTime, w.end)
}

// end gives the processor back, unless there were more calls meanwhile.
func (w *cpuYield) end() {
	if left := w.until.Load() - time.Now().UnixNano(); left > 0 {
		time.AfterFunc(time.Duration(left), w.end)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.active.Store(false)
	if all, ok := allowedCPUs(); ok {
		for one := range w.workers {
			one.runOn(all)
		}
	}
}

// add has a new worker make way, too.
func (w *cpuYield) add(one *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.workers == nil {
		w.workers = make(map[*process]struct{})
	}
	w.workers[one] = struct{}{}
	if w.active.Load() {
		one.runOn(w.others)
	}
}

func (w *cpuYield) remove(one *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.workers, one)
}
