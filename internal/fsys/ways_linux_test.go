//go:build !fsys_portable

package fsys

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// TestMissingNamesBothWays: the quick look at a missing name comes to what the walk comes to,
// in trees of folders, files and links that are made by chance.
func TestMissingNamesBothWays(t *testing.T) {
	y := newYard(t)
	rng := rand.New(rand.NewPCG(7, 11))
	segments := []string{"a", "b", "c"}
	name := func() string {
		parts := make([]string, 1+rng.IntN(5))
		for i := range parts {
			parts[i] = segments[rng.IntN(len(segments))]
		}
		return filepath.Join(parts...)
	}
	quick, missing := NewResolver(), 0
	plain := NewResolver()
	plain.noOpenat2.Store(true)
	for range 60 {

		switch at := y.at(name()); rng.IntN(4) {
		case 0:
			os.WriteFile(at, nil, 0o644) // what is there stays
		case 1:
			os.Symlink(name(), at) // what is there stays
		default:
			os.Mkdir(at, 0o755) // what is there stays
		}
		for range 20 {
			p := y.path(name())
			got, err := quick.Resolve(p)
			want, wantErr := plain.Resolve(p)
			if !slices.Equal(got.Names, want.Names) || got.Path != want.Path || got.Kind != want.Kind ||
				!slices.Equal(got.MissingDirs(), want.MissingDirs()) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("%s: %+v, %v, want %+v, %v", p, got, err, want, wantErr)
			}
			if err == nil && got.Kind == Missing {
				missing++
				dev, ino, err := got.ParentID()
				wantDev, wantIno, wantErr := want.ParentID()
				if dev != wantDev || ino != wantIno || err != nil || wantErr != nil {
					t.Errorf("%s: it is missing in %d:%d (%v), want %d:%d (%v)", p, dev, ino, err, wantDev, wantIno, wantErr)
				}
			}
			got.Close()
			want.Close()
		}
	}
	if missing < 100 {
		t.Errorf("only %d names were missing", missing)
	}
}

// TestMissingNameTakesFewCalls: a missing name in a deep folder takes as many looks as one in
// a shallow one.
func TestMissingNameTakesFewCalls(t *testing.T) {
	y, r := newYard(t), NewResolver()
	deep := strings.Repeat("d/", 40)
	y.folder(deep)
	asked := 0
	open := r.sys.openat2
	r.sys.openat2 = func(name string, flags uint64) (int, error) { asked++; return open(name, flags) }
	for name, want := range map[string]int{"new": 2, deep + "new": 2, deep + "e/f/new": 4} {
		asked = 0
		target, err := y.resolve(r, name)
		if err != nil || target.Kind != Missing || asked != want {
			t.Errorf("%s: %d looks, %v, %v; want %d", name, asked, target.Kind, err, want)
		}
	}
}
