package sys

import (
	"os"
	"strings"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// What Portable does on macOS, and on Linux in its place: see Portable.As.

// Flags of an inode in the numbers of Linux (source: linux/fs.h).
const (
	immutable  = 0x10
	appendOnly = 0x20
)

// raw calls f with the descriptor of an open file. It is EOPNOTSUPP on other systems.
func (p *Portable) raw(fd int, f func(fd int) error) error {
	if !p.onMac() {
		return syscall.EOPNOTSUPP
	}
	if old, ok := p.open.get(fd).(*fsys.File); ok {
		return number(f(int(old.Fd())))
	}
	return p.open.with(fd, func(file *os.File) error { return f(int(file.Fd())) })
}

// Flags implements Sys, on macOS alone.
func (p *Portable) Flags(fd int) (flags uint32, err error) {
	err = p.raw(fd, func(fd int) (err error) { flags, err = fileFlags(fd); return err })
	return flags, err
}

// SetFlags implements Sys, on macOS alone.
func (p *Portable) SetFlags(fd int, flags uint32) error {
	return p.raw(fd, func(fd int) error { return setFileFlags(fd, flags) })
}

// ownedAttrs are attributes that macOS sets by itself and lets no program set.
var ownedAttrs = map[string]bool{"com.apple.provenance": true, "com.apple.macl": true}

// Listxattr implements Sys, on macOS alone.
func (p *Portable) Listxattr(fd int) (names []string, err error) {
	err = p.raw(fd, func(fd int) error {
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
func (p *Portable) Getxattr(fd int, name string) (value []byte, err error) {
	err = p.raw(fd, func(fd int) error {
		value, err = grown(func(b []byte) (int, error) { return getAttr(fd, name, b) })
		return err
	})
	return value, err
}

// Setxattr implements Sys, on macOS alone.
func (p *Portable) Setxattr(fd int, name string, value []byte) error {
	return p.raw(fd, func(fd int) error { return setAttr(fd, name, value) })
}

// Clone implements Sys, on macOS alone.
func (p *Portable) Clone(from, dir int, name string) error {
	return p.raw(from, func(from int) error {
		return p.open.in(dir, name, func(root *os.Root, name string) error { return cloneFile(from, root, name) })
	})
}

// CopyACL implements Sys, on macOS alone.
func (p *Portable) CopyACL(from, to int) error {
	return p.raw(from, func(from int) error {
		return p.raw(to, func(to int) error { return copyACL(from, to) })
	})
}

// Watch implements Sys, on macOS alone.
func (p *Portable) Watch(fd int) (w Watcher, err error) {
	err = p.raw(fd, func(fd int) (err error) { w, err = watchWrites(fd); return err })
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
