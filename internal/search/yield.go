package search

import (
	"runtime"
	"time"
)

// yieldTime bounds the time for which searches yield after the last other call that found the
// processors busy.
const (
	yieldTime   = 100 * time.Millisecond
	yieldSlice  = 100 * time.Microsecond // of work between two rests
	longestRest = 20 * time.Millisecond
	yieldEvery  = 500 * time.Microsecond
)

// YieldCPU keeps searches off one processor for half of the next tenth of a second, in short
// rests: a client and a server that were asleep would wait for it to the next clock tick, 4 ms,
// the time of forty answers. It costs nothing.
func (s *Searcher) YieldCPU() { s.yieldUntil.Store(time.Now().Add(yieldTime).UnixNano()) }

// begin notes that a worker has a slot now; the time for which no worker had it is no work.
func (r *room) begin() { r.rested += time.Now().UnixNano() - r.ended }

// release gives a slot back.
func (s *Searcher) release(r *room) {
	r.ended = time.Now().UnixNano()
	s.slots <- r
}

// yieldCPU lets other goroutines run, once in a while. While the searches have to yield, the
// last slot, if there are several, rests as long as it has worked.
func (r *run) yieldCPU(w *room) {
	t := time.Now().UnixNano()
	if worked := t - w.rested; w.last && worked > int64(yieldSlice) && t < r.yieldUntil.Load() && !r.stopped.Load() {
		time.Sleep(min(time.Duration(worked), longestRest))
		t = time.Now().UnixNano()
		w.rested = t
	}
	if t-w.yielded > int64(yieldEvery) {
		runtime.Gosched()
		w.yielded = time.Now().UnixNano()
	}
}
