package server

import (
	"sync/atomic"
	"time"
)

// readerHandoff is the reader's. One goroutine sits in it and reads; it may rise to do
// some work of its own, which saves every short call the change to another
// thread and back (half of the time that a small answer takes). Where the work
// lasts, another goroutine takes the seat and reads on, so that no call keeps
// the next message waiting for longer than two periods.
type readerHandoff struct {
	takeOver func() // reads on; called by the goroutine that has taken the seat

	works   uint64        // the holder's count of its works
	working atomic.Uint64 // the turn that the holder works on; 0 while it sits
	latest  atomic.Uint64 // the latest turn
	ticking atomic.Bool
}

const (
	period = time.Millisecond
	calm   = 20 // periods without work, after which nobody looks any more
)

// beginWork begins a turn of work.
func (s *readerHandoff) beginWork() (turn uint64) {
	s.works++
	turn = s.works
	s.latest.Store(turn)
	s.working.Store(turn) // from here on the seat may be another's
	s.watch()
	return turn
}

// endWork ends a turn and tells whether the seat is still the caller's.
func (s *readerHandoff) endWork(turn uint64) bool { return s.working.CompareAndSwap(turn, 0) }

// watch sees to it that somebody looks at the seat.
func (s *readerHandoff) watch() {
	if s.ticking.CompareAndSwap(false, true) {
		time.AfterFunc(period, (&ticker{readerHandoff: s}).tick)
	}
}

// ticker looks at a seat once in a period.
type ticker struct {
	*readerHandoff
	seen  uint64
	quiet int
}

func (t *ticker) tick() {
	turn := t.working.Load()
	if turn != 0 && turn == t.seen && t.working.CompareAndSwap(turn, 0) {
		t.ticking.Store(false)
		t.takeOver()
		return
	}
	if begun := t.latest.Load(); begun == t.seen {
		t.quiet++
	} else {
		t.seen, t.quiet = begun, 0
	}
	if t.quiet < calm {
		time.AfterFunc(period, t.tick)
		return
	}
	t.ticking.Store(false)
	if t.working.Load() != 0 { // a turn began before it could see that nobody looks
		t.watch()
	}
}
