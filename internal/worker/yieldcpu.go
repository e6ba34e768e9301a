package worker

import (
	"sync"
	"sync/atomic"
	"time"
)

// yieldTime bounds how long a processor stays free of workers after the last call that
// found them busy.
const yieldTime = 100 * time.Millisecond

// cpuYield keeps busy workers off one processor while calls come.
type cpuYield struct {
	jobs atomic.Int32

	mu      sync.Mutex
	workers map[*process]struct{}
	others  cpuSet      // the processors left to the workers
	timer   *time.Timer // gives the processor back; nil: the workers have all of them
}

// YieldCPU keeps busy workers off the caller's processor for the next tenth of a second. A
// low priority is not enough: if Linux wakes a thread that has just used its time slice,
// as client and server always have, it lets the worker on that processor run to the next
// clock tick, 4 ms, the time of forty answers. Without YieldCPU, the slowest hundredth of small
// Reads beside a decoder on two processors takes 0.8 to 1.1 ms in place of 0.4 to 0.5. Without
// a job YieldCPU costs nothing.
func (p *Pool) YieldCPU() { p.yield.start() }

func (w *cpuYield) start() {
	if w.jobs.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Reset(yieldTime)
		return
	}
	rest, ok := otherCPUs()
	if !ok {
		return
	}
	w.others = rest
	for one := range w.workers {
		one.runOn(rest)
	}
	w.timer = time.AfterFunc(yieldTime, w.end)
}

// end gives the processor back.
func (w *cpuYield) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = nil
	if all, ok := allowedCPUs(); ok {
		for one := range w.workers {
			one.runOn(all)
		}
	}
}

// add makes a new worker yield, too.
func (w *cpuYield) add(one *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.workers == nil {
		w.workers = make(map[*process]struct{})
	}
	w.workers[one] = struct{}{}
	if w.timer != nil {
		one.runOn(w.others)
	}
}

func (w *cpuYield) remove(one *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.workers, one)
}
