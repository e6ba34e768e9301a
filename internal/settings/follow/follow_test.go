//go:build unix

package follow

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
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
