//go:build unix

package pdf

import (
	"testing"
	"time"
)

// What lies there sound is loaded by many at once: one that stands still in the
// middle of it, as a stopped process does, keeps nobody waiting. With a lock for one
// alone it would: the control.
func TestManyLoadAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles")
	}
	dir, _ := compiledOnce(t)
	for how, waits := range map[int]bool{beside: false, alone: true} {
		unlock := lockFolder(dir, how, time.Second)
		loaded := make(chan error, 1)
		go func() {
			r := New(dir)
			defer r.Close()
			loaded <- r.Warm(quiet)
		}()
		var err error
		kept := false
		select {
		case err = <-loaded:
		case <-time.After(5 * time.Second):
			kept = true
		}
		unlock()
		if kept {
			err = <-loaded
		}
		if err != nil || kept != waits {
			t.Errorf("held %d: it waited: %v, %v", how, kept, err)
		}
	}
}
