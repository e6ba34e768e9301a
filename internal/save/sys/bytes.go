package sys

import (
	"crypto/sha256"
	"io"
	"math"
)

// Reader reads from an open file.
type Reader struct {
	Sys Sys
	FD  int
}

// ReadAt implements io.ReaderAt.
func (r Reader) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		m, err := r.Sys.Pread(r.FD, p[n:], off+int64(n))
		if err != nil {
			return n, err
		}
		if m <= 0 {
			return n, io.EOF
		}
		n += m
	}
	return n, nil
}

// ReadAt reads n bytes, fewer at the end of the file.
func ReadAt(sys Sys, fd int, off int64, n int) ([]byte, error) {
	p := make([]byte, n)
	n, err := Reader{sys, fd}.ReadAt(p, off)
	if err == io.EOF {
		err = nil
	}
	return p[:n], err
}

// ReadAll reads a file from its start.
func ReadAll(sys Sys, fd int) ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(Reader{sys, fd}, 0, math.MaxInt64))
}

// Digest is the SHA-256 of a file's bytes.
type Digest [sha256.Size]byte

// DigestOf reads the bytes of a file up to size, fewer if it has become shorter.
func DigestOf(sys Sys, fd int, size int64) (*Digest, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(Reader{sys, fd}, 0, size)); err != nil {
		return nil, err
	}
	return (*Digest)(h.Sum(nil)), nil
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
