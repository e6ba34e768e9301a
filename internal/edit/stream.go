package edit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
)

// A Needle is old text as SearchStream looks for it in the bytes of a file.
type Needle struct {
	old    string
	encode func(string) ([]byte, error)
	u      units
	begins func(at int64) (bool, error) // nil: wherever the bytes are
}

// Where returns the needle for files in which its bytes may lie within a
// character: begins tells whether one begins at an offset. It is asked for
// places that ascend.
func (n Needle) Where(begins func(at int64) (bool, error)) Needle {
	n.begins = begins
	return n
}

// NewNeedle makes a needle of old text. encode turns text into bytes of the
// file without a byte order mark; align is 2 for UTF-16 and 1 for encodings
// that have ASCII as it is; where a character may contain the bytes of another
// (Shift-JIS), Where must tell them apart.
func NewNeedle(old string, align int, encode func(string) ([]byte, error)) (Needle, error) {
	n := Needle{old: old, encode: encode, u: units{size: align}}
	if _, err := encode(old); err != nil {
		return Needle{}, err
	}
	lineFeed, err := encode(lf)
	if err != nil {
		return Needle{}, err
	}
	n.u.big = align == 2 && len(lineFeed) == 2 && lineFeed[0] == 0
	if align != 1 && align != 2 || !bytes.Equal(lineFeed, n.u.spell('\n')) {
		return Needle{}, fmt.Errorf("alignment %d does not fit the encoding", align)
	}
	return n, nil
}

// matcher searches for the needle; its parts have been encoded before.
func (n Needle) matcher(br breaks) (*matcher[[]byte], error) {
	lines, _ := splitLines(n.old, br.inCall)
	encoded := make([][]byte, len(lines))
	for i, line := range lines {
		var err error
		if encoded[i], err = n.encode(line); err != nil {
			return nil, err
		}
	}
	return bytesMatcher(encoded, n.u, br), nil
}

// StreamFound is where a needle is in a file.
type StreamFound struct {
	// Matches are the first places, as many as were asked for.
	Matches []span.Span
	// Count is the number of all places, which may be more than Matches has;
	// without all there is exactly one.
	Count int

	needle Needle
	breaks breaks
	file   stretch
}

// SearchStream finds a needle in a file under the exact rule, in memory that
// depends on the needle alone. With all it counts the places that do not
// overlap, from the left, and keeps the first max of them; without it more than
// one place, overlapping ones included, is an *AmbiguousError whose offsets are
// raw. It fails with *NoMatchError, with the context's error, or with the
// reader's.
func SearchStream(ctx context.Context, r io.ReaderAt, size int64, n Needle, all bool, max int) (StreamFound, error) {
	return searchStream(ctx, stretch{r: r, u: n.u, end: size, chunk: chunkLen}, n, all, max)
}

func searchStream(ctx context.Context, file stretch, n Needle, all bool, max int) (StreamFound, error) {
	f := StreamFound{needle: n, file: file}
	if n.old == "" || !utf8.ValidString(n.old) {
		return f, &NoMatchError{}
	}
	var err error
	if f.file.start, err = f.file.afterMark(); err != nil {
		return f, err
	}
	noLF, err := f.file.noLF(ctx)
	if err != nil {
		return f, err
	}
	for _, f.breaks = range readings(n.old, noLF) {
		m, err := n.matcher(f.breaks)
		if err != nil {
			return f, err
		}
		t := tally{all: all, keep: max}
		if !all {
			t.keep = shown
		}
		f.Matches = nil
		if err := f.search(ctx, m, &t); err != nil {
			return f, err
		}
		if f.Count = t.count; f.Count == 0 {
			continue
		}
		if f.Count > 1 && !all {
			return f, f.ambiguous(ctx)
		}
		return f, nil
	}
	return f, &NoMatchError{}
}

