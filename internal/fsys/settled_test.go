package fsys

import (
	"testing"
	"time"
)

func TestSettled(t *testing.T) {
	at := time.Unix(1_700_000_000, 123_456_789)
	whole := time.Unix(1_700_000_000, 0)
	tests := []struct {
		name  string
		stamp Stamp
		after time.Duration
		want  bool
	}{
		{"just now", Stamp{Ctime: at.UnixNano()}, 0, false},
		{"within a tick", Stamp{Ctime: at.UnixNano()}, 10 * time.Millisecond, false},
		{"later", Stamp{Ctime: at.UnixNano()}, 100 * time.Millisecond, true},
		{"in the future", Stamp{Ctime: at.UnixNano()}, -time.Hour, false},
		{"old mtime set by hand", Stamp{Mtime: 1, Ctime: at.UnixNano()}, 0, false},
		{"future mtime set by hand", Stamp{Mtime: at.Add(time.Hour).UnixNano(), Ctime: at.UnixNano()}, time.Second, true},
		{"whole seconds", Stamp{Ctime: whole.UnixNano()}, 100*time.Millisecond + 123_456_789, false},
		{"whole seconds, later", Stamp{Ctime: whole.UnixNano()}, 3 * time.Second, true},
		{"no change time", Stamp{Mtime: at.UnixNano()}, time.Second, true},
	}
	for _, tt := range tests {
		if got := tt.stamp.Settled(at.Add(tt.after)); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	s := Stamp{Dev: 1, Ino: 2, Size: 3, Mtime: 4, Ctime: 5}
	for i, o := range []Stamp{{Dev: 9, Ino: 2, Size: 3, Mtime: 4, Ctime: 5}, {Dev: 1, Ino: 9, Size: 3, Mtime: 4, Ctime: 5},
		{Dev: 1, Ino: 2, Size: 9, Mtime: 4, Ctime: 5}, {Dev: 1, Ino: 2, Size: 3, Mtime: 9, Ctime: 5}, {Dev: 1, Ino: 2, Size: 3, Mtime: 4, Ctime: 9}} {
		if s.Same(o) {
			t.Errorf("field %d is not compared", i)
		}
	}
	if o := s; !s.Same(o) {
		t.Error("not the same as itself")
	}
}
