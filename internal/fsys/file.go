package fsys

import "io"

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

// readTries is how often a file that changes under the reader is read again.
const readTries = 4

// ReadAll reads the whole content of a file of at most max bytes. The stamp is
// the one that held before and after the bytes were read; a file that does not
// hold still for that long is ErrUnstable, a longer one *TooLargeError. (A
// change inside the clock's grain can hide from stamps: see Stamp.Settled.)
func (f *File) ReadAll(max int64) ([]byte, Stamp, error) {
	before, lastLen := f.opened, int64(-1)
	for range readTries {
		if before.Size > max {
			return nil, before, &TooLargeError{Size: before.Size, Max: max}
		}
		content, err := f.readUpTo(before.Size, max)
		if err != nil {
			return nil, before, err
		}
		after, err := f.Stamp()
		if err != nil {
			return nil, before, err
		}
		if !after.SameFile(f.opened) {
			return nil, after, fault("read", f.name, ErrMoved)
		}
		if length := int64(len(content)); after.Same(before) {
			// Some file systems state sizes that they do not serve
			// (0 for what they make up on the fly). Believe the bytes
			// once they came out at one length twice.
			if length == after.Size || length == lastLen {
				if length > max {
					return nil, after, &TooLargeError{Size: length, Max: max}
				}
				return content, after, nil
			}
			lastLen = length
		}
		before = after
	}
	return nil, before, fault("read", f.name, ErrUnstable)
}

// readUpTo reads to the end of the file, but never past max+1 bytes. For the
// size that was announced this takes one system call: the spare byte of the
// buffer stays empty, which shows the end.
func (f *File) readUpTo(size, max int64) ([]byte, error) {
	buf := make([]byte, size+1)
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