func (f *StreamFound) search(ctx context.Context, m *matcher[[]byte], t *tally) error {
	// A match may have that many bytes, and the unit after it has a say.
	reach := m.longest() + f.file.u.size
	next := f.file.start // where the matches of a window may begin
	return f.file.windows(ctx, reach+f.file.u.size, func(b []byte, at int64) (bool, error) {
		limit := at + int64(len(b))
		if limit < f.file.end {
			limit -= int64(reach)
		}
		var failed error
		m.each(b, func(start, end int) bool {
			s, e := at+int64(start), at+int64(end)
			if s >= limit {
				return false
			}
			whole := s >= next
			if whole && f.needle.begins != nil {
				whole, failed = f.needle.begins(s)
			}
			if whole && t.wants(s, e) {
				f.Matches = append(f.Matches, span.Span{Start: s, End: e})
			}
			return failed == nil
		})
		next = max(next, limit)
		return failed == nil, failed
	})
}

func (f *StreamFound) ambiguous(ctx context.Context) error {
	e := &AmbiguousError{Count: f.Count}
	for _, m := range f.Matches {
		e.At = append(e.At, int(m.Start))
		e.Spans = append(e.Spans, [2]int{int(m.Start), int(m.End)})
	}
	var err error
	if e.Lines, err = f.file.lineNumbers(ctx, f.Matches, f.breaks.inText); err != nil {
		return err
	}
	return e
}

// Replace decides what stands in the place of each match, by the same rules as
// Apply, and returns splices of the file's bytes; r reads the same bytes as before, and req.Old is the needle's text.
// Where the line of a match has no ending and req.EOL is empty, the breaks of
// New stay as they are. It fails with ErrSame, *StrippedToSameError, ErrTooMany,
// the needle's encoding error, the context's error or the reader's.
func (f StreamFound) Replace(ctx context.Context, r io.ReaderAt, req Request) ([]span.Splice, error) {
	if req.Old == req.New {
		return nil, ErrSame
	}
	if f.Count > len(f.Matches) {
		return nil, ErrTooMany
	}
	f.file.r = r
	c := call{req.Old, req.New, f.breaks}
	w := newComposer(c, req.KeepTrailing, f.needle.encode)
	splices := make([]span.Splice, 0, len(f.Matches))
	ends := streamEnds{file: f.file, loneCR: f.breaks.inText}
	changed := false
	for i, m := range f.Matches {
		v, local, err := f.file.around(m, f.breaks.inText)
		if err != nil {
			return nil, err
		}
		p := surroundings(w, v, local)
		if w.breaksLines() {
			if p.eol, err = ends.after(ctx, v, local, m, req.EOL); err != nil {
				return nil, err
			}
		}
		b, err := w.text(p)
		if err != nil {
			return nil, err
		}
		changed = changed || !bytes.Equal(b, v.s[local.Start:local.End])
		next := -1
		if i+1 < len(f.Matches) {
			next = local.End + int(min(f.Matches[i+1].Start-m.End, 1<<20))
		}
		end := m.End + int64(deletedBreak(c, v, local, next))
		splices = append(splices, span.Splice{Start: m.Start, End: end, New: b})
	}
	if !changed {
		return nil, w.unchanged()
	}
	return splices, nil
}

// A stretch is a part of a file.
type stretch struct {
	r          io.ReaderAt
	u          units
	start, end int64
	chunk      int // how much is looked at in one go, unless matches are longer
}

const chunkLen = 256 << 10

