//go:build !fsys_portable

package save

import (
	"errors"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Inode flags by their letters in chattr. Not every file system has each.
const (
	flagUndelete = 0x2     // u
	flagSync     = 0x8     // S
	flagNoDump   = 0x40    // d
	flagNoAtime  = 0x80    // A
	flagJournal  = 0x4000  // j
	flagNoTail   = 0x8000  // t
	flagTopDir   = 0x20000 // T, of folders only
)

// chattr sets flags of a file or folder, and skips the test if it cannot have them.
func chattr(t *testing.T, path string, flags uint32) {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	now, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(now|flags))
	}
	if errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM) {
		t.Skipf("!!! NOT TESTED: no flags %x here: %v !!!", flags, err)
	} else if err != nil {
		t.Fatal(err)
	}
}

func flagsOf(t *testing.T, path string) uint32 {
	t.Helper()
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	flags, err := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
	if err != nil {
		t.Skipf("!!! NOT TESTED: no flags here: %v !!!", err)
	}
	return flags
}

// TestFlagsAreKept: the inode flags of a file stay, in whichever way it is written, and
// those that a new file takes from its folder do not come.
func TestFlagsAreKept(t *testing.T) {
	for name, system := range systems {
		if system.portable {
			continue // it keeps mode and owner alone
		}
		for _, c := range []struct {
			name         string
			file, folder uint32
		}{
			{"none", 0, 0},
			{"no dump, no times", flagNoDump | flagNoAtime, 0},
			{"synced", flagSync, 0},
			{"of the folder alone", 0, flagNoDump | flagNoAtime | flagSync},
			{"others than the folder's", flagNoAtime, flagNoDump | flagTopDir},
			{"undelete", flagUndelete, 0},
			{"journal", flagJournal, 0},
			{"no tail", flagNoTail, flagJournal},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				d := newTestFolder(t, func(o *Options) { o.Sys = hooked{base: system.base(), before: system.before} })
				path := d.put("f", "old")
				chattr(t, path, c.file)
				chattr(t, d.dir, c.folder)
				want := flagsOf(t, path)
				if _, err := whole(d.save, path, "new content"); err != nil {
					t.Fatal(err)
				}
				if got := flagsOf(t, path); got != want {
					t.Errorf("flags %x became %x", want, got)
				}
				d.want("f", "new content")
				d.wantNames("f")
			})
		}
	}
}

// TestFlagsFollow: another program changes the flags of the old file before any of our
// calls: the file has them in the end.
func TestFlagsFollow(t *testing.T) {
	for n := 0; ; n++ {
		at, met := -1, false
		d := newTestFolderIn(t, t.TempDir())
		path := d.put("f", "old")
		d.open(func(o *Options) {
			o.Sys = hooked{before: func(c call) error {
				if at++; at == n {
					met = true
					chattr(t, path, flagNoDump)
				}
				return nil
			}}
		})
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = whole(d.save, path, "new")
		if !met {
			break
		}
		if err != nil && !errors.Is(err, ErrModified) {
			t.Fatalf("before call %d: %v", n, err)
		}
		after, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if flagsOf(t, path)&flagNoDump == 0 {
			t.Errorf("before call %d: the flag is lost (replaced: %v)", n, !os.SameFile(before, after))
		}
		d.save.Close()
	}
}

// TestFlagsThatCannotBeSet: a flag that the new file cannot have keeps the old file: it is
// written in place. A disk that fails is an error.
func TestFlagsThatCannotBeSet(t *testing.T) {
	for errno, inPlace := range map[unix.Errno]bool{unix.EPERM: true, unix.EINVAL: true, unix.EOPNOTSUPP: true, unix.EIO: false} {
		d := newTestFolder(t, func(o *Options) {
			o.Sys = hooked{before: func(c call) error {
				if c.name == "SetFlags" {
					return errno
				}
				return nil
			}}
		})
		path := d.put("f", "old")
		chattr(t, path, flagNoDump)
		out, err := whole(d.save, path, "new")
		if out.InPlace != inPlace || (err == nil) != inPlace {
			t.Errorf("%v: %+v, %v", errno, out, err)
		}
		if flagsOf(t, path)&flagNoDump == 0 {
			t.Errorf("%v: the flag is lost", errno)
		}
		d.wantNames("f")
	}
}

// TestPrivilegesGoWithChangedBytes: a program keeps no capabilities when its bytes change,
// also if root changes them: the kernel removes them at a write.
func TestPrivilegesGoWithChangedBytes(t *testing.T) {
	needRoot(t)
	const capability = "security.capability"
	netRaw := []byte{1, 0, 0, 2, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0} // effective and permitted
	has := func(path string) bool {
		_, err := unix.Lgetxattr(path, capability, make([]byte, 64))
		return err == nil
	}
	control := t.TempDir() + "/f"
	for name, system := range systems {
		d := newTestFolder(t, func(o *Options) { o.Sys = hooked{base: system.base(), before: system.before} })
		path := d.put("f", "old")
		for _, file := range []string{path, control} {
			if err := errors.Join(os.WriteFile(file, []byte("old"), 0o755), unix.Lsetxattr(file, capability, netRaw, 0)); err != nil {
				t.Skipf("!!! NOT TESTED: no capabilities here: %v !!!", err)
			}
		}
		if err := os.WriteFile(control, []byte("new"), 0o755); err != nil || has(control) {
			t.Fatalf("the kernel keeps them: %v", err)
		}
		if _, err := whole(d.save, path, "new"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if has(path) {
			t.Errorf("%s: the new bytes have the capabilities of the old ones", name)
		}
	}
}
