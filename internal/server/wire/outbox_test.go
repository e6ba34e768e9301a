package wire

import (
	"testing"
	"time"
)

// oneByOne takes a line whenever it is told to.
type oneByOne chan struct{}

func (w oneByOne) Write(line []byte) (int, error) {
	<-w
	return len(line), nil
}

// Where a client never quite catches up, what was written takes no room.
func TestWrittenLinesTakeNoRoom(t *testing.T) {
	w := make(oneByOne)
	o := NewOutbox(w)
	line := func() []byte { return make([]byte, 7, 8) } // no other fits behind it
	if !o.Put(line()) {
		t.Fatal("nobody writes")
	}
	go o.Flush()
	for range 10 {
		o.Put(line())
	}
	for range 10_000 {
		o.Put(line())
		w <- struct{}{}
	}
	o.mu.Lock()
	room := cap(o.lines)
	o.mu.Unlock()
	if room > 100 {
		t.Errorf("room for %d lines", room)
	}
	close(w)
	o.Drain(time.Minute, time.Minute)
	if len(o.lines) > 0 {
		t.Errorf("%d lines are left", len(o.lines))
	}
}
