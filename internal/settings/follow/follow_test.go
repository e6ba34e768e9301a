//go:build unix

package follow

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// looks plays a look at the settings files before a call, by a clock of its own.
func looks(t *testing.T, stale func(look int) ([]string, bool), play func(w *Follower, read *[]string)) {
	synctest.Test(t, func(*testing.T) {
		n, read := 0, []string{}
		w := &Follower{log: zerolog.Nop(), start: time.Now(),
			stale:  func() ([]string, bool) { n++; return stale(n) },
			reload: func(names []string) { read = append(read, names...) },
		}
		time.Sleep(checkInterval)
		play(w, &read)
	})
}

// TestCheckWaitsForTheWriter: what is gone or half written is looked at until it is
// whole, and taken as it is where it stays so.
func TestCheckWaitsForTheWriter(t *testing.T) {
	for _, c := range []struct {
		name  string
		whole int // the look that finds the file whole
		waits time.Duration
	}{
		{"whole", 1, 0},
		{"half written", 4, 3 * writerPause},
		{"broken for good", 1000, 250 * time.Millisecond},
	} {
		stale := func(look int) ([]string, bool) { return []string{"a"}, look < c.whole }
		looks(t, stale, func(w *Follower, read *[]string) {
			began := time.Now()
			w.Check()
			if took := time.Since(began); took != c.waits || len(*read) != 1 {
				t.Errorf("%s: %v, read %d times", c.name, took, len(*read))
			}
		})
	}
}

// TestLookIsDueByItsAge: calls share a look, and none comes before the last one is
// old enough.
func TestLookIsDueByItsAge(t *testing.T) {
	made := 0
	looks(t, func(look int) ([]string, bool) { made = look; return nil, false }, func(w *Follower, read *[]string) {
		for range 3 {
			w.Check()
		}
		if made != 1 {
			t.Errorf("%d looks for three calls at once", made)
		}
		time.Sleep(checkInterval - 1)
		w.Check()
		if made != 1 {
			t.Errorf("%d looks before the first one was %v old", made, checkInterval)
		}
		time.Sleep(1 * time.Nanosecond)
		w.Check()
		if made != 2 || len(*read) != 0 {
			t.Errorf("%d looks, %d reads of files that did not change", made, len(*read))
		}
	})
}

// TestLookAfterAnEvent: a call after an event waits for a look that began after it, however
// young the last one is.
func TestLookAfterAnEvent(t *testing.T) {
	made, during := 0, func() {}
	looks(t, func(look int) ([]string, bool) { made = look; during(); return nil, false }, func(w *Follower, read *[]string) {
		for want := 1; want <= 3; want++ {
			w.Check()
			w.Check()
			if made != want {
				t.Errorf("%d looks after %d events", made, want-1)
			}
			w.noticed.Store(true)
		}
		during = func() { w.noticed.Store(true); during = func() {} }
		w.Check()
		if made != 5 || w.noticed.Load() {
			t.Errorf("%d looks, the last event during the fourth one", made)
		}
	})
}

// TestCallsWaitForALookAfterTheirEvent: of many calls at once each one sees what was written
// before an event that came before the call.
func TestCallsWaitForALookAfterTheirEvent(t *testing.T) {
	var written, noticed, read atomic.Int64
	w := &Follower{log: zerolog.Nop(), start: time.Now()}
	var found int64
	w.stale = func() ([]string, bool) {
		found = written.Load()
		runtime.Gosched()
		return []string{"a"}, false
	}
	w.reload = func([]string) { read.Store(found) }
	over := make(chan struct{})
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				least := noticed.Load()
				if w.Check(); read.Load() < least {
					t.Errorf("a call sees %d, written before it was %d", read.Load(), least)
					return
				}
			}
		})
	}
	for n := range int64(shortrun.Count(t, 20_000, 4000, "events")) {
		written.Store(n)
		w.noticed.Store(true)
		noticed.Store(n)
		runtime.Gosched()
	}
	close(over)
	calls.Wait()
}

// TestEventMakesALookDue: a change of a file makes a look due, and without an event none is.
func TestEventMakesALookDue(t *testing.T) {
	name := filepath.Join(t.TempDir(), "settings.json")
	var looks atomic.Int32
	w := New(func() ([]string, bool) { looks.Add(1); return nil, false }, func([]string) {}, zerolog.Nop())
	defer w.Close()
	w.Watch([]string{name}, nil)
	w.lastCheck.Store(int64(time.Hour)) // it does not become old
	w.noticed.Store(false)
	if w.Check(); looks.Load() != 0 {
		t.Fatal("a look without a change")
	}
	if err := os.WriteFile(name, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); looks.Load() == 0; runtime.Gosched() {
		if w.Check(); time.Since(began) > 20*time.Second {
			t.Fatal("no look after a change")
		}
	}
}

// TestLookAtADiskThatHangs: calls go on, and what the look finds in the end holds.
func TestLookAtADiskThatHangs(t *testing.T) {
	hangs := make(chan struct{})
	stale := func(int) ([]string, bool) { <-hangs; return []string{"a"}, false }
	looks(t, stale, func(w *Follower, read *[]string) {
		hangs = make(chan struct{})
		began := time.Now()
		w.Check()
		if took := time.Since(began); took != checkTimeout {
			t.Errorf("the first call waited for %v", took)
		}
		w.Check()
		if took := time.Since(began); took != checkTimeout || len(*read) != 0 {
			t.Errorf("the second call waited, too: %v in all", took)
		}
		close(hangs)
		synctest.Wait()
		if len(*read) != 1 {
			t.Error("what changed was not taken over")
		}
		time.Sleep(checkInterval)
		w.Check()
		if len(*read) != 2 {
			t.Error("no look after one that hung")
		}
	})
}
