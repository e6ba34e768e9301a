package span

import (
	"io"
	"unicode/utf8"
	"unsafe"
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

// FirstStray returns the place of the first byte of s that is no part of a UTF-8
// character, and the length of s if there is none.
func FirstStray(s string) int {
	if utf8.ValidString(s) {
		return len(s)
	}
	for i, r := range s {
		if r == utf8.RuneError && IsStray(s[i:]) {
			return i
		}
	}
	return len(s)
}

// BytesOf returns the memory of s, which must only be read: it spares a copy where a
// function takes bytes.
func BytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// IsASCII reports whether a text is ASCII alone.
func IsASCII[T string | []byte](s T) bool {
	all := byte(0)
	for ; len(s) >= 8; s = s[8:] {
		if all |= s[0] | s[1] | s[2] | s[3] | s[4] | s[5] | s[6] | s[7]; all >= utf8.RuneSelf {
			return false
		}
	}
	for i := range len(s) {
		all |= s[i]
	}
	return all < utf8.RuneSelf
}

// IsStray reports whether s begins with a byte that is no part of a UTF-8 character.
func IsStray(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return r == utf8.RuneError && n == 1
}
