package save

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// lockAll locks names of the folder together.
func (d *testFolder) lockAll(ctx context.Context, names ...string) (*Locks, error) {
	d.t.Helper()
	var set LockSet
	for _, name := range names {
		t := target(d.t, d.path(name))
		set.Targets = append(set.Targets, t)
	}
	return d.save.LockAll(ctx, set)
}

func TestLockAllCoversItsNames(t *testing.T) {
	d := newTestFolder(t)
	d.put("a", "")
	l, err := d.lockAll(t.Context(), "a", "b", "x/y", "b")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name        string
		covers, new bool
	}{{"a", true, true}, {"b", true, true}, {"x/y", true, true}, {"c", false, false}, {"x/z", false, false}} {
		at := target(t, d.path(c.name))
		if l.Covers(at) != c.covers || l.CoversNew(at) != c.new {
			t.Errorf("%s: %v, %v", c.name, l.Covers(at), l.CoversNew(at))
		}
	}
	os.Mkdir(d.path("x"), 0o755)
	if at := target(t, d.path("x/y")); l.Covers(at) || !l.CoversNew(at) {
		t.Errorf("x/y with its folder: %v, %v", l.Covers(at), l.CoversNew(at))
	}
	d.put("x/y", "")
	if at := target(t, d.path("x/y")); l.CoversNew(at) {
		t.Error("a file that appeared is covered")
	}
	l.Unlock()
	l.Unlock()
}

// One of the names that is locked elsewhere keeps all of them waiting, and leaves none locked.
func TestLockAllWaitsForEach(t *testing.T) {
	d := newTestFolder(t, func(o *Options) { o.LockWait = 50 * time.Millisecond })
	one, err := d.lockAll(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := d.lockAll(t.Context(), "a", "b", "c"); !errors.As(err, new(*BusyError)) {
			t.Errorf("%v", err)
		}
	}
	one.Unlock()
	l, err := d.lockAll(t.Context(), "a", "b", "c")
	if err != nil {
		t.Fatal(err)
	}
	l.Unlock()
}

// A folder excludes every other name, in this process and in others.
func TestLockAllOfAFolder(t *testing.T) {
	for _, same := range []bool{true, false} {
		d := newTestFolder(t, func(o *Options) { o.LockWait = 50 * time.Millisecond })
		os.Mkdir(d.path("folder"), 0o755)
		other := &testFolder{t: t, dir: d.dir, state: d.state, save: d.save}
		if !same {
			other.open(func(o *Options) { o.LockWait = 50 * time.Millisecond })
		}
		l, err := d.lockAll(t.Context(), "folder")
		if err != nil {
			t.Fatal(err)
		}
		if !l.Covers(target(t, d.path("folder/below/it"))) {
			t.Error("a name below the folder is not covered")
		}
		for _, name := range []string{"folder/file", "elsewhere"} {
			if _, err := other.save.Lock(t.Context(), target(t, d.path(name))); !errors.As(err, new(*BusyError)) {
				t.Errorf("%s: %v", name, err)
			}
		}
		l.Unlock()
		file, err := other.save.Lock(t.Context(), target(t, d.path("folder/file")))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.lockAll(t.Context(), "folder"); !errors.As(err, new(*BusyError)) {
			t.Errorf("beside a file: %v", err)
		}
		file.Unlock()
	}
}

// Callers that lock overlapping sets in any order, single names and folders among them, all
// come through. Control: with each set in its own order, two of them wait for each other.
func TestLockAllNeverDeadlocks(t *testing.T) {
	d := newTestFolder(t)
	os.Mkdir(d.path("folder"), 0o755)
	other := &testFolder{t: t, dir: d.dir, state: d.state}
	other.open()
	var inside, alone atomic.Int64
	var all sync.WaitGroup
	for worker := range 8 {
		saver := []*Saver{d.save, other.save}[worker%2]
		r := rand.New(rand.NewPCG(1, uint64(worker)))
		var targets []*fsys.Target // of this worker: a Target is for one goroutine
		for n := range 40 {
			targets = append(targets, target(t, d.path(fmt.Sprint("f", n))))
		}
		folder := target(t, d.path("folder"))
		all.Go(func() {
			for range 40 {
				set := LockSet{}
				for _, n := range r.Perm(len(targets))[:1+r.IntN(8)] {
					set.Targets = append(set.Targets, targets[n])
				}
				whole := r.IntN(10) == 0
				if whole {
					set.Targets = append(set.Targets, folder)
				} else if r.IntN(4) == 0 {
					set.Purposes = []string{"parts"}
				}
				l, err := saver.LockAll(t.Context(), set)
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); whole && n != 1 || alone.Load() > 0 {
					t.Error("a folder's lock was not alone")
				}
				if whole {
					alone.Add(1)
					alone.Add(-1)
				}
				inside.Add(-1)
				l.Unlock()
			}
		})
	}
	all.Wait()

	control := newTestFolder(t, func(o *Options) { o.LockWait = 50 * time.Millisecond })
	a, b := lockKeyIn(1, 1, "a"), lockKeyIn(1, 1, "b")
	got, goOn, failed := make(chan bool), make(chan bool), make(chan error)
	for _, keys := range [][]string{{a, b}, {b, a}} {
		go func() {
			first, err := control.save.lockKey(t.Context(), keys[0])
			for err != nil { // a machine with too much to do
				first, err = control.save.lockKey(t.Context(), keys[0])
			}
			got <- true
			<-goOn
			second, err := control.save.lockKey(t.Context(), keys[1])
			failed <- err
			if err == nil {
				second.Unlock()
			}
			first.Unlock()
		}()
	}
	<-got
	<-got
	close(goOn)
	errs := []error{<-failed, <-failed}
	if !slices.ContainsFunc(errs, func(err error) bool { return errors.As(err, new(*BusyError)) }) {
		t.Errorf("the control was not stopped: %v", errs)
	}
}
