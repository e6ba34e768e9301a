package text

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// stringOf is b as a string of the same memory; b must not change any more.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Eight bytes are checked at once. No sum below carries into the next byte, because bit 7 is
// cleared first.
const (
	every = 0x0101010101010101
	high  = 0x80 * every
	low7  = 0x7F * every
)

// controls sets bit 7 of each byte of x that is 0x7F or below 0x20, except tab, line feed and
// carriage return. It does not mark bytes from 0x80 on.
func controls(x uint64) uint64 {
	y := x & low7
	printable := y + 0x60*every // bit 7: from 0x20 on
	del := y + 0x01*every
	tabOrLF := (y + 0x77*every) &^ (y + 0x75*every) // 9 <= y < 11
	cr := (y + 0x73*every) &^ (y + 0x72*every)      // 13 <= y < 14
	return (^(printable | tabOrLF | cr) | del) &^ x & high
}

// equals sets bit 7 of each byte of x that is b.
func equals(x uint64, b byte) uint64 {
	y := x ^ uint64(b)*every
	return ^(((y & low7) + low7) | y) & high
}

// plainASCII reports whether b is printable ASCII with tabs, line feeds and carriage returns. The
// caller has counted the latter two: if no more bytes are below 0x20 than these and the tabs,
// there are no other control characters.
func plainASCII(b []byte, returnsAndFeeds int) bool {
	n, ok := countBelow(b)
	return ok && n == returnsAndFeeds+bytes.Count(b, []byte{'\t'}) && bytes.IndexByte(b, 0x7F) < 0
}

// countBelow counts the bytes below 0x20; ok is false if b holds a byte from 0x80 on.
func countBelow(b []byte) (n int, ok bool) {
	size := len(b)
	printable := 0
	for len(b) >= 32 {
		// Four times 63 at most fit in the bytes of the sum.
		part := b[:min(len(b), 63*32)&^31]
		b = b[len(part):]
		var sum, any uint64
		for ; len(part) >= 32; part = part[32:] {
			x0 := binary.LittleEndian.Uint64(part)
			x1 := binary.LittleEndian.Uint64(part[8:])
			x2 := binary.LittleEndian.Uint64(part[16:])
			x3 := binary.LittleEndian.Uint64(part[24:])
			any |= x0 | x1 | x2 | x3
			const up = 0x60 * every // sets bit 7 from 0x20 on
			sum += (x0+up)>>7&every + (x1+up)>>7&every + (x2+up)>>7&every + (x3+up)>>7&every
		}
		if any&high != 0 {
			return 0, false
		}
		for ; sum != 0; sum >>= 8 {
			printable += int(sum & 0xFF)
		}
	}
	for _, c := range b {
		if c >= 0x80 {
			return 0, false
		}
		if c >= 0x20 {
			printable++
		}
	}
	return size - printable, true
}

// oddity is a kind of thing that the notice counts.
type oddity int

const (
	plain oddity = iota
	control
	bidi
	tag
	zeroWidth
	stray
	escaped // text that imitates fsmcp's own; nextOdd does not find it
)

// nextOdd finds the first oddity in s from i on: its place, kind and width; the kind is plain if
// there is none. Line feeds, tabs, and a carriage return before a line feed are no oddities.
// Other carriage returns are, unless they end lines (crLines).
func nextOdd(s []byte, i int, strays, crLines bool) (at int, kind oddity, width int) {
	for i < len(s) {
		if i+8 <= len(s) {
			x := binary.LittleEndian.Uint64(s[i:])
			marked := controls(x) | equals(x, '\r')
			if strays {
				marked |= x & high
			} else { // leads of C1 (C2), bidi and most of no width (E2), and tags (F3)
				marked |= equals(x&^(0x20*every), 0xC2) | equals(x, 0xF3)
				// U+FEFF is EF BB BF; much CJK punctuation begins with EF as well.
				if ef := equals(x, 0xEF); ef != 0 {
					marked |= ef & (equals(x, 0xBB)>>8 | 0x80<<56)
				}
			}
			if marked == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(marked) / 8
		}
		if !strays && s[i]&0xC0 == 0x80 { // eight bytes may end within a character
			i++
			continue
		}
		kind, width := oddAt(s[i:], crLines)
		if kind != plain {
			return i, kind, width
		}
		i += width
	}
	return len(s), plain, 0
}

// oddAt returns the kind and width of the character at the start of s.
func oddAt(s []byte, crLines bool) (oddity, int) {
	c := s[0]
	if c < 0x80 {
		switch {
		case c == '\r':
			if crLines || len(s) > 1 && s[1] == '\n' {
				return plain, 1
			}
			return control, 1
		case c == '\t' || c == '\n':
			return plain, 1
		case c < 0x20 || c == 0x7F:
			return control, 1
		}
		return plain, 1
	}
	r, n := utf8.DecodeRune(s)
	switch {
	case r == utf8.RuneError && n == 1:
		return stray, 1
	case r <= 0x9F:
		return control, n
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return bidi, n
	case r >= 0xE0000 && r <= 0xE007F:
		return tag, n
	case r == 0x200B, r == 0x2060, r == 0xFEFF: // joiners (U+200C and U+200D) belong to scripts and emoji
		return zeroWidth, n
	}
	return plain, n
}

// countStrays counts the bytes of b that are no part of a character, and the bytes of characters
// longer than one byte.
func countStrays(b []byte) (strays, multi int) {
	for i := 0; i < len(b); {
		if i+8 <= len(b) && binary.LittleEndian.Uint64(b[i:])&high == 0 {
			i += 8
			continue
		}
		if b[i] < 0x80 {
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			strays++
		} else {
			multi += n
		}
		i += n
	}
	return strays, multi
}
