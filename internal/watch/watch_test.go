package watch

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/fsmcp/fsmcp/internal/nativetest"
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

// faults makes the system's notifiers with the faults that scripts ask for. It tells when
// everything has been read that happened until now: what the system tells has an order, so
// a sign in a folder of its own comes last.
type faults struct {
	signs string
	full  atomic.Bool

	mu   sync.Mutex
	n    int
	made int
	open map[*faulty]bool
}

// faulty is one of these notifiers.
type faulty struct {
	system
	*faults
	deaf  atomic.Bool // it loses events
	out   chan fsnotify.Event
	errs  chan error
	ended chan struct{}
	seen  chan string // the signs
}

// newFaults makes one whose signs are in a folder of the test's.
func newFaults(t *testing.T) *faults {
	t.Helper()
	signs, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &faults{signs: signs, open: make(map[*faulty]bool)}
}

func (s *faults) notifier() (notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	f := &faulty{system: system{w}, faults: s, out: make(chan fsnotify.Event), errs: make(chan error), ended: make(chan struct{}), seen: make(chan string, 1000)}
	if err := w.Add(s.signs); err != nil {
		w.Close()
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	s.open[f] = true
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
			sign := filepath.Dir(e.Name) == f.signs
			if !sign && !f.deaf.Load() {
				f.out <- e
			}
			if sign {
				f.out <- fsnotify.Event{} // taken when what came before it was noted
				f.seen <- e.Name
			}
		}
	}
}

// all returns the notifiers that are open.
func (s *faults) all() (open []*faulty, made int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.open {
		open = append(open, f)
	}
	return open, s.made
}

// read waits until the Watcher has noted all that happened until now.
func (s *faults) read() error {
	for {
		open, made := s.all()
		s.mu.Lock()
		s.n++
		sign := filepath.Join(s.signs, fmt.Sprint(s.n))
		s.mu.Unlock()
		if err := os.Mkdir(sign, 0o755); err != nil {
			return err
		}
		for _, f := range open {
			if err := f.sees(sign); err != nil {
				return err
			}
		}
		if _, now := s.all(); now == made {
			return nil
		}
	}
}

// sees waits until a notifier has read a sign or is closed.
func (f *faulty) sees(sign string) error {
	for {
		select {
		case seen := <-f.seen:
			if seen == sign {
				return nil
			}
		case <-f.ended:
			return nil
		case <-time.After(time.Minute):
			return errors.New("the notifier does not read")
		}
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

func (f *faulty) Close() error {
	f.mu.Lock()
	delete(f.open, f)
	f.mu.Unlock()
	return f.system.Close()
}

// fail has the open notifiers fail.
func (s *faults) fail(err error) {
	open, _ := s.all()
	for _, f := range open {
		f.errs <- err
	}
}

// listener looks at the watched files when it is notified, and notes what changed.
type listener struct {
	mu       sync.Mutex
	watched  map[target]string // with their state
	notified int
	reported []string // what changed, a line for each report that found something
	name     func(string) string
}

// watches has the listener look at these files from now on.
func (l *listener) watches(files, folders []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watched = make(map[target]string)
	for _, name := range files {
		t := target{name: name}
		l.watched[t] = state(t)
	}
	for _, name := range folders {
		t := target{name: name, folder: true}
		l.watched[t] = state(t)
	}
}

// state returns everything that a listener can see of a target.
func state(t target) string {
	if text, err := os.ReadFile(t.name); err == nil {
		return "file " + string(text)
	}
	entries, err := os.ReadDir(t.name)
	if err != nil || !t.folder {
		return "none"
	}
	out := "folder"
	for _, e := range entries {
		text, _ := os.ReadFile(filepath.Join(t.name, e.Name()))
		out += fmt.Sprintf(" %s:%s", e.Name(), text)
	}
	return out
}

func (l *listener) notify(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notified++
	if err != nil {
		l.reported = append(l.reported, "blind")
		return
	}
	var names []string
	for t, was := range l.watched {
		if is := state(t); is != was {
			l.watched[t] = is
			names = append(names, l.name(t.name))
		}
	}
	if slices.Sort(names); names != nil {
		l.reported = append(l.reported, strings.Join(names, " "))
	}
}

// count returns the number of reports.
func (l *listener) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.notified
}

func (l *listener) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.reported)
}

// A script holds actions, a line with three dashes, and what a listener finds changed, one
// line for each report. "watch" names files, and folders by a slash at their end. Actions
// follow each other at once; "wait" lets everything settle, so that what comes before it is
// reported before what comes after it. "silent" says that there was no report at all.
//
// Folders are followed while the actions go on; reports go by a clock that stands still
// meanwhile.
func TestScripts(t *testing.T) {
	if nativetest.Wine() {
		t.Skip("!!! NOT TESTED: Wine refuses CancelIo on the handle of a deleted folder, and reports changed attributes as changes !!!")
	}
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
		all.Go(func() { outcome[i] = runScript(name, dir, newFaults(t)) })
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

func runScript(name, dir string, f *faults) error {
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
	r := &runner{dir: dir, faults: f}
	r.name = func(name string) string {
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return name
		}
		return filepath.ToSlash(rel)
	}
	w := assembleWith(options{notify: r.notify, quiet: testQuiet, most: testMost})
	r.watcher, w.open = w, f.notifier
	w.now = func() time.Time { return time.Unix(0, r.now.Load()) }
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
	if got, want := strings.Join(r.lines(), "\n"), strings.TrimSpace(events); got != want {
		return fmt.Errorf("reported:\n%s\nwant:\n%s", got, want)
	}
	return nil
}

type runner struct {
	listener
	*faults
	dir     string
	watcher *Watcher
	now     atomic.Int64 // the time, in nanoseconds
	working sync.Mutex   // held while the work of handleChanges is done
}

func (r *runner) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// handleChanges walks to moved targets at once. settle reports what is due: it
// moves the clock.
func (r *runner) handleChanges() {
	for {
		select {
		case <-r.watcher.done:
			return
		case <-r.watcher.wake:
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
	if err := r.read(); err != nil {
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
			r.notify(err)
			err = nil
		}
		r.watches(files, folders)
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
		r.full.Store(true)
	case "deaf": // the notifier loses events, until the next one
		open, _ := r.all()
		for _, f := range open {
			f.deaf.Store(true)
		}
	case "overflow":
		r.fail(fsnotify.ErrEventOverflow)
	case "fail":
		r.fail(errors.New("it is broken"))
	case "wait":
		err = r.settle()
	case "silent":
		if n := r.count(); n > 0 {
			err = fmt.Errorf("%d reports", n)
		}
	default:
		err = fmt.Errorf("no such action: %s", words[0])
	}
	return err
}
