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

// Times of the tests: long enough for a busy machine, short enough to wait for.
const (
	testQuiet = 120 * time.Millisecond
	testMost  = 360 * time.Millisecond
)

// mayWatch skips a test where the machine lets nobody watch more than is watched
// already. Any other error is one.
func mayWatch(t *testing.T, err error) {
	t.Helper()
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOSPC):
		t.Skipf("!!! NOT TESTED: this machine lets nobody watch more: %v !!!", err)
	case err != nil:
		t.Fatal(err)
	}
}

// faulty is the system's notifier with the faults that scripts ask for.
type faulty struct {
	system
	full atomic.Bool
	errs chan error
}

func newFaulty() (*faulty, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	f := &faulty{system: system{w}, errs: make(chan error)}
	go func() {
		defer close(f.errs)
		for err := range w.Errors {
			f.errs <- err
		}
	}()
	return f, nil
}

func (f *faulty) failures() <-chan error { return f.errs }

func (f *faulty) Add(dir string) error {
	if f.full.Load() {
		return syscall.ENOSPC
	}
	return f.system.Add(dir)
}

// tale gathers what a Watcher tells.
type tale struct {
	mu   sync.Mutex
	told []Change
}

func (t *tale) tell(c Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.told = append(t.told, c)
}

func (t *tale) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.told)
}

// lines are the changes one a line, with names as the script has them.
func (t *tale) lines(dir string) (out []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.told {
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
// They mostly wait, so all run at once, more than tests may.
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
		all.Go(func() { outcome[i] = runScript(name, dir) })
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

func runScript(name, dir string) error {
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
	var heard tale
	n, err := newFaulty()
	if err != nil {
		return err
	}
	w := start(Options{Tell: heard.tell, Quiet: testQuiet, Most: testMost}, n)
	defer w.Close()
	r := runner{dir: dir, watcher: w, notifier: n, heard: &heard}
	for lines := bufio.NewScanner(strings.NewReader(actions)); lines.Scan(); {
		if line := strings.TrimSpace(lines.Text()); line != "" && line[0] != '#' {
			if err := r.do(strings.Fields(line)); err != nil {
				return err
			}
		}
	}
	r.settle()
	if got, want := strings.Join(heard.lines(dir), "\n"), strings.TrimSpace(events); got != want {
		return fmt.Errorf("told:\n%s\nwant:\n%s", got, want)
	}
	return nil
}

type runner struct {
	dir      string
	watcher  *Watcher
	notifier *faulty
	heard    *tale
}

func (r runner) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// settle waits until nothing has been told for longer than anything may take.
func (r runner) settle() {
	for n := -1; n != r.heard.len(); {
		n = r.heard.len()
		time.Sleep(testMost + testQuiet)
	}
}

func (r runner) do(words []string) (err error) {
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
			r.heard.tell(Change{Err: err})
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
			time.Sleep(testQuiet / 3)
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
		r.settle()
	default:
		err = fmt.Errorf("no such action: %s", words[0])
	}
	return err
}
