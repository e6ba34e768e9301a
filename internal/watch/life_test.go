package watch

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/nativetest"
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
	w := newWith(options{notify: func(error) { reported <- time.Now() }})
	defer w.Close()
	mayWatch(t, w.Set([]string{name}, nil))
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
		w := newWith(options{quiet: time.Millisecond, most: time.Millisecond, notify: func(error) {
			mu.Lock()
			defer mu.Unlock()
			if closed {
				t.Error("told after the end")
			}
		}})
		mayWatch(t, w.Set([]string{name}, nil))
		for range 5 {
			write(t, name, "x")
		}
		w.Close()
		mu.Lock()
		closed = true
		mu.Unlock()
		w.Close() // a second end does nothing
		if err := w.Set([]string{name}, nil); err != nil {
			t.Error(err)
		}
	}
	if err := until("the goroutines end", func() bool { return runtime.NumGoroutine() <= before }); err != nil {
		t.Errorf("%v: %d goroutines, before %d", err, runtime.NumGoroutine(), before)
	}
}

// While a change is reported, further ones are gathered, whatever their number, and
// Set may be called.
func TestASlowListenerStopsNobody(t *testing.T) {
	dir := t.TempDir()
	f, g := filepath.Join(dir, "f"), filepath.Join(dir, "g")
	entered, leave := make(chan bool), make(chan bool)
	var mu sync.Mutex
	n, last := 0, ""
	var w *Watcher
	w = newWith(options{quiet: 10 * time.Millisecond, most: 30 * time.Millisecond, notify: func(error) {
		text, _ := os.ReadFile(g)
		mu.Lock()
		n++
		first := n == 1
		last = string(text)
		mu.Unlock()
		if first {
			if err := w.Set([]string{f, g}, nil); err != nil {
				t.Error(err)
			}
			entered <- true
			<-leave
		}
	}})
	defer w.Close()
	mayWatch(t, w.Set([]string{f}, nil))
	write(t, f, "1")
	<-entered
	for range 5_000 {
		write(t, g, "x")
	}
	write(t, g, "last")
	leave <- true
	if err := until("what changed meanwhile is reported", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return last == "last"
	}); err != nil {
		t.Error(err)
	}
}

// Whatever is done to the folders, and however fast: in the end a write is seen.
func TestNoWatchIsEverLost(t *testing.T) {
	if nativetest.Wine() {
		t.Skip("!!! NOT TESTED: Wine refuses CancelIo on the handle of a deleted folder !!!")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "a", "b", "f")
	var mu sync.Mutex
	seen := ""
	w := newWith(options{quiet: 5 * time.Millisecond, most: 20 * time.Millisecond, notify: func(err error) {
		text, _ := os.ReadFile(name)
		mu.Lock()
		defer mu.Unlock()
		seen = string(text)
		if err != nil {
			t.Error(err)
		}
	}})
	defer w.Close()
	mayWatch(t, w.Set([]string{name}, nil))
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
		time.Sleep(40 * time.Millisecond)
		last := fmt.Sprint("last ", round)
		write(t, name, last)
		if err := until("the write is seen", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return seen == last
		}); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}
