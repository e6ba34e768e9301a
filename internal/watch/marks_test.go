package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/fsmcp/fsmcp/internal/nativetest"
)

// soon asks until what is wanted was touched and returns all that was.
func soon(t *testing.T, m *Marks, want ...string) (got []string) {
	t.Helper()
	if err := until("what was done is noted", func() bool {
		got = append(got, m.Touched()...)
		slices.Sort(got)
		got = slices.Compact(got)
		return !slices.ContainsFunc(want, func(name string) bool { return !slices.Contains(got, name) })
	}); err != nil {
		t.Errorf("%v: only %q", err, got)
	}
	return got
}

// signs are followed files in one folder: what the system tells has an order, so a
// sign that is made after something else was done is noted after it.
type signs struct {
	dir string
	n   int
}

// touched are the files that were touched until now, without any sign.
func (s *signs) touched(t *testing.T, m *Marks) (got []string) {
	t.Helper()
	s.n++
	sign := filepath.Join(s.dir, fmt.Sprint("sign", s.n))
	follow(t, m, sign)
	write(t, sign, "")
	return slices.DeleteFunc(soon(t, m, sign), func(name string) bool { return strings.HasPrefix(name, filepath.Join(s.dir, "sign")) })
}

func follow(t *testing.T, m *Marks, names ...string) {
	t.Helper()
	for _, n := range names {
		_, err := m.Follow(n)
		mayWatch(t, err)
	}
}

func TestMarks(t *testing.T) {
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "sub", "c")
	if err := os.Mkdir(filepath.Dir(c), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{a, b, c} {
		write(t, n, "x")
	}
	m := &Marks{}
	defer m.Close()
	if got := m.Touched(); got != nil {
		t.Errorf("%q before anything was followed", got)
	}
	all := &signs{dir: dir}
	follow(t, m, a, c)
	if fresh, err := m.Follow(b); fresh || err != nil {
		t.Errorf("the second of a folder: %v, %v", fresh, err)
	}
	for name, act := range map[string]func() error{
		"in place":  func() error { return os.WriteFile(a, []byte("y"), 0o644) },
		"by rename": func() error { write(t, a+"~", "z"); return os.Rename(a+"~", a) },
		"removed":   func() error { return os.Remove(a) },
		"made":      func() error { return os.WriteFile(a, nil, 0o644) },
	} {
		if err := act(); err != nil && name != "removed" {
			t.Fatal(err)
		}
		if got := all.touched(t, m); !slices.Equal(got, []string{a}) {
			t.Errorf("%s: %q", name, got)
		}
	}
	write(t, filepath.Join(dir, "nobody's"), "x")
	if got := all.touched(t, m); len(got) > 0 {
		t.Errorf("nobody follows it: %q", got)
	}
	if err := os.RemoveAll(filepath.Dir(c)); err != nil {
		t.Fatal(err)
	}
	if got := all.touched(t, m); !slices.Equal(got, []string{c}) {
		t.Errorf("its folder is gone: %q", got)
	}
	if err := os.Mkdir(filepath.Dir(c), 0o755); err != nil {
		t.Fatal(err)
	}
	all.touched(t, m) // the new folder is no news any more
	if fresh, err := m.Follow(c); !fresh || err != nil {
		t.Errorf("its folder is there again: %v, %v", fresh, err)
	}
	write(t, c, "again")
	if got := all.touched(t, m); !slices.Equal(got, []string{c}) {
		t.Errorf("in a folder that was made anew: %q", got)
	}
}

func TestMarksSayThatTheyAreBlind(t *testing.T) {
	m := &Marks{newNotifier: func() (notifier, error) { return nil, errors.New("too many") }}
	defer m.Close()
	for range 2 {
		if _, err := m.Follow("/a/b"); !errors.Is(err, ErrBlind) {
			t.Errorf("%v", err)
		}
	}
	if m.Touched() != nil {
		t.Error("it saw something")
	}
}

