//go:build !fsys_portable

package fsys

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// File is an open regular file.
type File struct {
	fd     int
	name   string
	opened Stamp // as the target was resolved
}

// Fd is the descriptor; it stays the File's own.
func (f *File) Fd() uintptr { return uintptr(f.fd) }

// Close gives the descriptor back; a second time it does nothing.
func (f *File) Close() error {
	if f.fd < 0 {
		return nil
	}
	fd := f.fd
	f.fd = -1
	return fault("close", f.name, unix.Close(fd))
}

func (f *File) pread(p []byte, off int64) (int, error) {
	if f.fd < 0 {
		return 0, fs.ErrClosed
	}
	n, err := RetryEINTR2(func() (int, error) { return unix.Pread(f.fd, p, off) })
	return max(n, 0), err
}

func (f *File) stamp() (Stamp, error) {
	if f.fd < 0 {
		return Stamp{}, fs.ErrClosed
	}
	return Fstat(f.fd)
}
