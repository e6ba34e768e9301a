// Package nativetest spells the names in tests as the system that runs them does. A test writes
// them as Unix does; on Windows the names are below drive C. It serves tests.
package nativetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// Windows is whether the tests run on Windows.
const Windows = runtime.GOOS == "windows"

// Name returns the system's spelling of a name with slashes. If it begins with a slash it is
// absolute: Name("/home/u") is "C:\home\u" on Windows.
func Name(name string) string {
	if Windows && strings.HasPrefix(name, "/") {
		name = "C:" + name
	}
	return filepath.FromSlash(name)
}

// Names returns the system's spelling of each name.
func Names(names ...string) []string {
	var native []string
	for _, name := range names {
		native = append(native, Name(name))
	}
	return native
}

// Drive returns a list of names with blanks between them, in which each name that begins with a
// slash names a drive on Windows. It keeps the slashes, which Windows takes, too.
func Drive(names string) string {
	if Windows {
		names = strings.ReplaceAll(" "+names, " /", " C:/")[1:]
	}
	return names
}

// Quoted returns a JSON text in which each string that begins with a slash is a name as the
// system spells it.
func Quoted(text string) string {
	if !Windows {
		return text
	}
	return rooted.ReplaceAllStringFunc(text, func(quoted string) string {
		return strconv.Quote(Name(strings.Trim(quoted, `"`)))
	})
}

var rooted = regexp.MustCompile(`"/[^"]*"`)

// Symlinks reports whether a symbolic link can be made that the system's calls know as one.
// Windows needs a privilege for it, and Wine makes plain files.
func Symlinks(t testing.TB) bool {
	t.Helper()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if os.Symlink(dir, link) != nil {
		return false
	}
	info, err := os.Lstat(link)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// NeedSymlinks skips the test if Symlinks reports false.
func NeedSymlinks(t testing.TB) {
	t.Helper()
	if !Symlinks(t) {
		t.Skip("!!! NOT TESTED: no symbolic links can be made here !!!")
	}
}

// NeedProgram skips the test on Windows if the program is missing. On other systems its absence
// is a failure of the test.
func NeedProgram(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); Windows && err != nil {
		t.Skipf("!!! NOT TESTED: %s is missing !!!", name)
	}
}
