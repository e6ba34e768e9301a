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
	if !o.Put(nil) {
		t.Fatal("nobody writes")
	}
	go o.Flush()
	for range 10 {
		o.Put(nil)
	}
	for range 10_000 {
		o.Put(nil)
		w <- struct{}{}
	}
	o.mu.Lock()
	room := cap(o.lines)
	o.mu.Unlock()
	if room > 100 {
		t.Errorf("room for %d lines", room)
	}
	close(w)
	o.Drain(time.Minute)
	if len(o.lines) > 0 {
		t.Errorf("%d lines are left", len(o.lines))
	}
}
