package span

import (
	"io"
	"unicode/utf8"
)

// ReadFull fills b from the offset at. A file that ends sooner is
// io.ErrUnexpectedEOF: it is not the one that was measured.
func ReadFull(r io.ReaderAt, b []byte, at int64) error {
	if len(b) == 0 {
		return nil
	}
	n, err := r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF || err == nil:
		return io.ErrUnexpectedEOF
	}
	return err
}

// IsStray reports whether s begins with a byte that is no part of a UTF-8 character.
func IsStray(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return r == utf8.RuneError && n == 1
}
