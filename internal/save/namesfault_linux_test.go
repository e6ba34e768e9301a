//go:build !fsys_portable

package save

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// nameCase is a change of names, and the system it happens on.
type nameCase struct {
	name   string
	system poorer
	across bool
	from   string // "" : the file; else the folder
	remove bool
}

var nameCases = []nameCase{
	{name: "move"},
	{name: "move a folder", from: "folder"},
	{name: "move by links", system: poorer{noExchange: true}},
	{name: "move a folder over an empty one", system: poorer{noExchange: true}, from: "folder"},
	{name: "move, portable", system: poorer{portable: true}},
	{name: "move, mac", system: poorer{mac: true}},
	{name: "across", across: true},
	{name: "across, no lease", across: true, system: poorer{noLease: true}},
	{name: "across, a folder", across: true, from: "folder"},
	{name: "remove", remove: true},
	{name: "remove, no lease", remove: true, system: poorer{noLease: true}},
	{name: "remove a folder", remove: true, from: "folder"},
	{name: "remove, portable", remove: true, system: poorer{portable: true}},
}

// far is the folder on the other file system.
func (c nameCase) far(t *testing.T, d *testFolder) string {
	if !c.across {
		return d.path("new")
	}
	far, err := os.MkdirTemp(".", "names-test-")
	if err != nil {
		t.Fatal(err)
	}
	far, _ = filepath.Abs(far)
	t.Cleanup(func() { os.RemoveAll(far) })
	if same, _ := sameDevice(d.dir, far); same {
		t.Skip("!!! NOT TESTED: there is no second file system !!!")
	}
	return far
}

func (c nameCase) source(d *testFolder) string {
	if c.from == "" {
		return d.put("file", "content\n")
	}
	os.MkdirAll(d.path("folder/inner"), 0o755)
	d.put("folder/a", "content\n")
	d.put("folder/inner/b", "more\n")
	os.Symlink("a", d.path("folder/link"))
	return d.path("folder")
}

// contents are the files of a source, below it, with what they hold.
func (c nameCase) contents() map[string]string {
	if c.from == "" {
		return map[string]string{"": "content\n"}
	}
	return map[string]string{"a": "content\n", "inner/b": "more\n"}
}

// do makes the change once. kept says what was handed out before anything was removed.
func (c nameCase) do(s *Saver, from, to string, kept map[string]string) error {
	ctx := context.Background()
	a, err := entryOf(from)
	if err != nil {
		return err
	}
	defer a.Close()
	n, err := s.Names(ctx)
	if err != nil {
		return err
	}
	defer n.Close()
	if c.remove {
		r, err := n.Look(ctx, a, true, func(Item) error { return nil })
		if err == nil {
			err = r.Keep(ctx, func(k Kept) (Deposit, error) {
				if k.Content != nil {
					b := make([]byte, k.Stamp.Size)
					if n, err := k.Content.ReadAt(b, 0); n < len(b) {
						return Deposit{}, err
					}
					rel, _ := filepath.Rel(from, k.Path)
					kept[rel] = string(b)
				}
				return Deposit{}, nil
			})
		}
		if err == nil {
			err = n.Remove(ctx, r)
		}
		n.Finish()
		return errors.Join(err, func() error {
			if r == nil {
				return nil
			}
			return r.Err()
		}())
	}
	b, err := entryOf(to)
	if err != nil {
		return err
	}
	defer b.Close()
	_, err = n.Move(ctx, a, b)
	n.Finish()
	return err
}

// judge checks that each file is at one of its names, whole, or was kept before it went.
func (c nameCase) judge(t *testing.T, what, from, to string, err error, kept map[string]string) {
	t.Helper()
	changed := (*IOError)(nil)
	unknown := errors.As(err, &changed) && changed.Changed
	for rel, content := range c.contents() {
		old, oldErr := os.ReadFile(filepath.Join(from, rel))
		now, newErr := os.ReadFile(filepath.Join(to, rel))
		isOld, isNew := oldErr == nil && string(old) == content, newErr == nil && string(now) == content
		key := rel
		if key == "" {
			key = "."
		}
		switch {
		case c.remove && err == nil && oldErr == nil:
			t.Errorf("%s: success, and %q is there", what, rel)
		case c.remove && !isOld && kept[key] != content:
			t.Errorf("%s: %v: %q is lost", what, err, rel)
		case c.remove:
		case !isOld && !isNew:
			t.Errorf("%s: %v: %q is at neither name", what, err, rel)
		case err == nil && !isNew:
			t.Errorf("%s: success, and %q is not at its new name", what, rel)
		case err != nil && !unknown && !isOld:
			t.Errorf("%s: %v: %q is not at its old name", what, err, rel)
		case err != nil && !unknown && newErr == nil:
			t.Errorf("%s: %v: %q is at its new name as well", what, err, rel)
		}
	}
}