// windows hands the stretch to look piece by piece, each beginning overlap
// bytes before the end of the one before, until look returns false. The bytes
// are valid only during the call.
func (s stretch) windows(ctx context.Context, overlap int, look func(b []byte, at int64) (bool, error)) error {
	size := max(s.chunk, 4*overlap)
	size += size % s.u.size // whole units
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
func (s stretch) afterMark() (int64, error) {
	mark := []byte("\xef\xbb\xbf")
	switch {
	case s.u.big:
		mark = []byte("\xfe\xff")
	case s.u.size == 2:
		mark = []byte("\xff\xfe")
	}
	if s.end < int64(len(mark)) {
		return 0, nil
	}
	b := make([]byte, len(mark))
	if err := span.ReadFull(s.r, b, 0); err != nil {
		return 0, err
	}
	if bytes.Equal(b, mark) {
		return int64(len(mark)), nil
	}
	return 0, nil
}

// noLF tells whether the stretch has no LF at all.
func (s stretch) noLF(ctx context.Context) (bool, error) {
	_, found, err := s.find(ctx, '\n')
	return !found, err
}

// find looks for the first of a character below U+0080 and hands over the
// place of it and whether there is one.
func (s stretch) find(ctx context.Context, c byte) (at int64, found bool, err error) {
	if s.end <= s.start {
		return 0, false, nil
	}
	err = s.windows(ctx, 0, func(b []byte, from int64) (bool, error) {
		if i := nextUnit(s.u, b, c, 0, bytes.IndexByte); i >= 0 {
			at, found = from+int64(i), true
		}
		return !found, nil
	})
	return at, found, err
}

// lineNumbers are the 1-based numbers of the lines that ascending matches
// start on.
func (s stretch) lineNumbers(ctx context.Context, matches []span.Span, loneCR bool) ([]int, error) {
	c := byte('\n')
	if loneCR {
		c = '\r'
	}
	lines, line := make([]int, 0, len(matches)), 1
	for _, m := range matches {
		upTo := s
		upTo.end = m.Start
		n, err := upTo.countUnits(ctx, c)
		if err != nil {
			return nil, err
		}
		line += n
		lines = append(lines, line)
		s.start = m.Start
	}
	return lines, nil
}

func (s stretch) countUnits(ctx context.Context, c byte) (int, error) {
	n := 0
	if s.end <= s.start {
		return 0, nil
	}
	err := s.windows(ctx, 0, func(b []byte, _ int64) (bool, error) {
		if s.u.size == 1 {
			n += bytes.Count(b, []byte{c})
			return true, nil
		}
		for i := nextUnit(s.u, b, c, 0, bytes.IndexByte); i >= 0; i = nextUnit(s.u, b, c, i+2, bytes.IndexByte) {
			n++
		}
		return true, nil
	})
	return n, err
}

// around is a match with two units on either side, where the file has them.
func (s stretch) around(m span.Span, loneCR bool) (view[[]byte], Match, error) {
	from := max(s.start, m.Start-int64(2*s.u.size))
	to := min(s.end, m.End+int64(2*s.u.size))
	v := view[[]byte]{s: make([]byte, to-from), u: s.u, loneCR: loneCR}
	local := Match{int(m.Start - from), int(m.End - from)}
	return v, local, span.ReadFull(s.r, v.s, from)
}

// streamEnds is lineEnds for a file.
type streamEnds struct {
	file   stretch
	loneCR bool
	done   bool
	known  int64
	form   string
}

// after is the ending of the line that a match starts on, or usual.
func (l *streamEnds) after(ctx context.Context, v view[[]byte], local Match, m span.Span, usual string) (string, error) {
	if own := ownBreaks(v, local); own != "" {
		return formOf(own[0]), nil
	}
	if !l.done || m.End > l.known {
		if err := l.look(ctx, m.End); err != nil {
			return "", err
		}
	}
	if l.form == "" {
		return usual, nil
	}
	return l.form, nil
}

func (l *streamEnds) look(ctx context.Context, at int64) error {
	s, c := l.file, byte('\n')
	if l.loneCR {
		c = '\r'
	}
	s.start = at
	i, found, err := s.find(ctx, c)
	if err != nil {
		return err
	}
	l.done, l.known, l.form = true, s.end, ""
	if !found {
		return nil
	}
	l.known, l.form = i, lf
	if l.loneCR {
		l.form = cr
		return nil
	}
	before := span.Span{Start: max(at, i-int64(s.u.size)), End: i}
	v, local, err := l.file.around(before, false)
	if err == nil && before.Start < i && v.breakAt(local.Start) == crlf {
		l.known, l.form = before.Start, crlf
	}
	return err
}
