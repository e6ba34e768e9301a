package watch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

// soon asks until what is wanted was touched, for a second at most, and returns all
// that was.
func soon(m *Marks, want ...string) (got []string) {
	for range 200 {
		got = append(got, m.Touched()...)
		slices.Sort(got)
		got = slices.Compact(got)
		if !slices.ContainsFunc(want, func(name string) bool { return !slices.Contains(got, name) }) {
			return got
		}
		time.Sleep(5 * time.Millisecond)
	}
	return got
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
		if got := soon(m, a); !slices.Equal(got, []string{a}) {
			t.Errorf("%s: %q", name, got)
		}
		time.Sleep(20 * time.Millisecond)
		m.Touched()
	}
	write(t, filepath.Join(dir, "nobody's"), "x")
	time.Sleep(50 * time.Millisecond)
	if got := m.Touched(); got != nil {
		t.Errorf("nobody follows it: %q", got)
	}
	if err := os.RemoveAll(filepath.Dir(c)); err != nil {
		t.Fatal(err)
	}
	if got := soon(m, c); !slices.Equal(got, []string{c}) {
		t.Errorf("its folder is gone: %q", got)
	}
	if err := os.Mkdir(filepath.Dir(c), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 100 { // once the removal was heard of
		if fresh, err := m.Follow(c); fresh && err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	m.Touched()
	write(t, c, "again")
	if got := soon(m, c); !slices.Equal(got, []string{c}) {
		t.Errorf("in a folder that was made anew: %q", got)
	}
}

func TestMarksSayThatTheyAreBlind(t *testing.T) {
	m := &Marks{fresh: func() (notifier, error) { return nil, errors.New("too many") }}
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
	if runtime.GOOS != "linux" {
		t.Skip("!!! NOT TESTED: folders above are watched on Linux alone !!!")
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
	follow(t, m, file)
	for _, step := range [][2]string{{"a", "away"}, {"other", "a"}} {
		m.Touched()
		if err := os.Rename(filepath.Join(top, step[0]), filepath.Join(top, step[1])); err != nil {
			t.Fatal(err)
		}
		if step[1] == "a" {
			break
		}
		if got := soon(m, file); !slices.Equal(got, []string{file}) {
			t.Errorf("%s to %s: %q", step[0], step[1], got)
		}
		if _, err := m.Follow(file); !errors.Is(err, ErrBlind) {
			t.Errorf("what is not there is followed: %v", err)
		}
	}
	if fresh, err := m.Follow(file); !fresh || err != nil {
		t.Errorf("%v, %v", fresh, err)
	}
	m.Touched()
	write(t, file, "y")
	if got := soon(m, file); !slices.Equal(got, []string{file}) {
		t.Errorf("in the folder that has the name now: %q", got)
	}
	// The one that was moved away is known by its new name.
	moved := filepath.Join(top, "away", "b", "c", "f")
	if fresh, err := m.Follow(moved); !fresh || err != nil {
		t.Errorf("%v, %v", fresh, err)
	}
	m.Touched()
	write(t, moved, "z")
	if got := soon(m, moved); !slices.Equal(got, []string{moved}) {
		t.Errorf("%q", got)
	}
}

// talkative is a notifier that, asked to add a folder, first has to get rid of what
// it was about to tell, as the system's may.
type talkative struct {
	told   chan fsnotify.Event
	errs   chan error
	folder []string
	room   int
}

func (n *talkative) Add(dir string) error {
	if len(n.folder) == n.room {
		return errors.New("no watches are left")
	}
	n.told <- fsnotify.Event{Name: filepath.Join(dir, "f"), Op: fsnotify.Write}
	n.folder = append(n.folder, dir)
	return nil
}
func (n *talkative) Remove(string) error           { return nil }
func (n *talkative) Close() error                  { close(n.told); return nil }
func (n *talkative) has(string) bool               { return true }
func (n *talkative) events() <-chan fsnotify.Event { return n.told }
func (n *talkative) failures() <-chan error        { return n.errs }

// TestMarksFollowAndListen: following a folder waits for the notifier, which may wait
// for its listener, who must not wait for those who follow. Where no more folders can
// be watched, those that are go on.
func TestMarksFollowAndListen(t *testing.T) {
	n := &talkative{told: make(chan fsnotify.Event), errs: make(chan error), room: 8}
	m := &Marks{fresh: func() (notifier, error) { return n, nil }}
	defer m.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 12 {
			_, err := m.Follow(fmt.Sprintf("/d%d/f", i))
			if i < 8 && err != nil || i >= 8 && !errors.Is(err, ErrBlind) {
				t.Errorf("%d: %v", i, err)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("they wait for each other")
	}
	n.told <- fsnotify.Event{Name: "/d3/f", Op: fsnotify.Write}
	if got := soon(m, "/d3/f"); !slices.Contains(got, "/d3/f") {
		t.Errorf("%q", got)
	}
}
