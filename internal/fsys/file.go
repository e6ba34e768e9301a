package fsys

import (
	"bytes"
	"cmp"
	"io"
)

// ReadAt reads as io.ReaderAt says; it does not move anything, so several
// goroutines may read at once.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		m, err := f.pread(p[n:], off+int64(n))
		if err != nil {
			return n, fault("read", f.name, err)
		}
		if m == 0 {
			return n, io.EOF
		}
		n += m
	}
	return n, nil
}

// Stamp is the file's stamp now.
func (f *File) Stamp() (Stamp, error) {
	s, err := f.stamp()
	return s, fault("stat", f.name, err)
}

// readTries bounds the number of reads of a file that changes meanwhile.
const readTries = 4

// ReadAll reads the whole content of a file of at most max bytes. The stamp is one that
// held while the bytes were read; a file that does not hold still for that long is
// ErrUnstable, a longer one *TooLargeError. Of a file that only grows, such as a log, it
// returns a recent state. (A change inside the clock's grain can hide from stamps: see
// Stamp.Settled.)
func (f *File) ReadAll(max int64) ([]byte, Stamp, error) {
	before := f.opened
	var last []byte // of the try before
	var then Stamp
	for try := range readTries {
		if before.Size > max {
			return nil, before, &TooLargeError{Size: before.Size, Max: max}
		}
		content, err := f.readUpTo(before.Size, max)
		if err != nil {
			return nil, before, err
		}
		if length := int64(len(content)); length > max {
			return nil, before, &TooLargeError{Size: length, Max: max}
		}
		after, err := f.Stamp()
		if err != nil {
			return nil, before, err
		}
		if !after.SameFile(f.opened) {
			return nil, after, fault("read", f.name, ErrMoved)
		}
		if after.Same(before) && after.Size == int64(len(content)) {
			return content, after, nil
		}
		// The same bytes twice are the content too: of a file that is only
		// renamed or linked all the time, which moves its change time, or on a
		// file system that states sizes it does not serve. The earlier stamp
		// is the one to keep: a later change cannot hide behind it.
		if try > 0 && after.Size == before.Size && after.Mtime == before.Mtime && bytes.Equal(content, last) {
			return content, before, nil
		}
		// So are those that have stayed while more came behind them. Asked only
		// in the end: a program that writes the file anew may be done by then.
		if size := then.Size; try == readTries-1 && size > 0 && size <= int64(len(last)) && bytes.HasPrefix(content, last[:size]) {
			return last[:size:size], then, nil
		}
		before, last, then = after, content, before
	}
	return nil, before, fault("read", f.name, ErrUnstable)
}

// ReadLarge is ReadAll for a file that must not be in memory twice. It compares the bytes of
// a file that changes meanwhile with those of another read, a piece at a time.
func (f *File) ReadLarge(max int64) ([]byte, Stamp, error) {
	before, err := f.Stamp()
	if err != nil {
		return nil, before, err
	}
	if before.Size > max {
		return nil, before, &TooLargeError{Size: before.Size, Max: max}
	}
	content := make([]byte, before.Size)
	largePages(content)
	if err := f.readHalves(content); err != nil {
		return nil, before, f.unstable(err)
	}
	for range readTries {
		after, err := f.Stamp()
		switch {
		case err != nil:
			return nil, before, err
		case !after.SameFile(f.opened):
			return nil, after, fault("read", f.name, ErrMoved)
		case after.Same(before):
			return content, before, nil
		}
		same, err := f.readAgain(content)
		switch {
		case err != nil:
			return nil, before, f.unstable(err)
		case same: // they have stayed, while more may have come behind them
			return content, before, nil
		case after.Size != before.Size:
			return nil, after, fault("read", f.name, ErrUnstable)
		}
		before = after
	}
	return nil, before, fault("read", f.name, ErrUnstable)
}

// unstable returns an error for a file that ended sooner than it was long; other errors stay
// as they are.
func (f *File) unstable(err error) error {
	if err == io.EOF {
		return fault("read", f.name, ErrUnstable)
	}
	return err
}

// readHalves fills b from the beginning of the file. Two halves at once take half the time:
// most of it goes into new pages of memory.
func (f *File) readHalves(b []byte) error {
	half := len(b) / 2
	second := make(chan error, 1)
	read := func(b []byte, at int) error { _, err := f.ReadAt(b, int64(at)); return err }
	go func() { second <- read(b[half:], half) }()
	return cmp.Or(read(b[:half], 0), <-second)
}

// readAgain reads the beginning of the file into b, and reports whether b had just these
// bytes.
func (f *File) readAgain(b []byte) (same bool, err error) {
	buf := make([]byte, min(len(b), 256<<10))
	same = true
	for at := 0; at < len(b); at += len(buf) {
		buf = buf[:min(len(buf), len(b)-at)]
		if _, err := f.ReadAt(buf, int64(at)); err != nil {
			return false, err
		}
		if !bytes.Equal(buf, b[at:at+len(buf)]) {
			same = false
			copy(b[at:], buf)
		}
	}
	return same, nil
}

// readUpTo reads to the end of the file, but never past max+1 bytes. For the
// size that was announced this takes one system call: the spare byte of the
// buffer stays empty, which shows the end.
func (f *File) readUpTo(size, max int64) ([]byte, error) {
	buf := make([]byte, size+1)
	largePages(buf)
	n := 0
	for {
		m, err := f.pread(buf[n:], int64(n))
		if err != nil {
			return nil, fault("read", f.name, err)
		}
		n += m
		switch {
		case m == 0 || int64(n) == size:
			return buf[:n], nil
		case int64(n) > max:
			return buf[:n], nil
		case n == len(buf):
			buf = append(buf, make([]byte, min(int64(n), max+1-int64(n)))...)
		}
	}
}
