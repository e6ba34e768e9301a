//go:build !fsys_portable

package disk

import (
	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// retrying makes interrupted calls again. It leaves alone what must not be done
// twice by guess: Close, after which the descriptor is gone either way, Sync,
// whose error is told only once, and Link and Rename, which may have happened
// (an exchange done twice is undone): see land.
type retrying struct{ Sys }

func again(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

func again1[T any](f func() (T, error)) (T, error) {
	for {
		if v, err := f(); err != unix.EINTR {
			return v, err
		}
	}
}

func (p retrying) Openat(dir int, name string, flags int, mode uint32) (int, error) {
	return again1(func() (int, error) { return p.Sys.Openat(dir, name, flags, mode) })
}

func (p retrying) Names(fd int) ([]string, error) {
	return again1(func() ([]string, error) { return p.Sys.Names(fd) })
}

func (p retrying) Fstat(fd int) (fsys.Stamp, error) {
	return again1(func() (fsys.Stamp, error) { return p.Sys.Fstat(fd) })
}

func (p retrying) Fstatat(dir int, name string) (fsys.Stamp, error) {
	return again1(func() (fsys.Stamp, error) { return p.Sys.Fstatat(dir, name) })
}

func (p retrying) Pread(fd int, b []byte, off int64) (int, error) {
	return again1(func() (int, error) { return p.Sys.Pread(fd, b, off) })
}

func (p retrying) Pwrite(fd int, b []byte, off int64) (int, error) {
	return again1(func() (int, error) { return p.Sys.Pwrite(fd, b, off) })
}

func (p retrying) CopyRange(from int, fromOff int64, to int, toOff, n int64) (int64, error) {
	return again1(func() (int64, error) { return p.Sys.CopyRange(from, fromOff, to, toOff, n) })
}

func (p retrying) Truncate(fd int, size int64) error {
	return again(func() error { return p.Sys.Truncate(fd, size) })
}

func (p retrying) Reserve(fd int, off, n int64) error {
	return again(func() error { return p.Sys.Reserve(fd, off, n) })
}

func (p retrying) Chmod(fd int, mode uint32) error {
	return again(func() error { return p.Sys.Chmod(fd, mode) })
}

func (p retrying) Chown(fd int, uid, gid uint32) error {
	return again(func() error { return p.Sys.Chown(fd, uid, gid) })
}

func (p retrying) Listxattr(fd int) ([]string, error) {
	return again1(func() ([]string, error) { return p.Sys.Listxattr(fd) })
}

func (p retrying) Getxattr(fd int, name string) ([]byte, error) {
	return again1(func() ([]byte, error) { return p.Sys.Getxattr(fd, name) })
}

func (p retrying) Setxattr(fd int, name string, value []byte) error {
	return again(func() error { return p.Sys.Setxattr(fd, name, value) })
}

func (p retrying) Removexattr(fd int, name string) error {
	return again(func() error { return p.Sys.Removexattr(fd, name) })
}

func (p retrying) Flock(fd int, how int) error {
	return again(func() error { return p.Sys.Flock(fd, how) })
}

func (p retrying) SetLease(fd int, kind int) error {
	return again(func() error { return p.Sys.SetLease(fd, kind) })
}

func (p retrying) GetLease(fd int) (int, error) {
	return again1(func() (int, error) { return p.Sys.GetLease(fd) })
}

func (p retrying) Unlink(dir int, name string, flags int) error {
	return again(func() error { return p.Sys.Unlink(dir, name, flags) })
}

func (p retrying) Mkdir(dir int, name string, mode uint32) error {
	return again(func() error { return p.Sys.Mkdir(dir, name, mode) })
}
