package server

import (
	"sync/atomic"
	"time"
)

// seat is the reader's. One goroutine sits in it and reads; it may rise to do
// some work of its own, which saves every short call the change to another
// thread and back (half of the time that a small answer takes). Where the work
// lasts, another goroutine takes the seat and reads on, so that no call keeps
// the next message waiting for longer than two periods.
type seat struct {
	relief func() // reads on; called by the goroutine that has taken the seat

	turns   uint64        // the holder's count of its works
	risen   atomic.Uint64 // the turn that the holder works on; 0 while it sits
	begun   atomic.Uint64 // the latest turn
	ticking atomic.Bool
}

const (
	period = time.Millisecond
	calm   = 20 // periods without work, after which nobody looks any more
)

// rise begins a turn of work.
func (s *seat) rise() (turn uint64) {
	s.turns++
	turn = s.turns
	s.begun.Store(turn)
	s.risen.Store(turn) // from here on the seat may be another's
	s.watch()
	return turn
}

// sit ends a turn and tells whether the seat is still the caller's.
func (s *seat) sit(turn uint64) bool { return s.risen.CompareAndSwap(turn, 0) }

// watch sees to it that somebody looks at the seat.
func (s *seat) watch() {
	if s.ticking.CompareAndSwap(false, true) {
		time.AfterFunc(period, (&ticker{seat: s}).tick)
	}
}

// ticker looks at a seat once in a period.
type ticker struct {
	*seat
	seen  uint64
	quiet int
}

func (t *ticker) tick() {
	turn := t.risen.Load()
	if turn != 0 && turn == t.seen && t.risen.CompareAndSwap(turn, 0) {
		t.ticking.Store(false)
		t.relief()
		return
	}
	if begun := t.begun.Load(); begun == t.seen {
		t.quiet++
	} else {
		t.seen, t.quiet = begun, 0
	}
	if t.quiet < calm {
		time.AfterFunc(period, t.tick)
		return
	}
	t.ticking.Store(false)
	if t.risen.Load() != 0 { // a turn began before it could see that nobody looks
		t.watch()
	}
}
