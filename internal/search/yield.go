package search

import (
	"runtime"
	"time"
)

// yieldTime bounds the time that a processor stays free of searches after the last other
// call that found them busy.
const (
	yieldTime  = 100 * time.Millisecond
	yieldPause = 2 * time.Millisecond
	yieldEvery = 500 * time.Microsecond
)

// YieldCPU keeps searches off one processor for the next tenth of a second: a client and a
// server that were asleep would wait for it to the next clock tick, 4 ms, the time of
// forty answers. It costs nothing.
func (s *Searcher) YieldCPU() { s.yieldUntil.Store(time.Now().Add(yieldTime).UnixNano()) }

// yieldCPU lets other goroutines run, once in a while. While the searches have to yield, it
// keeps the last slot waiting, where there are several.
func (r *run) yieldCPU(w *room) {
	t := time.Now().UnixNano()
	for w.last && !r.stopped.Load() && t < r.yieldUntil.Load() {
		time.Sleep(yieldPause)
		t = time.Now().UnixNano()
	}
	if t-w.yielded > int64(yieldEvery) {
		runtime.Gosched()
		w.yielded = time.Now().UnixNano()
	}
}
