//go:build !fsys_portable

package save

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("!!! NOT TESTED: it needs root !!!")
	}
}

// mount mounts for the length of the test.
func mount(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	if err := unix.Mount(source, target, kind, flags, data); err != nil {
		t.Skipf("!!! NOT TESTED: nothing can be mounted: %v !!!", err)
	}
	t.Cleanup(func() { unix.Unmount(target, unix.MNT_DETACH) })
}

// A disk that is really full: the old file stays, and as soon as there is room
// the write succeeds.
func TestFullDisk(t *testing.T) {
	needRoot(t)
	d := newTestFolder(t)
	mount(t, "tmpfs", d.dir, "tmpfs", 0, "size=1m")
	path := d.put("f", "old")
	filler := d.path("filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	long := strings.Repeat("new\n", 10000)
	_, err := whole(d.save, path, long)
	var ioerr *IOError
	if !errors.Is(err, unix.ENOSPC) || !errors.As(err, &ioerr) || ioerr.Changed {
		t.Errorf("%v", err)
	}
	if _, err := whole(d.save, d.path("a/b/new"), long); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("new file: %v", err)
	}
	d.want("f", "old")
	d.wantNames("f", "filler")
	os.Remove(filler)
	if _, err := whole(d.save, path, long); err != nil {
		t.Error(err)
	}
	d.want("f", long)
	d.wantNames("f")
}

