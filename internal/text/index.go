package text

import (
	"sort"

	"github.com/fsmcp/fsmcp/internal/span"
)

// Sizes of a Scan; tests make them small.
const (
	scanChunk = 512 << 10 // bytes per read of a pass
	markStep  = 64 << 10  // distance of two marks of the line index
	maxMarks  = 1 << 16   // beyond it every second mark is dropped
)

// lineIndex is a sparse index of the line endings of a file's first bytes. As
// long as no line feed was met, carriage returns are counted: they end the
// lines if none comes.
type lineIndex struct {
	units span.Units
	step  int64   // bytes of the file between two marks
	limit int     // of marks
	marks []int64 // line endings before offset i*step
	done  int64   // bytes indexed
	feeds int64
	cr    int64 // counted only while there is no line feed
	last  byte  // the last indexed unit if it is CR or LF, else 0
}

// feed indexes the bytes that begin at done. In charsets of wider units they
// are whole units, but at the file's end.
func (x *lineIndex) feed(b []byte) {
	if len(b) == 0 {
		return
	}
	x.last = 0
	if end := len(b) - x.units.Size(); end%x.units.Size() == 0 && x.units.Has(b, end, '\n') {
		x.last = '\n'
	} else if end%x.units.Size() == 0 && x.units.Has(b, end, '\r') {
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

// mark notes the count at done if a mark is due, after making room.
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
	n := int64(x.units.Count(b, '\n'))
	if n == 0 && x.feeds == 0 {
		x.cr += int64(x.units.Count(b, '\r'))
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
