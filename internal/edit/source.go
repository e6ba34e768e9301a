package edit

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/fsmcp/fsmcp/internal/span"
)

// A File is a file that ApplyFile searches in pieces, and how it spells text.
type File struct {
	R     io.ReaderAt
	Size  int64
	Units span.Units
	// Encode turns text into bytes of the file, without a byte order mark.
	Encode func(string) ([]byte, error)
	// Begins tells whether a character begins at an offset, for encodings in which a
	// character may contain the bytes of another (Shift-JIS). It is asked for places that
	// ascend. Nil stands for the others.
	Begins func(at int64) (bool, error)
}

// source is the file as one to search for old.
func (f File) source(old string) (source, error) {
	s := source{r: f.R, u: f.Units, end: f.Size, chunk: chunkLen, encode: f.Encode, begins: f.Begins}
	if _, err := f.Encode(old); err != nil {
		return s, err
	}
	lineFeed, err := f.Encode(lf)
	if err != nil {
		return s, err
	}
	if !bytes.Equal(lineFeed, s.u.Spell('\n')) {
		return s, fmt.Errorf("a line feed is encoded as % x", lineFeed)
	}
	s.start, err = s.afterMark()
	return s, err
}

// A source holds the bytes that an edit searches: a text in memory, or a file that is
// read in pieces.
type source struct {
	r          io.ReaderAt
	u          span.Units
	start, end int64
	chunk      int // how much is looked at in one go, unless matches are longer
	encode     func(string) ([]byte, error)
	begins     func(at int64) (bool, error) // nil: wherever the bytes are

	inMemory bool
	text     string // where it is in memory
}

const chunkLen = 256 << 10

func inMemory(text string) source {
	return source{
		r: bytes.NewReader(span.BytesOf(text)), u: span.Narrow, end: int64(len(text)), chunk: chunkLen,
		encode:   func(s string) ([]byte, error) { return []byte(s), nil },
		inMemory: true, text: text,
	}
}

// searchExact adds the places of old under the exact rule to t.
func (s source) searchExact(ctx context.Context, old string, br breaks, t *tally) error {
	lines, _ := splitLines(old, br.inCall)
	encoded := make([][]byte, len(lines))
	for i, line := range lines {
		var err error
		if encoded[i], err = s.encode(line); err != nil {
			return err
		}
	}
	m := &matcher{u: s.u, breaks: br, lines: encoded}
	// A match may have that many bytes, and the unit after it has a say.
	reach := m.longest() + s.u.Size()
	next := s.start // where the matches of a window may begin
	return s.windows(ctx, reach+s.u.Size(), func(b []byte, at int64) (bool, error) {
		limit := at + int64(len(b))
		if limit < s.end {
			limit -= int64(reach)
		}
		var failed error
		m.each(b, func(start, end int) bool {
			from, to := at+int64(start), at+int64(end)
			if from >= limit {
				return false
			}
			whole := from >= next
			if whole && s.begins != nil {
				whole, failed = s.begins(from)
			}
			if whole && failed == nil {
				t.add(from, to)
			}
			return failed == nil
		})
		next = max(next, limit)
		return failed == nil, failed
	})
}

// windows hands the source to look piece by piece, each beginning overlap
// bytes before the end of the one before, until look returns false. The bytes
// are valid only during the call.
func (s source) windows(ctx context.Context, overlap int, look func(b []byte, at int64) (bool, error)) error {
	if s.inMemory {
		_, err := look(span.BytesOf(s.text), 0)
		return err
	}
	size := max(s.chunk, 4*overlap)
	size += size % s.u.Size() // whole units
	buf := make([]byte, min(int64(size), s.end-s.start))
	kept := 0
	for at := s.start; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := buf[:min(int64(len(buf)), s.end-at)]
		if err := span.ReadFull(s.r, b[kept:], at+int64(kept)); err != nil {
			return err
		}
		more, err := look(b, at)
		if err != nil || !more || at+int64(len(b)) == s.end {
			return err
		}
		kept = copy(buf, b[len(b)-overlap:])
		at += int64(len(b) - overlap)
	}
}

// afterMark is the place after the file's byte order mark.
func (s source) afterMark() (int64, error) {
	mark := []byte("\xef\xbb\xbf")
	switch s.u {
	case span.WideBig:
		mark = []byte("\xfe\xff")
	case span.WideLittle:
		mark = []byte("\xff\xfe")
	}
	if s.end < int64(len(mark)) {
		return 0, nil
	}
	b := make([]byte, len(mark))
	if err := span.ReadFull(s.r, b, 0); err != nil || !bytes.Equal(b, mark) {
		return 0, err
	}
	return int64(len(mark)), nil
}

