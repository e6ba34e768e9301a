package text

import (
	"context"
	"io"
	"slices"
	"sort"

	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text/charset"
)

// Bounds of the marks within long lines.
const (
	markedLines    = 4    // lines that keep marks, the last used ones
	marksPerColumn = 4096 // marks per line; beyond it every second is dropped
)

// columnMark says that passed code points of a line are before the offset off.
type columnMark struct {
	off    int64
	passed int
}

// markedLine are the marks of one line, ascending.
type markedLine struct {
	start int64
	step  int64
	marks []columnMark
	last  columnMark // where the last page ended
}

// columnMarks are the marks of a few lines, the last used at the end.
type columnMarks struct {
	step  int64
	lines []*markedLine
}

// of returns the marks of the line that begins at start.
func (c *columnMarks) of(start int64) *markedLine {
	i := slices.IndexFunc(c.lines, func(l *markedLine) bool { return l.start == start })
	if i >= 0 {
		l := c.lines[i]
		c.lines = append(slices.Delete(c.lines, i, i+1), l)
		return l
	}
	if len(c.lines) == markedLines {
		c.lines = slices.Delete(c.lines, 0, 1)
	}
	l := &markedLine{start: start, step: c.step, last: columnMark{off: start}}
	c.lines = append(c.lines, l)
	return l
}

// nearest is the last known place with at most n code points before it.
func (l *markedLine) nearest(n int) columnMark {
	best := columnMark{off: l.start}
	if i := sort.Search(len(l.marks), func(i int) bool { return l.marks[i].passed > n }); i > 0 {
		best = l.marks[i-1]
	}
	if l.last.passed <= n && l.last.passed > best.passed {
		best = l.last
	}
	return best
}

// note adds a mark behind the others, if one is due.
func (l *markedLine) note(m columnMark) {
	from := l.start
	if len(l.marks) > 0 {
		from = l.marks[len(l.marks)-1].off
	}
	if m.off < from+l.step {
		return
	}
	if len(l.marks) == marksPerColumn {
		for i := 1; i < len(l.marks); i += 2 {
			l.marks[i/2] = l.marks[i]
		}
		l.marks = l.marks[:marksPerColumn/2]
		l.step *= 2
	}
	l.marks = append(l.marks, m)
}

// noteColumn remembers the end of a page: the next page begins there.
func (s *Scan) noteColumn(start int64, m columnMark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cols.of(start).last = m
}

// columnStart is the offset of a code point of the line that begins at start;
// false if the line is shorter.
func (s *Scan) columnStart(ctx context.Context, r io.ReaderAt, start int64, column int) (int64, bool, error) {
	want := column - 1
	if want == 0 {
		return start, true, nil
	}
	s.mu.Lock()
	at := s.cols.of(start).nearest(want)
	s.mu.Unlock()
	buf := make([]byte, min(int64(s.chunk), s.cols.step, s.size-at.off))
	for at.passed < want {
		if err := ctx.Err(); err != nil {
			return 0, false, err
		}
		b := buf[:min(int64(len(buf)), s.size-at.off)]
		if err := span.ReadFull(r, b, at.off); err != nil {
			return 0, false, err
		}
		eol, err := s.eolIn(ctx, r, b)
		if err != nil {
			return 0, false, err
		}
		ends := at.off+int64(len(b)) == s.size
		if i := s.enc.Units().Index(b, eol, 0); i >= 0 {
			b, ends = b[:i], true
		}
		n, passed := skipRaw(s.enc.Set, b, want-at.passed, ends)
		at.off += int64(n)
		at.passed += passed
		if at.passed < want && (ends || n == 0) {
			return 0, false, nil
		}
		s.mu.Lock()
		s.cols.of(start).note(at)
		s.mu.Unlock()
	}
	return at.off, true, nil
}

// skipRaw goes n code points forward in raw bytes that begin at a character
// and, unless whole, may end within one: that one is left.
func skipRaw(c charset.Charset, raw []byte, n int, whole bool) (at, count int) {
	switch {
	case c == charset.UTF8:
		if !whole {
			raw = raw[:len(raw)-OpenTail(raw)]
		}
		return skipColumns(stringOf(raw), n)
	case c.Table() != nil:
		n = min(n, len(raw))
		return n, n
	}
	for count < n && at < len(raw) {
		width := c.CharLen(raw[at:])
		if at+width > len(raw) {
			break
		}
		at += width
		count++
	}
	return at, count
}
