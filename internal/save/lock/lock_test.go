package lock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/fsmcp/fsmcp/internal/filelock"
)

// stripesIn are the locks of one process on the files of a folder.
func stripesIn(dir string) *Stripes {
	return NewStripes(func(n int) (File, error) {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(n)), os.O_RDWR|os.O_CREATE, 0o600)
		return testFile{f}, err
	})
}

type testFile struct{ *os.File }

func (f testFile) Try() (bool, error) { return filelock.Try(f.File) }
func (f testFile) Unlock() error      { return filelock.Unlock(f.File) }
func (f testFile) Close()             { f.File.Close() }

// Names that some file system takes for one have one
func TestFold(t *testing.T) {
	for _, pair := range [][2]string{{"File", "fILE"}, {"\u00e9", "e\u0301"}, {"É", "é"}, {"straße", "STRASSE"}, {"\u212b", "å"}} {
		if fold(pair[0]) != fold(pair[1]) {
			t.Errorf("%q and %q differ", pair[0], pair[1])
		}
	}
	if fold("a") == fold("b") {
		t.Error("a and b are one")
	}
}

// The stripe of a key is part of what processes agree on.
func TestStripesStayTheSame(t *testing.T) {
	for key, want := range map[string]int{
		KeyIn(1, 2, "file"):              StripeOf(KeyIn(1, 2, "FILE")),
		KeyIn(65024, 9981938, "main.go"): StripeOf(KeyIn(65024, 9981938, "main.go")),
	} {
		if got := StripeOf(key); got != want {
			t.Errorf("%q: %d, want %d", key, got, want)
		}
	}
	seen := map[int]bool{}
	for n := range 4000 {
		seen[StripeOf(KeyIn(1, uint64(n), "f"))] = true
	}
	if len(seen) < 250 {
		t.Errorf("only %d stripes are used", len(seen))
	}
}

// opened are the lock files that are open.
func opened(s *Stripes) (open []int) {
	for n := range s.each {
		if s.each[n].file != nil {
			open = append(open, n)
		}
	}
	return open
}

// Lock files are closed again, those that were used longest ago first, and never
// one that is held. The control arm closes none.
func TestLockFilesAreClosed(t *testing.T) {
	const most = 4
	for _, bounded := range []bool{true, false} {
		dir := t.TempDir()
		st := stripesIn(dir)
		if bounded {
			st.most = most
		}
		held := func(n int) {
			t.Helper()
			if err := st.Lock(t.Context(), n); err != nil {
				t.Fatal(err)
			}
		}
		once := func(n int) {
			t.Helper()
			held(n)
			st.Unlock(n)
		}
		held(0)
		for n := 1; n < 100; n++ {
			once(n)
			once(1) // used again and again
		}
		if want := []int{0, 1, 98, 99}; slices.Equal(opened(st), want) != bounded {
			t.Errorf("bounded %v: %v are open, want %v", bounded, opened(st), want)
		}
		if !bounded {
			continue
		}
		for n := 200; n < 210; n++ { // more are held than may stay open
			held(n)
		}
		theirs := stripesIn(dir)
		for _, n := range []int{0, 200, 209, 50} {
			got, err := theirs.enter(n)
			if got != (n == 50) || err != nil {
				t.Errorf("stripe %d: taken by another %v, %v", n, got, err)
			}
		}
		for n := 200; n < 210; n++ {
			st.Unlock(n)
		}
		st.Unlock(0)
		if once(60); len(opened(st)) > most {
			t.Errorf("%v are open", opened(st))
		}
	}
}

// Where the process has no descriptor left, a lock file that is not in use makes
// room for another.
func TestLockFilesMakeRoom(t *testing.T) {
	const most = 3
	st := stripesIn(t.TempDir())
	open := st.open
	st.open = func(n int) (File, error) {
		if len(opened(st)) == most {
			return nil, syscall.EMFILE
		}
		return open(n)
	}
	for n := range 20 {
		if err := st.Lock(t.Context(), n); err != nil {
			t.Fatal(n, err)
		}
		st.Unlock(n)
	}
	for n := range most {
		if err := st.Lock(t.Context(), n); err != nil {
			t.Fatal(n, err)
		}
	}
	if err := st.Lock(t.Context(), most); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("all are held: %v", err)
	}
}

// Two processes, many goroutines that lock at once, and far more stripes than lock files:
// no stripe ever has two owners.
func TestLockFilesAreClosedUnderLoad(t *testing.T) {
	const most, workers = 2, 8
	dir := t.TempDir()
	var processes [2]*Stripes
	var keys [2]Keys
	for i := range processes {
		processes[i] = stripesIn(dir)
		processes[i].most = most
	}
	var held [2][StripeCount]atomic.Int32
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			own, other := w%2, 1-w%2
			for n := range 300 {
				key := fmt.Sprint((w*7 + n) % 40)
				at := StripeOf(key)
				if err := errors.Join(keys[own].Lock(t.Context(), key), processes[own].Lock(t.Context(), at)); err != nil {
					t.Error(err)
					return
				}
				held[own][at].Add(1)
				if held[other][at].Load() != 0 {
					t.Errorf("stripe %d is held by both", at)
				}
				held[own][at].Add(-1)
				processes[own].Unlock(at)
				keys[own].Unlock(key)
			}
		})
	}
	all.Wait()
	for _, s := range processes {
		if n := len(opened(s)); n > most+workers/2 {
			t.Errorf("%d lock files stay open", n)
		}
	}
}
