//go:build !fsys_portable

package save

import (
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// accessList is a POSIX access list as the system stores it: the owner, one named
// user, the group, the mask, others.
func accessList(user uint32) []byte {
	const undefined = ^uint32(0)
	b := binary.LittleEndian.AppendUint32(nil, 2)
	entry := func(tag, perm uint16, id uint32) {
		b = binary.LittleEndian.AppendUint16(b, tag)
		b = binary.LittleEndian.AppendUint16(b, perm)
		b = binary.LittleEndian.AppendUint32(b, id)
	}
	entry(0x01, 6, undefined)
	entry(0x02, 6, user)
	entry(0x04, 4, undefined)
	entry(0x10, 6, undefined)
	entry(0x20, 0, undefined)
	return b
}

func TestMetadataIsKept(t *testing.T) {
	root := os.Geteuid() == 0
	set := func(name string, value []byte) func(string) error {
		return func(path string) error { return unix.Lsetxattr(path, name, value, 0) }
	}
	cases := []struct {
		name    string
		root    bool
		prepare func(path string) error
		mode    uint32 // wanted, 0: as it was
		gone    string // an attribute that must not be there
	}{
		{name: "plain", prepare: func(path string) error { return nil }},
		{name: "0600", prepare: func(path string) error { return os.Chmod(path, 0o600) }},
		{name: "0777", prepare: func(path string) error { return unix.Chmod(path, 0o777) }},
		{name: "0210", root: true, prepare: func(path string) error { return unix.Chmod(path, 0o210) }},
		{name: "sticky", root: true, prepare: func(path string) error { return unix.Chmod(path, 0o1755) }},
		{name: "owner", root: true, prepare: func(path string) error { return os.Chown(path, 1234, 5678) }},
		{name: "group", root: true, prepare: func(path string) error { return os.Chown(path, 0, 5678) }},
		{name: "set-uid of the writer's own", prepare: func(path string) error { return unix.Chmod(path, 0o6755) }},
		{name: "set-uid of another owner", root: true, mode: 0o755, prepare: func(path string) error {
			return errors.Join(os.Chown(path, 1234, 5678), unix.Chmod(path, 0o6755))
		}},
		{name: "user attribute", prepare: set("user.fsmcp.test", []byte("value\x00\xff"))},
		{name: "empty attribute", prepare: set("user.fsmcp.empty", nil)},
		{name: "many attributes", prepare: func(path string) error {
			var errs []error
			for _, name := range []string{"user.a", "user.b", "user.a-rather-long-name-so-that-the-list-outgrows-its-first-buffer-1",
				"user.a-rather-long-name-so-that-the-list-outgrows-its-first-buffer-2",
				"user.a-rather-long-name-so-that-the-list-outgrows-its-first-buffer-3",
				"user.a-rather-long-name-so-that-the-list-outgrows-its-first-buffer-4"} {
				errs = append(errs, unix.Lsetxattr(path, name, []byte(name), 0))
			}
			return errors.Join(errs...)
		}},
		{name: "trusted attribute", root: true, prepare: set("trusted.fsmcp.test", []byte("x"))},
		{name: "access list", prepare: set("system.posix_acl_access", accessList(1234))},
		{name: "access list and owner", root: true, prepare: func(path string) error {
			return errors.Join(os.Chown(path, 1234, 5678), set("system.posix_acl_access", accessList(77))(path))
		}},
		{name: "none of the folder's default list", gone: "system.posix_acl_access", prepare: func(path string) error {
			return unix.Lsetxattr(path[:len(path)-2], "system.posix_acl_default", accessList(1234), 0)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.root && !root {
				t.Skip("!!! NOT TESTED: it needs root !!!")
			}
			d := newTestFolder(t)
			path := d.put("f", "old")
			if err := c.prepare(path); errors.Is(err, unix.EOPNOTSUPP) {
				t.Skip("!!! NOT TESTED: this file system has none !!!")
			} else if err != nil {
				t.Fatal(err)
			}
			before := describe(t, path)
			if c.mode != 0 {
				before.mode = before.mode&^sys.PermBits | c.mode
			}
			out, err := whole(d.save, path, "new content")
			if err != nil || out.InPlace {
				t.Fatalf("%+v, %v", out, err)
			}
			after := describe(t, path)
			if before.mode != after.mode || before.uid != after.uid || before.gid != after.gid {
				t.Errorf("mode and owner are %o %d %d, want %o %d %d", after.mode, after.uid, after.gid, before.mode, before.uid, before.gid)
			}
			for name, value := range before.xattrs {
				if after.xattrs[name] != value {
					t.Errorf("%s is %q, want %q", name, after.xattrs[name], value)
				}
			}
			if len(after.xattrs) != len(before.xattrs) {
				t.Errorf("attributes %q, want %q", after.xattrs, before.xattrs)
			}
			if _, there := after.xattrs[c.gone]; there {
				t.Errorf("%s was inherited", c.gone)
			}
			if out.Stamp.Mode != after.mode || out.Stamp.UID != after.uid {
				t.Errorf("stamp %+v", out.Stamp)
			}
			d.want("f", "new content")
			d.wantNames("f")
		})
	}
}

type description struct {
	mode, uid, gid uint32
	xattrs         map[string]string
}

func describe(t *testing.T, path string) description {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	s, err := sys.Kernel{}.Fstat(fd)
	if err != nil {
		t.Fatal(err)
	}
	d := description{s.Mode, s.UID, s.GID, map[string]string{}}
	names, _ := sys.Kernel{}.Listxattr(fd)
	for _, name := range names {
		value, err := sys.Kernel{}.Getxattr(fd, name)
		if err != nil {
			t.Fatal(err)
		}
		d.xattrs[name] = string(value)
	}
	return d
}

// New files take their mode from the umask or the folder's default list, as those
// of any program.
func TestNewFileMode(t *testing.T) {
	for _, system := range []poorer{{}, {noUnnamed: true}} {
		d := newTestFolder(t, func(o *Options) { o.Sys = hooked{base: system.base(), before: system.before} })
		theirs := describe(t, d.put("theirs", ""))
		if _, err := whole(d.save, d.path("ours"), "x"); err != nil {
			t.Fatal(err)
		}
		if ours := describe(t, d.path("ours")); ours.mode != theirs.mode {
			t.Errorf("mode %o, want %o", ours.mode, theirs.mode)
		}
	}
}

func TestHardLinks(t *testing.T) {
	for _, keep := range []bool{false, true} {
		d := newTestFolder(t, func(o *Options) { o.KeepHardLinks = keep })
		path := d.put("f", "old")
		for _, name := range []string{"g", "h"} {
			if err := os.Link(path, d.path(name)); err != nil {
				t.Skipf("!!! NOT TESTED: %v !!!", err)
			}
		}
		out, err := whole(d.save, path, "new")
		if err != nil {
			t.Fatal(err)
		}
		others, count := "old", 2
		if keep {
			others, count = "new", 0
		}
		if out.OtherNames != count || out.InPlace != keep {
			t.Errorf("kept %v: %+v", keep, out)
		}
		d.want("f", "new")
		d.want("g", others)
		d.want("h", others)
		d.wantNames("f", "g", "h")
	}
}

func TestSymbolicLinkStays(t *testing.T) {
	d := newTestFolder(t)
	d.put("f", "old")
	if err := os.Symlink("f", d.path("link")); err != nil {
		t.Fatal(err)
	}
	if _, err := whole(d.save, d.path("link"), "new"); err != nil {
		t.Fatal(err)
	}
	d.want("f", "new")
	if to, _ := os.Readlink(d.path("link")); to != "f" {
		t.Errorf("the link leads to %q", to)
	}
}

func TestReadOnly(t *testing.T) {
	for _, mode := range []uint32{0o444, 0o555, 0o400, 0o464} {
		d := newTestFolder(t)
		path := d.put("f", "old")
		os.Chmod(path, os.FileMode(mode))
		if _, err := whole(d.save, path, "new"); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%o: %v", mode, err)
		}
		d.want("f", "old")
	}
}

// An owner that the system does not let a file keep (Windows) is reported, and the change is made.
func TestLostOwnerIsReported(t *testing.T) {
	for _, lost := range []bool{false, true} {
		d := newTestFolder(t, func(o *Options) {
			o.Sys = hooked{before: func(c call) error {
				if lost && c.name == "Setxattr" {
					return sys.ErrOwner
				}
				return nil
			}}
		})
		path := d.put("f", "old")
		if err := unix.Setxattr(path, "user.note", []byte("kept"), 0); err != nil {
			t.Skipf("!!! NOT TESTED: the volume has no extended attributes: %v !!!", err)
		}
		out, err := whole(d.save, path, "new")
		if err != nil || out.OwnerLost != lost || out.InPlace {
			t.Errorf("lost %v: %+v, %v", lost, out, err)
		}
		d.want("f", "new")
	}
}