// On a full disk a file that is written in place is not begun.
func TestFullDiskInPlace(t *testing.T) {
	needRoot(t)
	d := newTestFolder(t, func(o *Options) { o.Sys = hooked{before: systems["in-place"].before} })
	mount(t, "tmpfs", d.dir, "tmpfs", 0, "size=1m")
	old := strings.Repeat("old\n", 50000)
	path := d.put("f", old)
	if err := os.WriteFile(d.path("filler"), make([]byte, 600<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := whole(d.save, path, strings.Repeat("new\n", 200000))
	var ioerr *IOError
	if !errors.Is(err, unix.ENOSPC) || !errors.As(err, &ioerr) || ioerr.Changed {
		t.Errorf("%v", err)
	}
	d.want("f", old)
	d.wantNames("f", "filler")
}

// A single file that is mounted can only be written in place.
func TestMountedFile(t *testing.T) {
	needRoot(t)
	d := newTestFolder(t, func(o *Options) { o.Durability = Full })
	source, path := d.put("source", "old content"), d.put("f", "")
	mount(t, source, path, "", unix.MS_BIND, "")
	for _, content := range []string{"new", "new and longer content", ""} {
		out, err := whole(d.save, path, content)
		if err != nil || !out.InPlace || out.DurabilityUnknown {
			t.Fatalf("%+v, %v", out, err)
		}
		d.want("f", content)
		d.want("source", content)
		d.wantNames("f", "source")
	}
	if out, err := whole(d.save, path, "x"); err != nil || out.Stamp.Size != 1 {
		t.Errorf("%+v, %v", out, err)
	}
	if journals, _ := os.ReadDir(filepath.Join(d.state, journalDir)); len(journals) > 0 {
		t.Errorf("%d journals stay", len(journals))
	}
}

// In a folder that names can only be added to, a temporary one would stay.
func TestFolderThatOnlyGrows(t *testing.T) {
	needRoot(t)
	d := newTestFolder(t)
	path := d.put("f", "old")
	if out, err := exec.Command("chattr", "+a", d.dir).CombinedOutput(); err != nil {
		t.Skipf("!!! NOT TESTED: no folder can be made append-only here: %v %s !!!", err, out)
	}
	t.Cleanup(func() { exec.Command("chattr", "-a", d.dir).Run() })
	for _, content := range []string{"new", "newer", ""} {
		if out, err := whole(d.save, path, content); err != nil || !out.InPlace {
			t.Errorf("%+v, %v", out, err)
		}
		d.want("f", content)
		d.wantNames("f")
	}
	if _, err := whole(d.save, d.path("g"), "new"); err != nil {
		t.Error(err)
	}
	d.wantNames("f", "g")
}

const nobody = 65534

// playNobody plays roleOnce as a user without privileges.
func playNobody(t *testing.T, d *testFolder, path string) (out string, err string) {
	t.Helper()
	needRoot(t)
	self, e := os.Executable()
	if e != nil {
		t.Fatal(e)
	}
	top := filepath.Dir(d.dir)
	for dir := top; dir != "/"; dir = filepath.Dir(dir) {
		if strings.HasPrefix(filepath.Base(dir), "Test") || strings.HasPrefix(filepath.Base(dir), "00") || dir == top {
			os.Chmod(dir, 0o755)
		}
	}
	copied := filepath.Join(top, "self")
	if b, e := exec.Command("cp", self, copied).CombinedOutput(); e != nil {
		t.Fatal(e, string(b))
	}
	os.Mkdir(d.state, 0o700)
	os.Chown(d.state, nobody, nobody)
	cmd := exec.Command(copied)
	cmd.Dir = "/"
	cmd.Env = []string{roleEnv + "=once " + d.state + " " + path, "TMPDIR=" + top, "GORACE=atexit_sleep_ms=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	b, e := cmd.Output()
	if e != nil {
		t.Fatal(e, string(b))
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[0], lines[len(lines)-1]
}

// Without privileges: files, folders and owners of all kinds.
func TestOtherOwners(t *testing.T) {
	cases := []struct {
		name    string
		prepare func(d *testFolder, path string)
		err     string // "<nil>" for success
		inPlace bool
	}{
		{"own file", func(d *testFolder, path string) {
			os.Chown(d.dir, nobody, nobody)
			os.Chown(path, nobody, nobody)
		}, "<nil>", false},
		{"own file in a folder that cannot be written", func(d *testFolder, path string) {
			os.Chown(path, nobody, nobody)
		}, "<nil>", true},
		{"other owner, writable by the group", func(d *testFolder, path string) {
			os.Chown(d.dir, nobody, nobody)
			os.Chown(path, 0, nobody)
			os.Chmod(path, 0o664)
		}, "<nil>", true},
		{"other owner, writable by all, sticky folder", func(d *testFolder, path string) {
			os.Chmod(d.dir, 0o777|os.ModeSticky)
			os.Chmod(path, 0o666)
		}, "<nil>", true},
		{"other owner, not writable", func(d *testFolder, path string) {
			os.Chown(d.dir, nobody, nobody)
		}, "permission denied", false},
		{"nothing writable", func(d *testFolder, path string) {}, "permission denied", false},
		{"own file, own group lost", func(d *testFolder, path string) {
			os.Chown(d.dir, nobody, nobody)
			os.Chown(path, nobody, 0)
		}, "<nil>", true},
		{"own set-uid file in place", func(d *testFolder, path string) {
			os.Chown(path, nobody, nobody)
			unix.Chmod(path, 0o4755)
		}, "<nil>", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := newTestFolderIn(t, t.TempDir())
			path := d.put("f", "old\n")
			c.prepare(d, path)
			before := describe(t, path)
			out, err := playNobody(t, d, path)
			if !strings.Contains(err, c.err) {
				t.Fatalf("error %q, want %q (%s)", err, c.err, out)
			}
			if strings.Contains(out, "InPlace:true") != c.inPlace {
				t.Errorf("in place should be %v: %s", c.inPlace, out)
			}
			want := "old\n"
			if c.err == "<nil>" {
				want = "new\n"
			}
			d.want("f", want)
			d.wantNames("f")
			after := describe(t, path)
			if before.mode != after.mode || before.uid != after.uid || before.gid != after.gid {
				t.Errorf("mode and owner %o %d %d became %o %d %d", before.mode, before.uid, before.gid, after.mode, after.uid, after.gid)
			}
		})
	}
}

// A server that starts removes unlocked journals. One that it removes before its maker
// could lock it is made anew.
func TestJournalThatIsSweptBeforeItIsLocked(t *testing.T) {
	d := newTestFolderIn(t, memory(t))
	path := d.put("f", "old")
	swept := 0
	d.open(func(o *Options) {
		o.Sys = hooked{before: func(c call) error {
			if c.name == "Flock" && swept < 2 {
				journals, _ := os.ReadDir(filepath.Join(d.state, journalDir))
				for _, j := range journals {
					swept++
					if err := os.Remove(filepath.Join(d.state, journalDir, j.Name())); err != nil {
						t.Error(err)
					}
				}
			}
			return systems["in-place"].before(c)
		}}
	})
	if out, err := whole(d.save, path, "new"); err != nil || !out.InPlace {
		t.Errorf("%+v, %v", out, err)
	}
	if swept != 2 {
		t.Errorf("%d journals were swept", swept)
	}
	d.want("f", "new")
	if journals, _ := os.ReadDir(filepath.Join(d.state, journalDir)); len(journals) > 0 {
		t.Errorf("%d journals stay", len(journals))
	}
}

// Folders that a restore empties are removed as far as they are empty, and the folder above them
// is synced, so that they do not come back after a loss of power.
func TestRemoveEmptyFolders(t *testing.T) {
	for _, c := range []struct {
		name       string
		n          int
		left, sync string // the deepest folder that is left, and the synced one
	}{
		{"none", 0, "a/b/c", ""},
		{"one", 1, "a/b", "a/b"},
		{"up to one that holds a file", 3, "a", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newTestFolderIn(t, memory(t))
			if err := os.MkdirAll(d.path("a/b/c"), 0o755); err != nil {
				t.Fatal(err)
			}
			d.put("a/file", "")
			synced := ""
			d.open(func(o *Options) {
				o.Durability = Full
				o.Sys = hooked{before: func(c call) error {
					if c.name == "Sync" {
						synced, _ = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", c.fd))
					}
					return nil
				}}
			})
			d.save.RemoveEmptyFolders(d.path("a/b/c"), c.n)
			left := "a/b/c"
			for _, err := os.Stat(d.path(left)); err != nil; _, err = os.Stat(d.path(left)) {
				left = filepath.Dir(left)
			}
			if left != c.left || synced != "" && synced != d.path(c.sync) || (synced == "") != (c.sync == "") {
				t.Errorf("%s is left, and %q was synced", left, synced)
			}
		})
	}
}
