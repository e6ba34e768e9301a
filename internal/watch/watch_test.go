package watch

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Times of the scripts, by a clock that only they move.
const (
	testQuiet = 120 * time.Millisecond
	testMost  = 360 * time.Millisecond
)

// until waits for something that is to come true soon.
func until(what string, true func() bool) error {
	for begun := time.Now(); !true(); time.Sleep(2 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			return fmt.Errorf("never: %s", what)
		}
	}
	return nil
}

// mayWatch skips a test if the machine allows no more watches. Any other error fails the
// test.
func mayWatch(t *testing.T, err error) {
	t.Helper()
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOSPC):
		t.Skipf("!!! NOT TESTED: this machine lets nobody watch more: %v !!!", err)
	case err != nil:
		t.Fatal(err)
	}
}

// faulty is the system's notifier with the faults that scripts ask for. It tells
// when everything has been read that happened until now: what the system tells has
// an order, so a sign in a folder of its own comes last.
type faulty struct {
	system
	full  atomic.Bool
	out   chan fsnotify.Event
	errs  chan error
	ended chan struct{}
	signs string

	mu   sync.Mutex
	n    int
	seen map[string]chan struct{} // by the sign
}

// newFaulty makes one whose signs are in that folder.
func newFaulty(signs string) (*faulty, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	f := &faulty{system: system{w}, out: make(chan fsnotify.Event), errs: make(chan error), ended: make(chan struct{}), signs: signs, seen: make(map[string]chan struct{})}
	if err := w.Add(signs); err != nil {
		w.Close()
		return nil, err
	}
	go f.run()
	return f, nil
}

func (f *faulty) run() {
	defer close(f.out)
	defer close(f.ended)
	for {
		select {
		case err, ok := <-f.Errors:
			if !ok {
				return
			}
			f.errs <- err
		case e, ok := <-f.Events:
			if !ok {
				return
			}
			if filepath.Dir(e.Name) != f.signs {
				f.out <- e
				continue
			}
			f.out <- fsnotify.Event{} // taken when what came before it was noted
			f.mu.Lock()
			if seen := f.seen[e.Name]; seen != nil {
				delete(f.seen, e.Name)
				close(seen)
			}
			f.mu.Unlock()
		}
	}
}

// read waits until the Watcher has noted all that happened until now.
func (f *faulty) read() error {
	f.mu.Lock()
	f.n++
	sign, seen := filepath.Join(f.signs, fmt.Sprint(f.n)), make(chan struct{})
	f.seen[sign] = seen
	f.mu.Unlock()
	if err := os.Mkdir(sign, 0o755); err != nil {
		return err
	}
	select {
	case <-seen:
		return nil
	case <-f.ended:
		return errors.New("the notifier is closed")
	case <-time.After(time.Minute):
		return errors.New("the notifier does not read")
	}
}

func (f *faulty) events() <-chan fsnotify.Event { return f.out }
func (f *faulty) failures() <-chan error        { return f.errs }

func (f *faulty) Add(dir string) error {
	if f.full.Load() {
		return syscall.ENOSPC
	}
	return f.system.Add(dir)
}

// changesSeen gathers what a Watcher tells.
type changesSeen struct {
	mu       sync.Mutex
	reported []Change
}

func (t *changesSeen) add(c Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reported = append(t.reported, c)
}

// lines are the changes one a line, with names as the script has them.
func (t *changesSeen) lines(dir string) (out []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.reported {
		var words []string
		for _, name := range c.Names {
			rel, err := filepath.Rel(dir, name)
			if err != nil {
				rel = name
			}
			words = append(words, filepath.ToSlash(rel))
		}
		if c.Err != nil {
			words = append(words, "blind")
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

// A script holds actions, a line with three dashes, and the changes that are
// told, one a line. "watch" names files, and folders by a slash at their end.
// Actions follow each other at once; "wait" lets everything settle, so that what
// comes before it is told before what comes after it.
//
// Folders are followed while the actions go on; what is told goes by a clock that
// stands still meanwhile.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatal("no scripts")
	}
	outcome := make([]error, len(scripts))
	var all sync.WaitGroup
	for i, name := range scripts {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		signs, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() { outcome[i] = runScript(name, dir, signs) })
	}
	all.Wait()
	for i, name := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			switch err := outcome[i]; {
			case errors.Is(err, errors.ErrUnsupported):
				t.Skip("!!! NOT TESTED: this system has none of what the script does !!!")
			case err != nil:
				t.Error(err)
			}
		})
	}
}