// strays checks that nothing has a temporary name.
func strays(t *testing.T, what string, folders ...string) {
	t.Helper()
	for _, top := range folders {
		filepath.WalkDir(top, func(path string, e os.DirEntry, err error) error {
			if _, temp := parseTempName(filepath.Base(path)); temp && err == nil {
				t.Errorf("%s: %s is left behind", what, path)
			}
			return nil
		})
	}
}

// Every error at every call leaves each file at its old or its new name, or kept, and says
// which.
func TestNamesFaultAtEveryCall(t *testing.T) {
	perCall := 1 // make faults tries three
	if long() {
		perCall = 3
	}
	cells, step := 0, shortrun.Step(t, 2, "calls that fail")
	for i, c := range nameCases {
		t.Run(c.name, func(t *testing.T) {
			parent := memory(t)
			for n, calls := i%step, step; n < calls; n += step {
				for _, errno := range someFaults(n, perCall) {
					cells++
					at := -1
					c.cell(t, parent, fmt.Sprintf("%v at call %d", errno, n), func(call) error {
						if at++; at == n {
							return errno
						}
						return nil
					})
					calls = max(calls, at+1)
				}
			}
		})
	}
	t.Logf("%d cells", cells)
}

// cell makes the change once with a fault, and looks at what is left after the next start.
func (c nameCase) cell(t *testing.T, parent, what string, fault func(call) error) {
	t.Helper()
	d := newTestFolderIn(t, parent)
	defer os.RemoveAll(filepath.Dir(d.dir))
	from, far := c.source(d), c.far(t, d)
	to := filepath.Join(far, "to")
	d.open(func(o *Options) {
		o.Durability = Full
		o.Sys = unsynced{hooked{base: c.system.base(), before: func(k call) error {
			if err := c.system.before(k); err != nil {
				return err
			}
			return fault(k)
		}}}
	})
	kept := map[string]string{}
	err := c.do(d.save, from, to, kept)
	d.save.Close()
	c.judge(t, what, from, to, err, kept)
	d.open()
	if _, err := d.save.Sweep(t.Context()); err != nil {
		t.Errorf("%s: sweep: %v", what, err)
	}
	d.save.Close()
	c.judge(t, what+", after the sweep", from, to, err, kept)
	strays(t, what, d.dir, far)
	os.RemoveAll(far)
}

// Control: a move that copies, and removes without a look, loses a file to an error.
func TestNamesFaultControl(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	from, to := d.put("file", "content\n"), d.path("no/such/folder")
	b, _ := os.ReadFile(from)
	os.WriteFile(to, b, 0o644) // fails
	os.Remove(from)
	if _, err := os.Stat(to); err == nil {
		t.Error("the copy came to be")
	}
	if _, err := fsys.Lstat(from); err == nil {
		t.Error("nothing was lost: the test proves nothing")
	}
}

// roleNames makes a change of names, and kills itself at a system call.
func roleNames(which, killAt int, state, from, to string) {
	calls, c := 0, nameCases[which]
	s := New(Options{StateDir: state, Durability: None, Sys: hooked{base: c.system.base(), before: func(k call) error {
		if calls++; calls == killAt {
			unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
		return c.system.before(k)
	}}})
	if err := c.do(s, from, to, map[string]string{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s.Close()
}

// Killed at any system call, each file is at its old or its new name (across file systems: at
// one of them, or both), whole; what was removed had been kept; the next start leaves nothing
// about.
func TestNamesKilledAtEveryCall(t *testing.T) {
	step := 83 * shortrun.Step(t, 2, "calls at which a change is killed")
	if long() {
		step = 1
	}
	for i, c := range nameCases {
		t.Run(c.name, func(t *testing.T) {
			parent := memory(t)
			for n, alive := 1, false; !alive; n += step {
				d := newTestFolderIn(t, parent)
				from, far := c.source(d), c.far(t, d)
				to := filepath.Join(far, "to")
				w := play(t, "names", i, n, d.state, from, to)
				if alive = w.Wait() == nil; !alive && w.ProcessState.Exited() {
					t.Fatalf("call %d: the change failed", n)
				}
				what := fmt.Sprintf("killed at call %d", n)
				c.afterKill(t, what, from, to)
				d.open()
				if _, err := d.save.Sweep(t.Context()); err != nil {
					t.Errorf("%s: %v", what, err)
				}
				d.save.Close()
				c.afterKill(t, what+", after the sweep", from, to)
				strays(t, what, d.dir, far)
				os.RemoveAll(far)
			}
		})
	}
}

// afterKill checks that no file is torn, and that a moved one is somewhere.
func (c nameCase) afterKill(t *testing.T, what, from, to string) {
	t.Helper()
	for rel, content := range c.contents() {
		there := 0
		for _, name := range []string{filepath.Join(from, rel), filepath.Join(to, rel)} {
			b, err := os.ReadFile(name)
			if err == nil && string(b) == content {
				there++
			} else if err == nil {
				t.Errorf("%s: %s holds %q", what, name, b)
			}
		}
		if there == 0 && !c.remove {
			t.Errorf("%s: %q is at neither name", what, rel)
		}
	}
}
