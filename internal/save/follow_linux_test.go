//go:build !fsys_portable

package save

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// metaChange is a change of a file by another program without a write: by its name, or by
// a descriptor that it opened before.
type metaChange struct {
	name string
	root bool
	byFD bool
	// refuses: right before the exchange this may stop it.
	refuses bool
	do      func(path string, fd int) error
}

var metaChanges = []metaChange{
	{name: "attribute", do: func(path string, _ int) error { return unix.Lsetxattr(path, "user.theirs", []byte("new"), 0) }},
	{name: "attribute removed", do: func(path string, _ int) error { return unix.Lremovexattr(path, "user.before") }},
	{name: "attribute by descriptor", byFD: true, do: func(_ string, fd int) error { return unix.Fsetxattr(fd, "user.before", []byte("new"), 0) }},
	{name: "access list", refuses: true, do: func(path string, _ int) error {
		return unix.Lsetxattr(path, "system.posix_acl_access", accessList(4321), 0)
	}},
	{name: "mode", refuses: true, do: func(path string, _ int) error { return unix.Chmod(path, 0o640) }},
	{name: "mode by descriptor", byFD: true, refuses: true, do: func(_ string, fd int) error { return unix.Fchmod(fd, 0o611) }},
	{name: "group", root: true, refuses: true, do: func(path string, _ int) error { return os.Chown(path, 0, 5678) }},
	{name: "owner", root: true, refuses: true, do: func(path string, _ int) error { return os.Chown(path, 1234, 5678) }},
}

// What a program writes is kept that found the new file by name while it showed, and opened it
// after it had been taken back.
func TestOpenedWhileTakenBackIsKept(t *testing.T) {
	exchanges, found, wrote := 0, -1, false
	var d *testFolder
	d = newTestFolder(t, func(o *Options) {
		o.Durability = Full
		o.Sys = hooked{before: func(c call) error {
			switch {
			case c.name == "Rename" && c.flags == sys.Exchange:
				if exchanges++; exchanges == 1 {
					os.Rename(d.put("newer", "newer"), d.path("f"))
				} else if found, _ = unix.Open(d.path("f"), unix.O_PATH|unix.O_CLOEXEC, 0); found < 0 {
					t.Error("there is no file")
				}
			case c.name == "Sync" && found >= 0 && !wrote:
				wrote = true
				fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", found), unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0)
				if err != nil {
					t.Error(err)
				}
				unix.Write(fd, []byte(" and theirs"))
				unix.Close(fd)
				unix.Close(found)
			}
			return nil
		}}
	})
	out, err := whole(d.save, d.put("f", "old"), "new")
	if !errors.Is(err, ErrModified) || len(out.Saved) != 1 || !wrote {
		t.Fatalf("%+v, %v, written: %v", out, err, wrote)
	}
	if b, _ := os.ReadFile(out.Saved[0]); string(b) != "new and theirs" {
		t.Errorf("%s holds %q", out.Saved[0], b)
	}
	d.want("f", "newer")
}

