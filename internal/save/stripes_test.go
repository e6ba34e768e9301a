package save

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unicode"

	"golang.org/x/text/cases"

	"github.com/fsmcp/fsmcp/internal/filelock"
)

// stripesIn are the locks of one process on the files of a folder; open counts its files.
func stripesIn(dir string) (st *stripes, open *atomic.Int32) {
	open = new(atomic.Int32)
	return newStripes(func(n int) (func(), error) {
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(n)), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		got, err := filelock.Try(f)
		if !got {
			f.Close()
			return nil, err
		}
		open.Add(1)
		return func() { open.Add(-1); f.Close() }, nil
	}), open
}

// Names that some file system takes for one have one
func TestFold(t *testing.T) {
	for _, pair := range [][2]string{{"File", "fILE"}, {"\u00e9", "e\u0301"}, {"É", "é"}, {"straße", "STRASSE"}, {"\u212b", "å"}} {
		if foldName(pair[0]) != foldName(pair[1]) {
			t.Errorf("%q and %q differ", pair[0], pair[1])
		}
	}
	full := cases.Fold()
	for r := range unicode.MaxRune {
		if folded := full.String(string(r)); folded != string(r) && foldName(folded) != foldName(string(r)) {
			t.Errorf("%U and its case folding %q differ", r, folded)
		}
	}
	if foldName("a") == foldName("b") {
		t.Error("a and b are one")
	}
}

// The stripe of a key is part of what processes agree on.
func TestStripesStayTheSame(t *testing.T) {
	for key, want := range map[string]int{
		lockKeyIn(1, 2, "file"):              stripeOf(lockKeyIn(1, 2, "FILE")),
		lockKeyIn(65024, 9981938, "main.go"): stripeOf(lockKeyIn(65024, 9981938, "main.go")),
	} {
		if got := stripeOf(key); got != want {
			t.Errorf("%q: %d, want %d", key, got, want)
		}
	}
	seen := map[int]bool{}
	for n := range 4000 {
		seen[stripeOf(lockKeyIn(1, uint64(n), "f"))] = true
	}
	if len(seen) < 250 {
		t.Errorf("only %d stripes are used", len(seen))
	}
}

// A lock file is open while it is held, and other processes are kept out for as long.
func TestLockFilesAreClosed(t *testing.T) {
	dir := t.TempDir()
	st, open := stripesIn(dir)
	theirs, _ := stripesIn(dir)
	taken := func(n int) bool {
		t.Helper()
		got, err := theirs.take(n)
		if err != nil {
			t.Fatal(err)
		}
		if got {
			theirs.giveBack(n)
		}
		return !got
	}
	var unlock []func()
	for _, n := range []int{0, 1, 1, 209} {
		done, err := st.lock(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		unlock = append(unlock, done)
	}
	if open.Load() != 3 || !taken(0) || !taken(1) || !taken(209) || taken(50) {
		t.Errorf("%d are open", open.Load())
	}
	unlock[1]()
	if open.Load() != 3 || !taken(1) {
		t.Errorf("%d are open, one stripe has a holder less", open.Load())
	}
	for _, done := range []func(){unlock[0], unlock[2], unlock[3]} {
		done()
	}
	if open.Load() != 0 || taken(0) || taken(1) || taken(209) {
		t.Errorf("%d are open, and none is held", open.Load())
	}
}

// Where a lock file cannot be opened, Lock says why, and the stripe is free for another try.
func TestLockFileThatCannotBeOpened(t *testing.T) {
	st, _ := stripesIn(t.TempDir())
	try, failing := st.try, true
	st.try = func(n int) (func(), error) {
		if failing {
			return nil, syscall.EMFILE
		}
		return try(n)
	}
	if _, err := st.lock(t.Context(), 1); !errors.Is(err, syscall.EMFILE) {
		t.Error(err)
	}
	failing = false
	unlock, err := st.lock(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// Two processes and many goroutines that lock at once: no stripe ever has two owners, and
// no more files are open than are held.
func TestLockFilesUnderLoad(t *testing.T) {
	const workers = 8
	dir := t.TempDir()
	var processes [2]*stripes
	var open [2]*atomic.Int32
	for i := range processes {
		processes[i], open[i] = stripesIn(dir)
	}
	var held [2][stripeCount]atomic.Int32
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			own, other := w%2, 1-w%2
			for n := range 300 {
				at := stripeOf(fmt.Sprint((w*7 + n) % 40))
				unlock, err := processes[own].lock(t.Context(), at)
				if err != nil {
					t.Error(err)
					return
				}
				held[own][at].Add(1)
				if held[other][at].Load() != 0 {
					t.Errorf("stripe %d is held by both", at)
				}
				if n := open[own].Load(); n > workers/2 {
					t.Errorf("%d lock files are open", n)
				}
				held[own][at].Add(-1)
				unlock()
			}
		})
	}
	all.Wait()
	if n := open[0].Load() + open[1].Load(); n != 0 {
		t.Errorf("%d lock files stay open", n)
	}
}
