//go:build !fsys_portable

package disk

import (
	"crypto/sha256"
	"io"
	"math"

	"github.com/fsmcp/fsmcp/internal/save/tempname"
)

// ReadAt reads n bytes, fewer at the end of the file.
func ReadAt(sys Sys, fd int, off int64, n int) ([]byte, error) {
	p := make([]byte, n)
	if off < 0 {
		return nil, nil
	}
	for got := 0; got < n; {
		m, err := sys.Pread(fd, p[got:], off+int64(got))
		if err != nil {
			return nil, err
		}
		if m <= 0 {
			return p[:got], nil
		}
		got += m
	}
	return p, nil
}

// WriteAll writes all of p, or says why not.
func WriteAll(sys Sys, fd int, p []byte, off int64) error {
	for len(p) > 0 {
		n, err := sys.Pwrite(fd, p, off)
		if err != nil {
			return err
		}
		if n <= 0 {
			return ErrShort
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// Digest reads the bytes of a file up to size.
func Digest(sys Sys, fd int, size int64) (*tempname.Digest, error) {
	h := sha256.New()
	buf := make([]byte, min(size, 64<<10))
	for off := int64(0); off < size; {
		n, err := sys.Pread(fd, buf[:min(size-off, int64(len(buf)))], off)
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			break // it is shorter by now
		}
		h.Write(buf[:n])
		off += int64(n)
	}
	return (*tempname.Digest)(h.Sum(nil)), nil
}

// Reader reads from an open file.
type Reader struct {
	Sys Sys
	FD  int
}

// ReadAt implements io.ReaderAt.
func (r Reader) ReadAt(p []byte, off int64) (int, error) {
	b, err := ReadAt(r.Sys, r.FD, off, len(p))
	if n := copy(p, b); err != nil || n == len(p) {
		return n, err
	}
	return len(b), io.EOF
}

// ReadAll reads a file from its start.
func ReadAll(sys Sys, fd int) ([]byte, error) {
	stamp, err := sys.Fstat(fd)
	if err != nil {
		return nil, err
	}
	return ReadAt(sys, fd, 0, int(min(stamp.Size, math.MaxInt32)))
}
