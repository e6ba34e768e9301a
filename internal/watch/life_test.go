package watch

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheDefaultsHold(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "f")
	reported := make(chan time.Time, 9)
	w, err := New(Options{Notify: func(Change) { reported <- time.Now() }})
	mayWatch(t, err)
	defer w.Close()
	if err := w.Set([]string{name}, nil); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	write(t, name, "x")
	select {
	case at := <-reported:
		if d := at.Sub(start); d < DefaultQuiet {
			t.Errorf("told after %v", d)
		}
	case <-time.After(time.Minute):
		t.Error("not told")
	}
}

func TestCloseIsTheEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		name := filepath.Join(t.TempDir(), "f")
		var mu sync.Mutex
		closed := false
		w, err := New(Options{Quiet: time.Millisecond, Most: time.Millisecond, Notify: func(Change) {
			mu.Lock()
			defer mu.Unlock()
			if closed {
				t.Error("told after the end")
			}
		}})
		mayWatch(t, err)
		if err := w.Set([]string{name}, nil); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			write(t, name, "x")
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		mu.Lock()
		closed = true
		mu.Unlock()
		if err := w.Close(); err != nil {
			t.Error("a second end is an error: ", err)
		}
	}
	if err := until("the goroutines end", func() bool { return runtime.NumGoroutine() <= before }); err != nil {
		t.Errorf("%v: %d goroutines, before %d", err, runtime.NumGoroutine(), before)
	}
}

// While a change is told, further ones are gathered, whatever their number, and
// Set may be called.
func TestASlowListenerStopsNobody(t *testing.T) {
	dir := t.TempDir()
	f, g := filepath.Join(dir, "f"), filepath.Join(dir, "g")
	entered, leave := make(chan bool), make(chan bool)
	var mu sync.Mutex
	var reported []Change
	var w *Watcher
	w, err := New(Options{Quiet: 10 * time.Millisecond, Most: 30 * time.Millisecond, Notify: func(c Change) {
		mu.Lock()
		reported = append(reported, c)
		n := len(reported)
		mu.Unlock()
		if n == 1 {
			if err := w.Set([]string{f, g}, nil); err != nil {
				t.Error(err)
			}
			entered <- true
			<-leave
		}
	}})
	mayWatch(t, err)
	defer w.Close()
	if err := w.Set([]string{f}, nil); err != nil {
		t.Fatal(err)
	}
	write(t, f, "1")
	<-entered
	for range 5_000 {
		write(t, g, "x")
	}
	leave <- true
	if err := until("what changed meanwhile is told", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.ContainsFunc(reported, func(c Change) bool { return slices.Contains(c.Names, g) })
	}); err != nil {
		t.Error(err)
	}
}

// patient starts a Watcher that takes no folder for one of two names as long as the
// system's notifier has not read of all that happened.
func patient(t *testing.T, o Options) *Watcher {
	t.Helper()
	signs, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	n, err := newFaulty(signs)
	mayWatch(t, err)
	w := assemble(o, n)
	w.pause = func(int) { _ = n.read() }
	w.running.Go(w.drain)
	w.running.Go(w.handleChanges)
	return w
}

// Whatever is done to the folders, and however fast: in the end a write is seen.
func TestNoWatchIsEverLost(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "a", "b", "f")
	var mu sync.Mutex
	reported := 0
	w := patient(t, Options{Quiet: 5 * time.Millisecond, Most: 20 * time.Millisecond, Notify: func(c Change) {
		mu.Lock()
		reported++
		mu.Unlock()
		if c.Err != nil {
			t.Error(c.Err)
		}
	}})
	defer w.Close()
	if err := w.Set([]string{name}, nil); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return reported
	}
	r := rand.New(rand.NewPCG(3, 4))
	path := func(p string) string { return filepath.Join(dir, p) }
	moves := []func(){
		func() { _ = os.RemoveAll(path("a")) },
		func() { _ = os.RemoveAll(path("a/b")) },
		func() { _ = os.MkdirAll(path("a/b"), 0o755) },
		func() { _ = os.MkdirAll(path("z/b"), 0o755) },
		func() { _ = os.Rename(path("a"), path("old")); _ = os.RemoveAll(path("old")) },
		func() { _ = os.RemoveAll(path("a")); _ = os.Rename(path("z"), path("a")) },
		func() { _ = os.WriteFile(name, []byte("x"), 0o644) },
		func() { _ = os.Symlink("b", path("a/l")) },
		func() { _ = os.RemoveAll(path("a")); _ = os.Symlink("z", path("a")) },
	}
	for round := range shortrun.Count(t, 30, 8, "rounds") {
		for range r.IntN(12) {
			moves[r.IntN(len(moves))]()
		}
		if err := os.MkdirAll(path("a/b"), 0o755); err != nil {
			// A link that leads nowhere stands in the way.
			if err := os.RemoveAll(path("a")); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(path("a/b"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for n := -1; n != count(); {
			n = count()
			time.Sleep(40 * time.Millisecond)
		}
		before := count()
		write(t, name, "last")
		if err := until("the write is seen", func() bool { return count() > before }); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}
