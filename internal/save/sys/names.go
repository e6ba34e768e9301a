package sys

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// between calls f with two open folders.
func (h *handles) between(fromDir, toDir int, f func(from, to *os.Root) error) error {
	from, ok := h.get(fromDir).(*os.Root)
	to, okTo := h.get(toDir).(*os.Root)
	if !ok || !okTo {
		return syscall.EBADF
	}
	return number(f(from, to))
}

// MoveName implements NameCalls.
func (p *Portable) MoveName(fromDir int, from string, toDir int, to string, flags uint) error {
	if flags != 0 && !p.onMac() {
		return syscall.EINVAL
	}
	return p.open.between(fromDir, toDir, func(a, b *os.Root) error { return renameBetween(a, from, b, to, flags) })
}

// LinkName implements NameCalls.
func (p *Portable) LinkName(fromDir int, from string, toDir int, to string) error {
	return p.open.between(fromDir, toDir, func(a, b *os.Root) error { return linkBetween(a, from, b, to) })
}

// Readlink implements NameCalls.
func (p *Portable) Readlink(dir int, name string) (text string, err error) {
	err = p.open.in(dir, name, func(root *os.Root, name string) (err error) {
		text, err = root.Readlink(name)
		return err
	})
	return text, err
}

// Symlink implements NameCalls.
func (p *Portable) Symlink(text string, dir int, name string, uid, gid uint32) error {
	return p.open.in(dir, name, func(root *os.Root, name string) error {
		err := root.Symlink(text, name)
		if err == nil {
			root.Lchown(name, int(uid), int(gid))
		}
		return err
	})
}

// SetTimes implements NameCalls. Except on macOS, a link keeps the time at which it was made.
func (p *Portable) SetTimes(dir int, name string, mtime int64) error {
	return p.open.in(dir, name, func(root *os.Root, name string) error {
		info, err := root.Lstat(name)
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			if p.onMac() {
				err = setLinkTime(root, name, mtime)
			}
			return err
		}
		return root.Chtimes(name, time.Unix(0, mtime), time.Unix(0, mtime))
	})
}
