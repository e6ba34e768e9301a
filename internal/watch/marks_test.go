package watch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// soon asks until something was touched.
func soon(m *Marks, want ...string) (got []string) {
	for range 200 {
		got = append(got, m.Touched()...)
		slices.Sort(got)
		if got = slices.Compact(got); len(got) >= len(want) {
			return got
		}
		time.Sleep(5 * time.Millisecond)
	}
	return got
}

func follow(t *testing.T, m *Marks, names ...string) {
	t.Helper()
	for _, n := range names {
		if _, err := m.Follow(n); err != nil {
			t.Skip(err)
		}
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
