package watch

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// forgetful is the system's notifier on a busy machine: events wait until they
// are let go, and those of a folder that is let go of meanwhile are gone.
type forgetful struct {
	system
	out      chan fsnotify.Event
	onRemove func(dir string)

	mu      sync.Mutex
	holding string // the folder whose events wait
	held    []fsnotify.Event
}

func (f *forgetful) events() <-chan fsnotify.Event { return f.out }

func (f *forgetful) run() {
	defer close(f.out)
	for e := range f.Events {
		f.mu.Lock()
		hold := f.holding == filepath.Dir(e.Name)
		if hold {
			f.held = append(f.held, e)
		}
		f.mu.Unlock()
		if !hold {
			f.out <- e
		}
	}
}

func (f *forgetful) Remove(dir string) error {
	f.onRemove(dir)
	time.Sleep(20 * time.Millisecond) // for the events to come in
	f.mu.Lock()
	f.held = slices.DeleteFunc(f.held, func(e fsnotify.Event) bool { return filepath.Dir(e.Name) == dir })
	f.mu.Unlock()
	return f.system.Remove(dir)
}

func (f *forgetful) letGo() {
	f.mu.Lock()
	held := f.held
	f.held, f.holding = nil, ""
	f.mu.Unlock()
	for _, e := range held {
		f.out <- e
	}
}

