package span

import "bytes"

// Units is the form in which a file has characters below U+0080.
type Units uint8

const (
	Narrow     Units = iota // one byte, as in UTF-8
	WideLittle              // two bytes, the low one first
	WideBig                 // two bytes, the high one first
)

// Size is the number of bytes of each of these characters.
func (u Units) Size() int {
	if u == Narrow {
		return 1
	}
	return 2
}

// Has reports whether the character c stands at b[i], which may lie outside b.
func (u Units) Has(b []byte, i int, c byte) bool {
	if i < 0 || i+u.Size() > len(b) {
		return false
	}
	switch u {
	case WideLittle:
		return b[i] == c && b[i+1] == 0
	case WideBig:
		return b[i] == 0 && b[i+1] == c
	}
	return b[i] == c
}

// Index returns the place of the first character c in b[from:], or -1. b begins at a unit.
func (u Units) Index(b []byte, c byte, from int) int {
	low := 0 // where the low byte of a unit is
	if u == WideBig {
		low = 1
	}
	for at := from; ; {
		i := bytes.IndexByte(b[at:], c)
		if i < 0 {
			return -1
		}
		i += at
		if unit := i - low; unit >= from && unit%u.Size() == 0 && u.Has(b, unit, c) {
			return unit
		}
		at = i + 1
	}
}

// Count counts the character c in b, which begins at a unit.
func (u Units) Count(b []byte, c byte) int {
	if u == Narrow {
		return bytes.Count(b, []byte{c})
	}
	n := 0
	for i := u.Index(b, c, 0); i >= 0; i = u.Index(b, c, i+2) {
		n++
	}
	return n
}