func runScript(name, dir, signs string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	actions, events, ok := strings.Cut(string(text), "\n---\n")
	switch {
	case !ok:
		return errors.New("no line with dashes")
	case runtime.GOOS == "windows" && strings.Contains(actions, "# unix"):
		return errors.ErrUnsupported
	}
	var heard changesSeen
	n, err := newFaulty(signs)
	if err != nil {
		return err
	}
	w := assemble(Options{Notify: heard.add, Quiet: testQuiet, Most: testMost}, n)
	r := &runner{dir: dir, watcher: w, notifier: n, heard: &heard}
	w.pause = func(int) { _ = n.read() }
	w.pending.now = func() time.Time { return time.Unix(0, r.now.Load()) }
	w.running.Go(w.drain)
	w.running.Go(r.handleChanges)
	defer w.Close()
	for lines := bufio.NewScanner(strings.NewReader(actions)); lines.Scan(); {
		if line := strings.TrimSpace(lines.Text()); line != "" && line[0] != '#' {
			if err := r.do(strings.Fields(line)); err != nil {
				return err
			}
		}
	}
	if err := r.settle(); err != nil {
		return err
	}
	if got, want := strings.Join(heard.lines(dir), "\n"), strings.TrimSpace(events); got != want {
		return fmt.Errorf("told:\n%s\nwant:\n%s", got, want)
	}
	return nil
}

type runner struct {
	dir      string
	watcher  *Watcher
	notifier *faulty
	heard    *changesSeen
	now      atomic.Int64 // the time, in nanoseconds
	working  sync.Mutex   // held while the work of handleChanges is done
}

func (r *runner) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// handleChanges walks to moved targets at once. settle reports what is due: it
// moves the clock.
func (r *runner) handleChanges() {
	for {
		select {
		case <-r.watcher.done:
			return
		case <-r.watcher.pending.signal:
			r.work()
		}
	}
}

// work does all that there is to do at this time.
func (r *runner) work() {
	r.working.Lock()
	defer r.working.Unlock()
	for r.watcher.step() <= 0 {
	}
}

// settle lets the time of all that happened until now be over.
func (r *runner) settle() error {
	if err := r.pass(0); err != nil {
		return err
	}
	return r.pass(testMost + testQuiet)
}

// pass has what happened until now noted and followed, and then lets time go by.
func (r *runner) pass(d time.Duration) error {
	if err := r.notifier.read(); err != nil {
		return err
	}
	r.work()
	r.now.Add(int64(d))
	r.work()
	return nil
}

func (r *runner) do(words []string) (err error) {
	args := make([]string, 3)
	copy(args, words[1:])
	a, b := r.path(args[0]), r.path(args[1])
	switch words[0] {
	case "watch":
		var files, folders []string
		for _, name := range words[1:] {
			if strings.HasSuffix(name, "/") {
				folders = append(folders, r.path(name))
			} else {
				files = append(files, r.path(name))
			}
		}
		if err = r.watcher.Set(files, folders); errors.Is(err, ErrBlind) {
			r.heard.add(Change{Err: err})
			err = nil
		}
	case "write":
		err = os.WriteFile(a, []byte(args[1]), 0o644)
	case "append":
		var f *os.File
		if f, err = os.OpenFile(a, os.O_APPEND|os.O_WRONLY, 0); err == nil {
			_, err = f.WriteString(args[1])
			err = errors.Join(err, f.Close())
		}
	case "many": // writes with blanks between them that are shorter than the quiet
		for i := range 12 {
			if err = os.WriteFile(a, fmt.Append(nil, i), 0o644); err != nil {
				break
			}
			if err = r.pass(testQuiet / 3); err != nil {
				break
			}
		}
	case "mkdir":
		err = os.MkdirAll(a, 0o755)
	case "rename":
		err = os.Rename(a, b)
	case "rm":
		if _, err = os.Lstat(a); err == nil {
			err = os.RemoveAll(a)
		}
	case "link":
		err = os.Symlink(filepath.FromSlash(args[0]), b)
	case "abslink":
		err = os.Symlink(a, b)
	case "hardlink":
		err = os.Link(a, b)
	case "chmod":
		err = os.Chmod(a, 0o600)
	case "full":
		r.notifier.full.Store(true)
	case "overflow":
		r.notifier.errs <- fsnotify.ErrEventOverflow
	case "fail":
		r.notifier.errs <- errors.New("it is broken")
	case "wait":
		err = r.settle()
	default:
		err = fmt.Errorf("no such action: %s", words[0])
	}
	return err
}