// TestMarksOfMovedFolders: a folder that leads to a followed file is moved away, and
// another takes its name.
func TestMarksOfMovedFolders(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("!!! NOT TESTED: folders above are not watched on macOS !!!")
	}
	top := t.TempDir()
	file := filepath.Join(top, "a", "b", "c", "f")
	other := filepath.Join(top, "other", "b", "c", "f")
	for _, n := range []string{file, other} {
		if err := os.MkdirAll(filepath.Dir(n), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, n, "x")
	}
	m := &Marks{Below: func() []string { return []string{top} }}
	defer m.Close()
	all := &signs{dir: top}
	follow(t, m, file)
	for _, step := range [][2]string{{"a", "away"}, {"other", "a"}} {
		if err := os.Rename(filepath.Join(top, step[0]), filepath.Join(top, step[1])); err != nil {
			t.Fatal(err)
		}
		got := all.touched(t, m)
		if step[1] == "a" {
			break
		}
		if !slices.Equal(got, []string{file}) {
			t.Errorf("%s to %s: %q", step[0], step[1], got)
		}
		if _, err := m.Follow(file); !errors.Is(err, ErrBlind) {
			t.Errorf("what is not there is followed: %v", err)
		}
	}
	if nativetest.Wine() {
		t.Skip("!!! NOT TESTED: Wine names what happens in a folder that was moved by its old name !!!")
	}
	if fresh, err := m.Follow(file); !fresh || err != nil {
		t.Errorf("%v, %v", fresh, err)
	}
	write(t, file, "y")
	if got := all.touched(t, m); !slices.Equal(got, []string{file}) {
		t.Errorf("in the folder that has the name now: %q", got)
	}
	// The one that was moved away is known by its new name.
	moved := filepath.Join(top, "away", "b", "c", "f")
	if fresh, err := m.Follow(moved); !fresh || err != nil {
		t.Errorf("%v, %v", fresh, err)
	}
	write(t, moved, "z")
	if got := all.touched(t, m); !slices.Equal(got, []string{moved}) {
		t.Errorf("%q", got)
	}
}

// talkative is a notifier that, asked to add a folder, first has to get rid of what
// it was about to tell, as the system's may.
type talkative struct {
	sent   chan fsnotify.Event
	errs   chan error
	folder []string
	room   int
}

func (n *talkative) Add(dir string) error {
	if len(n.folder) == n.room {
		return errors.New("no watches are left")
	}
	n.sent <- fsnotify.Event{Name: filepath.Join(dir, "f"), Op: fsnotify.Write}
	n.folder = append(n.folder, dir)
	return nil
}
func (n *talkative) Remove(string) error           { return nil }
func (n *talkative) Close() error                  { close(n.sent); return nil }
func (n *talkative) has(string) bool               { return true }
func (n *talkative) events() <-chan fsnotify.Event { return n.sent }
func (n *talkative) failures() <-chan error        { return n.errs }

// TestMarksFollowAndListen: following a folder waits for the notifier, which may wait for
// its listener, so the listener must not wait for a follower. If no more folders can be
// watched, the watched ones go on.
func TestMarksFollowAndListen(t *testing.T) {
	n := &talkative{sent: make(chan fsnotify.Event), errs: make(chan error), room: 8}
	m := &Marks{newNotifier: func() (notifier, error) { return n, nil }}
	defer m.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 12 {
			_, err := m.Follow(nativetest.Name(fmt.Sprintf("/d%d/f", i)))
			if i < 8 && err != nil || i >= 8 && !errors.Is(err, ErrBlind) {
				t.Errorf("%d: %v", i, err)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("they wait for each other")
	}
	n.sent <- fsnotify.Event{Name: nativetest.Name("/d3/f"), Op: fsnotify.Write}
	if got := soon(t, m, nativetest.Name("/d3/f")); !slices.Contains(got, nativetest.Name("/d3/f")) {
		t.Errorf("%q", got)
	}
}