// followed replaces a file while another program changes what is not its content
// before call n, and returns the names of the calls.
func (c metaChange) followed(t *testing.T, parent string, n int, system poorer) (calls []string) {
	t.Helper()
	d := newTestFolderIn(t, parent)
	path := d.put("f", "old")
	if err := unix.Lsetxattr(path, "user.before", []byte("old"), 0); errors.Is(err, unix.EOPNOTSUPP) {
		t.Skip("!!! NOT TESTED: this file system has no attributes !!!")
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	want := describe(t, path)
	d.open(func(o *Options) {
		o.Durability = Full
		o.Sys = hooked{before: func(call call) error {
			if calls = append(calls, call.name); len(calls)-1 == n {
				if err := c.do(path, fd); err != nil {
					t.Fatal(err)
				}
				if want = describe(t, path); c.byFD {
					want = describe(t, fmt.Sprintf("/proc/self/fd/%d", fd))
				}
			}
			return system.before(call)
		}}
	})
	text := "new"
	if _, err := whole(d.save, path, "new"); errors.Is(err, ErrModified) && c.refuses {
		text = "old"
	} else if err != nil {
		t.Errorf("before call %d: %v", n, err)
	}
	if got := describe(t, path); !want.equal(got) && !c.unseen(calls, n, system) {
		t.Errorf("before call %d: %+v, want %+v", n, got, want)
	}
	d.want("f", text)
	d.wantNames("f")
	return calls
}

// unseen reports whether a change before call n came too late to be seen. The calls are those of
// the same run: a busy machine makes some of them more than once.
func (c metaChange) unseen(calls []string, n int, system poorer) bool {
	if c.byFD { // the old file is looked at for the last time two calls before it is removed
		removed := slices.Index(calls, "Unlink")
		return removed >= 0 && n >= removed-1
	}
	// Without an exchange nothing can be looked at after the rename over the file.
	over := len(calls) - 1
	for over >= 0 && calls[over] != "Rename" {
		over--
	}
	look := over
	for look >= 0 && calls[look] != "Fstatat" {
		look--
	}
	return c.refuses && system.noExchange && look < n && n <= over
}

func (d description) equal(o description) bool {
	if d.mode != o.mode || d.uid != o.uid || d.gid != o.gid || len(d.xattrs) != len(o.xattrs) {
		return false
	}
	for name, value := range d.xattrs {
		if o.xattrs[name] != value {
			return false
		}
	}
	return true
}

// Mode, owner, access list and attributes that another program changes while a file
// is being replaced are those of the new file, whenever that happens.
func TestMetadataChangedMeanwhileIsKept(t *testing.T) {
	parent := memory(t)
	if unix.Lsetxattr(parent, "user.probe", nil, 0) != nil {
		parent = t.TempDir()
	}
	step := shortrun.Step(t, 4, "calls before which metadata changes")
	for _, c := range metaChanges {
		for name, system := range map[string]poorer{"full": {}, "no exchange": {noExchange: true}, "poor": {noUnnamed: true, noExchange: true, noLease: true}} {
			t.Run(c.name+", "+name, func(t *testing.T) {
				if c.byFD && name != "full" {
					t.Skip("what a descriptor does to a file that has lost its name is lost")
				}
				if c.root && os.Geteuid() != 0 {
					t.Skip("!!! NOT TESTED: it needs root !!!")
				}
				calls := c.followed(t, parent, -1, system)
				seen := 0
				for n := 0; n < len(calls); n += step {
					if !c.unseen(calls, n, system) {
						c.followed(t, parent, n, system)
						seen += step
					}
				}
				if seen < 30 {
					t.Errorf("changed before %d calls alone", seen)
				}
			})
		}
	}
}

// The control arm: attributes copied once are lost when they change after that.
func TestMetadataCopiedOnceIsLost(t *testing.T) {
	d := newTestFolder(t)
	path := d.put("f", "old")
	temp := d.put("temp", "new")
	before := describe(t, path)
	if err := unix.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	os.Chmod(temp, os.FileMode(before.mode&0o777))
	os.Rename(temp, path)
	if describe(t, path).mode&0o777 == 0o600 {
		t.Error("the mode followed by itself")
	}
}

// The old text that cannot be removed is not called another program's.
func TestOldTextThatStaysIsNamed(t *testing.T) {
	for name, do := range map[string]func(*Saver, string) (Written, error){
		"replace": func(s *Saver, path string) (Written, error) { return whole(s, path, "new") },
		"remove":  removeFile,
	} {
		t.Run(name, func(t *testing.T) {
			refuses := true
			d := newTestFolder(t, func(o *Options) {
				o.Sys = hooked{before: func(c call) error {
					if refuses && c.name == "Unlink" {
						return unix.EPERM
					}
					return nil
				}}
			})
			out, err := do(d.save, d.put("f", "old"))
			if err != nil || len(out.Left) != 1 || len(out.Saved) > 0 {
				t.Fatalf("%+v, %v", out, err)
			}
			if b, err := os.ReadFile(out.Left[0]); string(b) != "old" {
				t.Errorf("%s holds %q, %v", out.Left[0], b, err)
			}
			refuses = false
			d.save.Close()
			d.open()
			if r, err := d.save.Sweep(t.Context()); err != nil || r.Removed != 1 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}
