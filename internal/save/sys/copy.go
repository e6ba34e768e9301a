package sys

import (
	"bufio"
	"crypto/sha256"
	"hash"
	"io"
	"sync"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/span"
)

const (
	// BufferSize is enough for reading and writing in large steps.
	BufferSize = 256 << 10
	// RangeWorth is the length from which the system copies on its own: below
	// it, gathering everything into few writes costs less.
	RangeWorth = 1 << 20
)

// Writer writes a file from front to back.
type Writer struct {
	Sys Sys
	FD  int
	Off int64     // of the next byte to be written
	Sum hash.Hash // of everything that is written; nil if it is not needed
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	if w.Sum != nil {
		w.Sum.Write(p)
	}
	if err := WriteAll(w.Sys, w.FD, p, w.Off); err != nil {
		return 0, err
	}
	w.Off += int64(len(p))
	return len(p), nil
}

// CopySpliced writes the old content (size bytes of from) with the splices applied.
func (w *Writer) CopySpliced(from int, size int64, c []span.Splice) error {
	buf, done := w.buffer(size + span.Growth(c))
	defer done()
	at := int64(0)
	for _, s := range c {
		if err := w.copy(buf, from, at, s.Start); err != nil {
			return err
		}
		if _, err := buf.Write(s.New); err != nil {
			return err
		}
		at = s.End
	}
	if err := w.copy(buf, from, at, size); err != nil {
		return err
	}
	return buf.Flush()
}

// buffers holds writers of BufferSize that are not in use: without them, each change of a larger
// file needs new memory for one.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, BufferSize) }}

// buffer returns a writer to w for size bytes, and a function that gives it back.
func (w *Writer) buffer(size int64) (buf *bufio.Writer, done func()) {
	if size < BufferSize {
		return bufio.NewWriterSize(w, int(size)), func() {}
	}
	buf = buffers.Get().(*bufio.Writer)
	buf.Reset(w)
	return buf, func() {
		buf.Reset(nil) // it must not hold on to w
		buffers.Put(buf)
	}
}

// copy writes [at, end) of another file by way of buf.
func (w *Writer) copy(buf *bufio.Writer, from int, at, end int64) error {
	if end-at >= RangeWorth && w.Sum == nil {
		err := buf.Flush()
		if err == nil {
			at, err = w.copyRange(from, at, end)
		}
		if err != nil {
			return err
		}
	}
	n, err := buf.ReadFrom(io.NewSectionReader(Reader{w.Sys, from}, at, end-at))
	if err == nil && n < end-at {
		return ErrEnded
	}
	return err
}

// copyRange lets the system copy as far as it likes to, and says how far it came.
func (w *Writer) copyRange(from int, at, end int64) (int64, error) {
	for at < end {
		n, err := w.Sys.CopyRange(from, at, w.FD, w.Off, end-at)
		if Is(err, syscall.ENOSPC, syscall.EDQUOT, syscall.EIO) {
			return at, err
		}
		if n <= 0 || err != nil {
			break
		}
		at, w.Off = at+n, w.Off+n
	}
	return at, nil
}

// SpliceClone applies the splices to clone, a clone of the old file, whose content was size
// bytes long. It returns the digest of the old bytes that went into the new content: those
// that stay in the clone are read there, the others from the old file as they are used.
func SpliceClone(sys Sys, clone, old int, size int64, c []span.Splice) (*Digest, error) {
	sum := sha256.New()
	take := func(to io.Writer, from int, start, end int64) error {
		n, err := io.Copy(io.MultiWriter(to, sum), io.NewSectionReader(Reader{sys, from}, start, end-start))
		if err == nil && n < end-start {
			return ErrEnded
		}
		return err
	}
	w, at := Writer{Sys: sys, FD: clone}, int64(0)
	for i := 0; i <= len(c); i++ {
		next := size
		if i < len(c) {
			next = c[i].Start
		}
		var err error
		if w.Off == at {
			err = take(io.Discard, clone, at, next)
			w.Off = next
		} else {
			err = take(&w, old, at, next)
		}
		if err == nil && i < len(c) {
			at = c[i].End
			err = take(io.Discard, old, next, at)
		}
		if err == nil && i < len(c) {
			_, err = w.Write(c[i].New)
		}
		if err != nil {
			return nil, err
		}
	}
	if w.Off < size {
		if err := sys.Truncate(clone, w.Off); err != nil {
			return nil, err
		}
	}
	return (*Digest)(sum.Sum(nil)), nil
}
