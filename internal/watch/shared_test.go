package watch

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
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
		if err != nil {
			t.Skip(err) // the machine's limit
		}
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
		var heard tale
		w := start(Options{Tell: heard.tell, Quiet: 50 * time.Millisecond, Most: 200 * time.Millisecond}, n)
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
		told := func() (all []string) {
			for _, line := range heard.lines(folder) {
				for _, name := range []string{"a", "b", "c"} {
					if slices.Contains([]byte(line), name[0]) && !slices.Contains(all, name) {
						all = append(all, name)
					}
				}
			}
			return all
		}
		for deadline := time.Now().Add(3 * time.Second); len(told()) < 3; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("told only %q", told())
				break
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}
