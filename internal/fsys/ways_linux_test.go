//go:build !fsys_portable

package fsys

import (
	"testing"

	"golang.org/x/sys/unix"
)

// portable says that these tests run on what serves other systems.
const portable = false

// A way is one of the systems that the resolver must do without something on.
type way struct {
	name     string
	resolver func() *Resolver
}

func ways() []way {
	poorer := func(spoil func(*calls)) func() *Resolver {
		return func() *Resolver {
			r := NewResolver()
			spoil(&r.sys)
			return r
		}
	}
	without := func(errno unix.Errno) func(*calls) {
		return func(c *calls) {
			c.openat2 = func(string, uint64) (int, error) { return -1, errno }
		}
	}
	return []way{
		{"openat2", poorer(func(*calls) {})},
		{"ENOSYS", poorer(without(unix.ENOSYS))},
		{"EPERM", poorer(without(unix.EPERM))},
		{"no proc", poorer(func(c *calls) { c.procFD = "/nonexistent/" })},
	}
}

// TestOpenat2GivenUp: one refusal is enough, and an error of the file is none.
func TestOpenat2GivenUp(t *testing.T) {
	for _, errno := range []unix.Errno{unix.ENOSYS, unix.EPERM} {
		y := newYard(t)
		y.file("a", "x")
		asked := 0
		r := NewResolver()
		r.sys.openat2 = func(string, uint64) (int, error) { asked++; return -1, errno }
		for range 3 {
			if _, err := y.resolve(r, "a"); err != nil {
				t.Fatal(err)
			}
		}
		if asked != 1 {
			t.Errorf("%v: asked %d times", errno, asked)
		}
	}
	y, r := newYard(t), NewResolver()
	y.file("a", "x")
	y.link("l", "a")
	for _, name := range []string{"nothing", "a/b", "l"} {
		y.resolve(r, name)
	}
	if r.noOpenat2.Load() {
		t.Error("given up for no reason")
	}
}

// TestAbsent: what is called absent is, and a link on the way may lead anywhere.
func TestAbsent(t *testing.T) {
	y := newYard(t)
	y.file("ws/a", "x")
	y.folder("ws/d")
	y.link("ws/l", "nowhere")
	y.link("ws/m", "d")
	for name, want := range map[string]bool{
		"ws/b": true, "ws/d/b": true, "ws/none/b/c": true,
		"ws/a": false, "ws/d": false, "ws/l": false, "ws/l/b": false, "ws/m/b": false, "ws/a/b": false,
	} {
		r := NewResolver()
		p := y.path(name)
		if got := r.Absent(p); got != want {
			t.Errorf("%s: %v", name, got)
		}
		r.noOpenat2.Store(true)
		if r.Absent(p) {
			t.Errorf("%s: absent without openat2", name)
		}
	}
}
