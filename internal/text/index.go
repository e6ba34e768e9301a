package text

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"sort"

	"github.com/fsmcp/fsmcp/internal/text/charset"
)

// Sizes of a Scan; tests make them small.
const (
	scanChunk = 512 << 10 // bytes per read of a pass
	markStep  = 64 << 10  // distance of two marks of the line index
	maxMarks  = 1 << 16   // beyond it every second mark is dropped
)

// units tells how line endings look in the bytes of a file.
type units struct{ set charset.Set }

// width is the number of bytes of a unit.
func (u units) width() int {
	if u.set.Wide() {
		return 2
	}
	return 1
}

// swar is the unit of the line ending as it stands in a little-endian word.
func (u units) swar(eol byte) uint64 {
	if u.set == charset.UTF16LE {
		return uint64(eol) * 0x0001000100010001
	}
	return uint64(eol) * 0x0100010001000100
}

// matches16 marks (bit 15) the 16-bit units of x that equal the pattern's.
func matches16(x, pattern uint64) uint64 {
	const low15 = 0x7FFF7FFF7FFF7FFF
	y := x ^ pattern
	return ^(((y & low15) + low15) | y) &^ low15
}

// count counts the units of b that are eol; b begins at a unit.
func (u units) count(b []byte, eol byte) int {
	if !u.set.Wide() {
		return bytes.Count(b, []byte{eol})
	}
	pattern, n := u.swar(eol), 0
	for ; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(matches16(binary.LittleEndian.Uint64(b), pattern))
	}
	for ; len(b) >= 2; b = b[2:] {
		if u.set.UnitAt(b, 0) == uint16(eol) {
			n++
		}
	}
	return n
}

// index is the offset of the first unit of b that is eol, or -1.
func (u units) index(b []byte, eol byte) int {
	if !u.set.Wide() {
		return bytes.IndexByte(b, eol)
	}
	pattern, i := u.swar(eol), 0
	for ; i+8 <= len(b); i += 8 {
		if m := matches16(binary.LittleEndian.Uint64(b[i:]), pattern); m != 0 {
			return i + bits.TrailingZeros64(m)/16*2
		}
	}
	for ; i+2 <= len(b); i += 2 {
		if u.set.UnitAt(b, i) == uint16(eol) {
			return i
		}
	}
	return -1
}

// skip returns the offset after the n-th line ending of b. If b has fewer, ok is false and
// left is the number of missing ones.
func (u units) skip(b []byte, eol byte, n int64) (at int, left int64, ok bool) {
	const block = 4096 // counting is much faster than finding one by one
	for n > 0 {
		piece := b[at:min(at+block, len(b))]
		if len(piece) < u.width() {
			return len(b), n, false
		}
		if c := int64(u.count(piece, eol)); c < n {
			n -= c
			at += len(piece)
			continue
		}
		for ; n > 0; n-- {
			i := u.index(piece, eol) + u.width()
			at += i
			piece = piece[i:]
		}
	}
	return at, 0, true
}

// endsWith reports that the last unit of b is eol.
func (u units) endsWith(b []byte, eol byte) bool {
	n := len(b)
	if n < u.width() || n%u.width() != 0 {
		return false
	}
	if u.set.Wide() {
		return u.set.UnitAt(b, n-2) == uint16(eol)
	}
	return b[n-1] == eol
}

// lineIndex is a sparse index of the line endings of a file's first bytes. As
// long as no line feed was met, carriage returns are counted: they end the
// lines if none comes.
type lineIndex struct {
	units
	step  int64   // bytes of the file between two marks
	limit int     // of marks
	marks []int64 // line endings before offset i*step
	done  int64   // bytes indexed
	feeds int64
	cr    int64 // counted only while there is no line feed
	last  byte  // the last indexed unit where it is CR or LF, else 0
}

// feed indexes the bytes that begin at done. In charsets of wider units they
// are whole units, but at the file's end.
func (x *lineIndex) feed(b []byte) {
	if len(b) == 0 {
		return
	}
	x.last = 0
	if x.endsWith(b, '\n') {
		x.last = '\n'
	} else if x.endsWith(b, '\r') {
		x.last = '\r'
	}
	for len(b) > 0 {
		x.mark()
		n := int(min(x.step-x.done%x.step, int64(len(b))))
		x.tally(b[:n])
		x.done += int64(n)
		b = b[n:]
	}
}

// mark notes the count at done where a mark is due, after making room.
func (x *lineIndex) mark() {
	if x.done%x.step != 0 || int64(len(x.marks)) != x.done/x.step {
		return
	}
	if len(x.marks) >= x.limit {
		for i := 0; 2*i < len(x.marks); i++ {
			x.marks[i] = x.marks[2*i]
		}
		x.marks = x.marks[:(len(x.marks)+1)/2]
		x.step *= 2
		if x.done%x.step != 0 {
			return
		}
	}
	x.marks = append(x.marks, x.breaks())
}

func (x *lineIndex) tally(b []byte) {
	n := int64(x.count(b, '\n'))
	if n == 0 && x.feeds == 0 {
		x.cr += int64(x.count(b, '\r'))
		return
	}
	if x.feeds == 0 { // the first line feed: carriage returns never ended lines
		x.cr = 0
		clear(x.marks)
	}
	x.feeds += n
}

// breaks is the number of line endings so far, if the carriage returns counted
// are any.
func (x *lineIndex) breaks() int64 {
	if x.feeds > 0 {
		return x.feeds
	}
	return x.cr
}

// eol is the unit that ends lines. It is decided by the first line feed, by the
// whole file, or for as long as no carriage return came either.
func (x *lineIndex) eol(size int64) (eol byte, decided bool) {
	switch {
	case x.feeds > 0:
		return '\n', true
	case x.done < size:
		return '\n', false
	case x.cr > 0:
		return '\r', true
	}
	return '\n', true
}

// before is the last mark with fewer than n line endings before it.
func (x *lineIndex) before(n int64) (off, breaks int64) {
	i := sort.Search(len(x.marks), func(i int) bool { return x.marks[i] >= n })
	if i == 0 {
		return 0, 0
	}
	return int64(i-1) * x.step, x.marks[i-1]
}

// at is the last mark at or before the offset off.
func (x *lineIndex) at(off int64) (mark, breaks int64) {
	i := min(off/x.step, int64(len(x.marks))-1)
	if i < 0 {
		return 0, 0
	}
	return i * x.step, x.marks[i]
}

// total returns the number of lines of an indexed file of size bytes; its first head bytes
// are the byte order mark.
func (x *lineIndex) total(size, head int64) int64 {
	n := x.breaks()
	eol, _ := x.eol(size)
	if size > head && x.last != eol {
		n++
	}
	return n
}
