//go:build unix

package owndir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// tree is a folder with a folder and two files in it.
func tree(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "own")
	for _, d := range []string{dir, filepath.Join(dir, "sub")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"a", "sub/b"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// wantError asks for an *Error that names a path, "" for no error.
func wantError(t *testing.T, what string, err error, path string) {
	t.Helper()
	own := (*Error)(nil)
	if path == "" && err != nil || path != "" && (!errors.As(err, &own) || own.Path != path) {
		t.Errorf("%s: %v, want one of %q", what, err, path)
	}
}

func TestFind(t *testing.T) {
	dir := tree(t)
	levels := map[string]int{".": 0, "a": 1, "sub": 1, "sub/b": 2}
	for at, level := range levels {
		path := filepath.Join(dir, at)
		was, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, bits := range []os.FileMode{0, 0o055, 0o020, 0o002, 0o022, 0o066} {
			chmod(t, path, was.Mode()|bits)
			for _, depth := range []int{0, 1, 2, -1} {
				want := ""
				if bits&0o022 != 0 && (depth < 0 || level <= depth) {
					want = path
				}
				wantError(t, at+" "+bits.String(), Find(dir, depth), want)
			}
		}
		chmod(t, path, was.Mode())
		if os.Geteuid() != 0 {
			continue
		}
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		wantError(t, at+" of another user", Find(dir, -1), path)
		os.Chown(path, 0, 0)
	}
	if err := Find(filepath.Join(dir, "none"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
	if err := Find(filepath.Join(dir, "a"), 1); err == nil || errors.As(err, new(*Error)) {
		t.Errorf("a file: %v", err)
	}
	// The folder may be a link, a link in it is passed over.
	link := filepath.Join(filepath.Dir(dir), "link")
	if err := errors.Join(os.Symlink(dir, link), os.Symlink("/tmp", filepath.Join(dir, "out"))); err != nil {
		t.Fatal(err)
	}
	wantError(t, "links", Find(link, -1), "")
	chmod(t, dir, 0o777)
	wantError(t, "a link to a folder of all", Find(link, -1), link)
}

// A folder of the state is made private, and neither opened nor made where others
// may have written it or the folder above.
func TestSub(t *testing.T) {
	dir := tree(t)
	if _, err := Sub(dir, "new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("not made yet: %v", err)
	}
	root, err := MakeSub(dir, "new")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	path := filepath.Join(dir, "new")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	both := func(what, name, want string) {
		t.Helper()
		_, err := Sub(dir, name)
		wantError(t, what, err, want)
		_, err = MakeSub(dir, name)
		wantError(t, what, err, want)
	}
	both("sound", "new", "")
	chmod(t, path, 0o720)
	both("writable by the group", "new", path)
	chmod(t, path, 0o700)
	chmod(t, dir, 0o707)
	both("the folder above is writable by all", "new", dir)
	both("the folder above is writable by all, nothing there yet", "newer", dir)
	chmod(t, dir, 0o700)
	if _, err := os.Lstat(filepath.Join(dir, "newer")); err == nil {
		t.Error("it was made")
	}
	if err := os.Symlink("/tmp", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]string{"link": "a link", "a": "a file"} {
		if _, err := MakeSub(dir, name); err == nil || !strings.Contains(err.Error(), kind+" lies in the place of the folder") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func checkPrivate(dir string, info os.FileInfo) error {
	st := info.Sys().(*syscall.Stat_t)
	return CheckStat(dir, st.Uid, uint32(st.Mode), true) //nolint:unconvert // not so wide everywhere
}

func TestCheckPrivate(t *testing.T) {
	dir := tree(t)
	for mode, why := range map[os.FileMode]string{0o700: "", 0o500: "", 0o710: "is open to", 0o704: "is open to", 0o720: "may be written by"} {
		chmod(t, dir, mode)
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkPrivate(dir, info); (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%o: %v", mode, err)
		}
	}
}

// The names are absolute wherever the environment's are not.
func TestNamesAreAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := filepath.Dir(InTemp("tmp")); got != filepath.Join(here, "tmp") {
		t.Error(got)
	}
	t.Setenv("TMPDIR", "other")
	if got := filepath.Dir(InTemp("")); got != filepath.Join(here, "other") {
		t.Error(got)
	}
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "home")
	if got := Cache(); got != "" {
		t.Errorf("%q", got)
	}
}