// find looks for the first of a character below U+0080 at or after a place. It looks at
// little first, for most lines are short.
func (s source) find(ctx context.Context, c byte, from int64) (at int64, found bool, err error) {
	var buf []byte
	for size := 256; from < s.end; size = min(2*size, chunkLen) {
		if err := ctx.Err(); err != nil {
			return 0, false, err
		}
		if len(buf) < size {
			buf = make([]byte, size)
		}
		b := buf[:min(int64(size), s.end-from)]
		if err := span.ReadFull(s.r, b, from); err != nil {
			return 0, false, err
		}
		if i := s.u.Index(b, c, 0); i >= 0 {
			return from + int64(i), true, nil
		}
		from += int64(len(b))
	}
	return 0, false, nil
}

// count counts a character below U+0080 between two places.
func (s source) count(ctx context.Context, c byte, from, to int64) (n int, err error) {
	for buf := make([]byte, min(chunkLen, to-from)); from < to; from += int64(len(buf)) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		buf = buf[:min(int64(len(buf)), to-from)]
		if err := span.ReadFull(s.r, buf, from); err != nil {
			return 0, err
		}
		n += s.u.Count(buf, c)
	}
	return n, nil
}

// around is a match with four units on either side, where the source has them. The view
// may lie in buf.
func (s source) around(m span.Span, loneCR bool, buf []byte) (view, Match, error) {
	v := view{u: s.u, loneCR: loneCR}
	if s.inMemory {
		v.s = span.BytesOf(s.text)
		return v, Match{int(m.Start), int(m.End)}, nil
	}
	from := max(s.start, m.Start-int64(4*s.u.Size()))
	to := min(s.end, m.End+int64(4*s.u.Size()))
	v.s = append(buf[:0], make([]byte, to-from)...)
	return v, Match{int(m.Start - from), int(m.End - from)}, span.ReadFull(s.r, v.s, from)
}

// frequent is the most frequent line ending, LF before CRLF where they are even, or empty
// for a text of one line.
func (s source) frequent(ctx context.Context, loneCR bool) (string, error) {
	if loneCR {
		_, found, err := s.find(ctx, '\r', s.start)
		if !found {
			return "", err
		}
		return cr, nil
	}
	lfs, crlfs := 0, 0
	err := s.windows(ctx, s.u.Size(), func(b []byte, at int64) (bool, error) {
		from := 0
		if at > s.start {
			from = s.u.Size() // the unit before belongs to the last piece
		}
		for i := s.u.Index(b, '\n', from); i >= 0; i = s.u.Index(b, '\n', i+s.u.Size()) {
			if s.u.Has(b, i-s.u.Size(), '\r') {
				crlfs++
			} else {
				lfs++
			}
		}
		return true, nil
	})
	switch {
	case crlfs > lfs:
		return crlf, err
	case lfs > 0:
		return lf, err
	}
	return "", err
}

// lineEnds tells the ending of the line that a place is on, for places that
// ascend; it looks at no stretch of the source twice.
type lineEnds struct {
	source source
	loneCR bool
	known  int64 // no line ends before known but at its break
	form   string
	looked bool
	usual  *string // the most frequent ending, once it was needed
}

// after is the ending of the line at a place, or the most frequent where it has none.
func (l *lineEnds) after(ctx context.Context, at int64) (string, error) {
	if !l.looked || at > l.known {
		if err := l.look(ctx, at); err != nil {
			return "", err
		}
	}
	if l.form != "" {
		return l.form, nil
	}
	if l.usual == nil {
		usual, err := l.source.frequent(ctx, l.loneCR)
		if err != nil {
			return "", err
		}
		l.usual = &usual
	}
	return *l.usual, nil
}

func (l *lineEnds) look(ctx context.Context, at int64) error {
	s := l.source
	i, found, err := s.find(ctx, breaks{inText: l.loneCR}.lineEnd(), at)
	if err != nil {
		return err
	}
	l.looked, l.known, l.form = true, s.end, ""
	if !found {
		return nil
	}
	l.known, l.form = i, lf
	if l.loneCR {
		l.form = cr
		return nil
	}
	v, local, err := s.around(span.Span{Start: i, End: i}, false, nil)
	if err == nil && i > at && s.u.Has(v.s, local.Start-s.u.Size(), '\r') {
		l.known, l.form = i-int64(s.u.Size()), crlf // a match may begin with the break, but not inside it
	}
	return err
}
