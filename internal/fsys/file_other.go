//go:build !linux || fsys_portable

package fsys

import (
	"errors"
	"io"
	"os"
)

// File is an open regular file.
type File struct {
	file   *os.File
	name   string
	opened Stamp // as the target was resolved
}

// Fd is the descriptor; it stays the File's own.
func (f *File) Fd() uintptr { return f.file.Fd() }

// Close gives the descriptor back; a second time it does nothing.
func (f *File) Close() error {
	if err := f.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

func (f *File) pread(p []byte, off int64) (int, error) {
	n, err := f.file.ReadAt(p, off)
	if errors.Is(err, io.EOF) {
		return n, nil
	}
	return n, err
}

func (f *File) stamp() (Stamp, error) { return stampAgain(f.file, f.opened) }
