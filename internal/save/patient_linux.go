//go:build !fsys_portable

package save

import (
	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// patient makes interrupted calls again. It leaves alone what must not be done
// twice by guess: Close, after which the descriptor is gone either way, Sync,
// whose error is told only once, and Link and Rename, which may have happened
// (an exchange done twice is undone): see land.
type patient struct{ Sys }

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

func (p patient) Openat(dir int, name string, flags int, mode uint32) (int, error) {
	return again1(func() (int, error) { return p.Sys.Openat(dir, name, flags, mode) })
}

func (p patient) Names(fd int) ([]string, error) {
	return again1(func() ([]string, error) { return p.Sys.Names(fd) })
}

func (p patient) Fstat(fd int) (fsys.Stamp, error) {
	return again1(func() (fsys.Stamp, error) { return p.Sys.Fstat(fd) })
}

func (p patient) Fstatat(dir int, name string) (fsys.Stamp, error) {
	return again1(func() (fsys.Stamp, error) { return p.Sys.Fstatat(dir, name) })
}

func (p patient) Pread(fd int, b []byte, off int64) (int, error) {
	return again1(func() (int, error) { return p.Sys.Pread(fd, b, off) })
}

func (p patient) Pwrite(fd int, b []byte, off int64) (int, error) {
	return again1(func() (int, error) { return p.Sys.Pwrite(fd, b, off) })
}

func (p patient) CopyRange(from int, fromOff int64, to int, toOff, n int64) (int64, error) {
	return again1(func() (int64, error) { return p.Sys.CopyRange(from, fromOff, to, toOff, n) })
}

func (p patient) Truncate(fd int, size int64) error {
	return again(func() error { return p.Sys.Truncate(fd, size) })
}

func (p patient) Reserve(fd int, off, n int64) error {
	return again(func() error { return p.Sys.Reserve(fd, off, n) })
}

func (p patient) Chmod(fd int, mode uint32) error {
	return again(func() error { return p.Sys.Chmod(fd, mode) })
}

func (p patient) Chown(fd int, uid, gid uint32) error {
	return again(func() error { return p.Sys.Chown(fd, uid, gid) })
}

func (p patient) Listxattr(fd int) ([]string, error) {
	return again1(func() ([]string, error) { return p.Sys.Listxattr(fd) })
}

func (p patient) Getxattr(fd int, name string) ([]byte, error) {
	return again1(func() ([]byte, error) { return p.Sys.Getxattr(fd, name) })
}

func (p patient) Setxattr(fd int, name string, value []byte) error {
	return again(func() error { return p.Sys.Setxattr(fd, name, value) })
}

func (p patient) Removexattr(fd int, name string) error {
	return again(func() error { return p.Sys.Removexattr(fd, name) })
}

func (p patient) Flock(fd int, how int) error {
	return again(func() error { return p.Sys.Flock(fd, how) })
}

func (p patient) SetLease(fd int, kind int) error {
	return again(func() error { return p.Sys.SetLease(fd, kind) })
}

func (p patient) GetLease(fd int) (int, error) {
	return again1(func() (int, error) { return p.Sys.GetLease(fd) })
}

func (p patient) Unlink(dir int, name string, flags int) error {
	return again(func() error { return p.Sys.Unlink(dir, name, flags) })
}

func (p patient) Mkdir(dir int, name string, mode uint32) error {
	return again(func() error { return p.Sys.Mkdir(dir, name, mode) })
}