// TestFilesOfOneNewFolder: several files are waited for in a folder that is not
// there yet. Following one of them there loses no event of another.
func TestFilesOfOneNewFolder(t *testing.T) {
	for range 4 { // the order in which they are followed varies
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(dir, "d")
		files := []string{filepath.Join(folder, "a"), filepath.Join(folder, "b"), filepath.Join(folder, "c")}
		made := false
		writeAll := func() {
			if !made {
				made = true
				for _, name := range files {
					write(t, name, "x")
				}
			}
		}
		fw, err := fsnotify.NewWatcher()
		mayWatch(t, err)
		n := &forgetful{system: system{fw}, out: make(chan fsnotify.Event), holding: folder}
		var once sync.Mutex
		n.onRemove = func(name string) {
			once.Lock()
			defer once.Unlock()
			if name == folder {
				writeAll()
			}
		}
		go n.run()
		var heard changesSeen
		w := start(Options{Notify: heard.add, Quiet: 50 * time.Millisecond, Most: 200 * time.Millisecond}, n)
		if err := w.Set(files, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		time.Sleep(150 * time.Millisecond) // they are followed there
		once.Lock()
		writeAll()
		once.Unlock()
		time.Sleep(20 * time.Millisecond)
		n.letGo()
		reported := func() (all []string) {
			for _, line := range heard.lines(folder) {
				for _, name := range []string{"a", "b", "c"} {
					if slices.Contains([]byte(line), name[0]) && !slices.Contains(all, name) {
						all = append(all, name)
					}
				}
			}
			return all
		}
		if err := until("all three are told", func() bool { return len(reported()) == 3 }); err != nil {
			t.Errorf("%v: only %q", err, reported())
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

// twoNames is a notifier that knows a folder by another name for a while.
type twoNames struct {
	system
	folder string
	adds   int // of the folder
	until  int // it is known by this name from so many on
}

func (n *twoNames) Add(dir string) error {
	if dir == n.folder {
		n.adds++
	}
	return n.system.Add(dir)
}

func (n *twoNames) has(dir string) bool { return dir != n.folder || n.adds >= n.until }

// TestFolderOfTwoNames: a folder that was moved here is taken up again once the
// notifier has read of that; one that keeps its other name is told as one that
// cannot be watched.
func TestFolderOfTwoNames(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		until, adds int
		blind       bool
	}{{1, 1, false}, {4, 4, false}, {1 << 30, -1, true}} {
		fw, err := fsnotify.NewWatcher()
		mayWatch(t, err)
		n := &twoNames{system: system{fw}, folder: dir, until: c.until}
		w := start(Options{Notify: func(Change) {}}, n)
		if err := w.Set([]string{filepath.Join(dir, "f")}, nil); errors.Is(err, ErrBlind) != c.blind {
			t.Errorf("until %d: %v", c.until, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if c.adds >= 0 && n.adds != c.adds {
			t.Errorf("until %d: added %d times", c.until, n.adds)
		}
	}
}

// TestTheLastStateIsReported: a listener that looks at files only when they are reported
// has seen the last state of each of them in the end, whatever was done to them and to the
// folders that they share.
func TestTheLastStateIsReported(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := func(p string) string { return filepath.Join(dir, p) }
	names := []string{path("a/b/f"), path("a/b/g"), path("a/c/h"), path("a/i"), path("l/b/f")}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink("a", path("l")))
	var mu sync.Mutex
	seen := map[string]string{}
	look := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			return "none"
		}
		return string(text)
	}
	w := patient(t, Options{Quiet: 5 * time.Millisecond, Most: 20 * time.Millisecond, Notify: func(c Change) {
		mu.Lock()
		defer mu.Unlock()
		if c.Err != nil {
			t.Error(c.Err)
		}
		for _, name := range c.Names {
			seen[name] = look(name)
		}
	}})
	defer w.Close()
	must(w.Set(names, nil))
	mu.Lock()
	for _, name := range names {
		seen[name] = look(name)
	}
	mu.Unlock()
	r := rand.New(rand.NewPCG(5, 8))
	n := 0
	put := func(name string) {
		n++
		_ = os.WriteFile(name, fmt.Append(nil, n), 0o644) // where there is a folder for it
	}
	moves := []func(){
		func() { _ = os.RemoveAll(path("a")) },
		func() { _ = os.RemoveAll(path("a/b")) },
		func() { _ = os.MkdirAll(path("a/b"), 0o755) },
		func() { _ = os.MkdirAll(path("a/c"), 0o755) },
		func() { _ = os.MkdirAll(path("a/b"), 0o755); put(names[0]); put(names[1]) },
		func() { _ = os.MkdirAll(path("a/c"), 0o755); put(names[2]); put(names[3]) },
		func() { put(names[r.IntN(4)]) },
		func() { put(names[r.IntN(4)]) },
		func() { name := names[r.IntN(4)]; put(name + ".new"); _ = os.Rename(name+".new", name) },
		func() { _ = os.Rename(names[0], names[1]) },
		func() {
			_ = os.Rename(path("a/b"), path("a/d"))
			_ = os.Rename(path("a/c"), path("a/b"))
			_ = os.Rename(path("a/d"), path("a/c"))
		},
		func() { _ = os.Rename(path("a"), path("old")); _ = os.RemoveAll(path("old")) },
		func() { time.Sleep(time.Duration(r.IntN(8)) * time.Millisecond) },
	}
	for round := range shortrun.Count(t, 60, 20, "rounds") {
		for range 1 + r.IntN(10) {
			moves[r.IntN(len(moves))]()
		}
		missed := ""
		if err := until("all is seen as it is", func() bool {
			mu.Lock()
			defer mu.Unlock()
			missed = ""
			for _, name := range names {
				if now := look(name); now != seen[name] {
					missed += fmt.Sprintf(" %s is %s, seen as %s;", name, now, seen[name])
				}
			}
			return missed == ""
		}); err != nil {
			t.Fatalf("round %d: %v:%s", round, err, missed)
		}
	}
}

// TestWhatIsGoneAgainIsReported: a file may appear while its absence is reported, and go
// before the next look. The listener has seen it.
func TestWhatIsGoneAgainIsReported(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "d", "f")
	seen := make(chan string, 100)
	first := true
	n, err := newFaulty(t.TempDir())
	mayWatch(t, err)
	w := start(Options{Quiet: 5 * time.Millisecond, Most: 20 * time.Millisecond, Notify: func(Change) {
		if first {
			if err := os.Mkdir(filepath.Dir(name), 0o755); err != nil {
				t.Error(err)
			}
			write(t, name, "there")
		}
		text, _ := os.ReadFile(name)
		if first {
			if err := os.RemoveAll(filepath.Dir(name)); err != nil {
				t.Error(err)
			}
		}
		first = false
		seen <- string(text)
	}}, n)
	defer w.Close()
	if err := w.Set([]string{name}, nil); err != nil {
		t.Fatal(err)
	}
	n.errs <- fsnotify.ErrEventOverflow // so that all is told
	if got := <-seen; got != "there" {
		t.Fatalf("%q", got)
	}
	select {
	case got := <-seen:
		if got != "" {
			t.Errorf("%q", got)
		}
	case <-time.After(time.Minute):
		t.Error("it was not told that the file is gone")
	}
}
