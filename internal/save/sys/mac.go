package sys

import (
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Mac has the calls that Portable makes on macOS alone.
type Mac struct {
	// As is the system whose calls Portable makes, "darwin" or another; "" is the system that
	// it runs on. As "darwin" it exchanges names, clones files, keeps attributes and watches
	// files on Linux too, by the calls there that do the same.
	As   string
	open handles
}

func (m *Mac) onMac() bool { return m.As == "darwin" || m.As == "" && runtime.GOOS == "darwin" }

// Flags of an inode in the numbers of Linux (source: linux/fs.h).
const (
	immutable  = 0x10
	appendOnly = 0x20
)

// raw calls f with the descriptor of an open file. It is EOPNOTSUPP on other systems.
func (m *Mac) raw(fd int, f func(fd int) error) error {
	if !m.onMac() {
		return syscall.EOPNOTSUPP
	}
	if old, ok := m.open.get(fd).(*fsys.File); ok {
		return number(f(int(old.Fd())))
	}
	return m.open.with(fd, func(file *os.File) error { return f(int(file.Fd())) })
}

// Flags implements Sys, on macOS alone.
func (m *Mac) Flags(fd int) (flags uint32, err error) {
	err = m.raw(fd, func(fd int) (err error) { flags, err = fileFlags(fd); return err })
	return flags, err
}

// SetFlags implements Sys, on macOS alone.
func (m *Mac) SetFlags(fd int, flags uint32) error {
	return m.raw(fd, func(fd int) error { return setFileFlags(fd, flags) })
}

// ownedAttrs are attributes that macOS sets by itself and lets no program set.
var ownedAttrs = map[string]bool{"com.apple.provenance": true, "com.apple.macl": true}

// Listxattr implements Sys, on macOS alone.
func (m *Mac) Listxattr(fd int) (names []string, err error) {
	err = m.raw(fd, func(fd int) error {
		list, err := grown(func(b []byte) (int, error) { return listAttrs(fd, b) })
		for name := range strings.SplitSeq(string(list), "\x00") {
			if name != "" && !ownedAttrs[name] {
				names = append(names, name)
			}
		}
		return err
	})
	return names, err
}

// Getxattr implements Sys, on macOS alone.
func (m *Mac) Getxattr(fd int, name string) (value []byte, err error) {
	err = m.raw(fd, func(fd int) error {
		value, err = grown(func(b []byte) (int, error) { return getAttr(fd, name, b) })
		return err
	})
	return value, err
}

// Setxattr implements Sys, on macOS alone.
func (m *Mac) Setxattr(fd int, name string, value []byte) error {
	return m.raw(fd, func(fd int) error { return setAttr(fd, name, value) })
}

// Clone implements Sys, on macOS alone.
func (m *Mac) Clone(from, dir int, name string) error {
	return m.raw(from, func(from int) error {
		return m.open.in(dir, name, func(root *os.Root, name string) error { return cloneFile(from, root, name) })
	})
}

// CopyACL implements Sys, on macOS alone.
func (m *Mac) CopyACL(from, to int) error {
	return m.raw(from, func(from int) error {
		return m.raw(to, func(to int) error { return copyACL(from, to) })
	})
}

// Watch implements Sys, on macOS alone.
func (m *Mac) Watch(fd int) (w WriteWatch, err error) {
	err = m.raw(fd, func(fd int) (err error) { w, err = watchWrites(fd); return err })
	return w, err
}

// grown calls f with a larger buffer until what it wants to say fits.
func grown(f func([]byte) (int, error)) ([]byte, error) {
	for size := 256; ; size *= 4 {
		b := make([]byte, size)
		n, err := f(b)
		if err == syscall.ERANGE && size < 1<<20 {
			continue
		}
		return b[:max(n, 0)], err
	}
}
