//go:build !fsys_portable

package disk

import (
	"hash"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/span"
)

const (
	// BufferSize is enough for reading and writing in large steps.
	BufferSize = 256 << 10
	// gatherBuffer is enough where nothing is read: it only gathers what would
	// otherwise be many small writes.
	gatherBuffer = 32 << 10
	// RangeWorth is the length from which the system copies on its own: below
	// it, gathering everything into few writes costs less.
	RangeWorth = 1 << 20
)

// Filler writes a file from front to back, from memory and from another file.
type Filler struct {
	sys  Sys
	to   int
	off  int64 // of the next byte to be written
	buf  []byte
	from int
	old  []byte    // what is in from; nil if that must be read
	sum  hash.Hash // of everything that is written; nil if it is not needed
	slow bool      // the system does not copy between these two
}

// NewFiller makes one that writes size bytes in all. old is the content of from, if it is
// known.
func NewFiller(sys Sys, to, from int, old []byte, size int64, sum hash.Hash) *Filler {
	buffer := min(size, BufferSize)
	if old != nil {
		buffer = min(size, gatherBuffer)
	}
	return &Filler{sys: sys, to: to, from: from, old: old, buf: make([]byte, 0, buffer), sum: sum}
}

// Fill writes the old content (size bytes of from) with the splices applied.
func (f *Filler) Fill(size int64, c []span.Splice) error {
	at := int64(0)
	for _, s := range c {
		if err := f.copy(at, s.Start); err != nil {
			return err
		}
		if err := f.bytes(s.New); err != nil {
			return err
		}
		at = s.End
	}
	if err := f.copy(at, size); err != nil {
		return err
	}
	return f.flush()
}

// bytes writes p; what would fill the buffer anyway goes past it.
func (f *Filler) bytes(p []byte) error {
	if len(p) > cap(f.buf)-len(f.buf) {
		if err := f.flush(); err != nil {
			return err
		}
		if len(p) >= cap(f.buf) {
			return f.write(p)
		}
	}
	f.buf = append(f.buf, p...)
	return nil
}

// copy writes [at, end) of the other file.
func (f *Filler) copy(at, end int64) error {
	if end-at >= RangeWorth && f.sum == nil {
		var err error
		if at, err = f.copyRange(at, end); err != nil {
			return err
		}
	}
	if f.old != nil {
		return f.bytes(f.old[at:end])
	}
	for at < end {
		if len(f.buf) == cap(f.buf) {
			if err := f.flush(); err != nil {
				return err
			}
		}
		room := f.buf[len(f.buf):min(int64(cap(f.buf)), int64(len(f.buf))+end-at)]
		n, err := f.sys.Pread(f.from, room, at)
		if err != nil {
			return err
		}
		if n <= 0 {
			return ErrEnded
		}
		f.buf = f.buf[:len(f.buf)+n]
		at += int64(n)
	}
	return nil
}

// copyRange lets the system copy as far as it likes to, and says how far it came.
func (f *Filler) copyRange(at, end int64) (int64, error) {
	if err := f.flush(); err != nil {
		return at, err
	}
	for at < end && !f.slow {
		n, err := f.sys.CopyRange(f.from, at, f.to, f.off, end-at)
		f.slow = n <= 0 || err != nil
		if Is(err, unix.ENOSPC, unix.EDQUOT, unix.EIO) {
			return at, err
		}
		at, f.off = at+max(n, 0), f.off+max(n, 0)
	}
	return at, nil
}

func (f *Filler) flush() error {
	p := f.buf
	f.buf = f.buf[:0]
	return f.write(p)
}

func (f *Filler) write(p []byte) error {
	if f.sum != nil {
		f.sum.Write(p)
	}
	if err := WriteAll(f.sys, f.to, p, f.off); err != nil {
		return err
	}
	f.off += int64(len(p))
	return nil
}
