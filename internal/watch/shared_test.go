package watch

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// forgetful is the system's notifier on a busy machine: events of a folder wait until letGo
// is closed, and are gone when it is closed before.
type forgetful struct {
	system
	out     chan fsnotify.Event
	holding string // the folder whose events wait
	letGo   chan struct{}
	onClose func()
}

func (f *forgetful) events() <-chan fsnotify.Event { return f.out }

func (f *forgetful) run() {
	defer close(f.out)
	var held []fsnotify.Event
	letGo := f.letGo
	for {
		select {
		case e, ok := <-f.Events:
			switch {
			case !ok:
				return
			case letGo != nil && filepath.Dir(e.Name) == f.holding:
				held = append(held, e)
			default:
				f.out <- e
			}
		case <-letGo:
			letGo = nil
			for _, e := range held {
				f.out <- e
			}
		}
	}
}

func (f *forgetful) Close() error {
	f.onClose()
	time.Sleep(20 * time.Millisecond) // for the events to come in
	return f.system.Close()
}

// TestFilesOfOneNewFolder: several files are waited for in a folder that is not there yet.
// They are written while their folder is watched anew, or later.
func TestFilesOfOneNewFolder(t *testing.T) {
	for _, early := range []bool{false, true} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(dir, "d")
		files := []string{filepath.Join(folder, "a"), filepath.Join(folder, "b"), filepath.Join(folder, "c")}
		var mu sync.Mutex
		var open []*forgetful
		made := false
		writeAll := func() {
			mu.Lock()
			defer mu.Unlock()
			if _, err := os.Stat(folder); err == nil && !made {
				made = true
				for _, name := range files {
					write(t, name, "x")
				}
			}
		}
		heard := listener{name: filepath.Base}
		w := assembleWith(options{notify: heard.notify, quiet: 50 * time.Millisecond, most: 200 * time.Millisecond})
		w.open = func() (notifier, error) {
			fw, err := fsnotify.NewWatcher()
			if err != nil {
				return nil, err
			}
			n := &forgetful{system: system{fw}, out: make(chan fsnotify.Event), holding: folder, letGo: make(chan struct{}), onClose: func() {
				if early {
					writeAll()
				}
			}}
			mu.Lock()
			open = append(open, n)
			mu.Unlock()
			go n.run()
			return n, nil
		}
		w.running.Go(w.work)
		mayWatch(t, w.Set(files, nil))
		heard.watches(files, nil)
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		time.Sleep(150 * time.Millisecond) // they are followed there
		writeAll()
		time.Sleep(20 * time.Millisecond)
		mu.Lock()
		last := open[len(open)-1]
		mu.Unlock()
		close(last.letGo)
		if err := until("all three are reported", func() bool {
			all := strings.Join(heard.lines(), " ")
			return strings.Contains(all, "a") && strings.Contains(all, "b") && strings.Contains(all, "c")
		}); err != nil {
			t.Errorf("%v: only %q", err, heard.lines())
		}
		w.Close()
	}
}

// twoNames is a notifier that knows a folder by another name.
type twoNames struct {
	system
	folder string
}

func (n twoNames) has(dir string) bool { return dir != n.folder }

// TestFolderOfTwoNames: a folder whose events come under another name is reported as one
// that cannot be watched. Its neighbours are watched all the same.
func TestFolderOfTwoNames(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f, g := filepath.Join(dir, "sub", "f"), filepath.Join(dir, "g")
	if err := os.Mkdir(filepath.Dir(f), 0o755); err != nil {
		t.Fatal(err)
	}
	for blind, folder := range map[bool]string{true: filepath.Dir(f), false: "elsewhere"} {
		reports := make(chan error, 9)
		w := assembleWith(options{notify: func(err error) { reports <- err }, quiet: time.Millisecond, most: time.Millisecond})
		w.open = func() (notifier, error) {
			fw, err := fsnotify.NewWatcher()
			return twoNames{system{fw}, folder}, err
		}
		w.running.Go(w.work)
		err := w.Set([]string{f, g}, nil)
		if got := errors.Is(err, errOtherName); got != blind || blind && !errors.Is(err, ErrBlind) {
			mayWatch(t, err)
			t.Errorf("%s: %v", folder, err)
		}
		write(t, g, "x")
		for seen := false; !seen; {
			select {
			case err := <-reports:
				seen = err == nil
			case <-time.After(time.Minute):
				t.Fatal("its neighbour is not watched")
			}
		}
		w.Close()
	}
}

// TestTheLastStateIsReported: a listener that looks at files only when they are reported
// has seen the last state of each of them in the end, whatever was done to them and to the
// folders that they share.
func TestTheLastStateIsReported(t *testing.T) {
	nativetest.NeedSymlinks(t)
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
	w := newWith(options{quiet: 5 * time.Millisecond, most: 20 * time.Millisecond, notify: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Error(err)
		}
		for _, name := range names {
			seen[name] = look(name)
		}
	}})
	defer w.Close()
	mayWatch(t, w.Set(names, nil))
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
	f := newFaults(t)
	w := assembleWith(options{quiet: 5 * time.Millisecond, most: 20 * time.Millisecond, notify: func(error) {
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
	}})
	w.open = f.notifier
	w.running.Go(w.work)
	defer w.Close()
	mayWatch(t, w.Set([]string{name}, nil))
	f.fail(fsnotify.ErrEventOverflow) // so that there is a report
	if got := <-seen; got != "there" {
		t.Fatalf("%q", got)
	}
	select {
	case got := <-seen:
		if got != "" {
			t.Errorf("%q", got)
		}
	case <-time.After(time.Minute):
		t.Error("it was not reported that the file is gone")
	}
}
