package text

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text/charset"
)

// headSize bounds the bytes from which a Scan detects the charset.
const headSize = 64 << 10

// DefaultBody bounds the body of a page of a Scan if the caller does not.
const DefaultBody = 1 << 20

// Scan holds the facts about a file that is not in memory: its charset, a sparse index of
// its lines, marks within the long lines that were paged. It takes the file anew at every
// call, and is right only while that file has the bytes it had; the caller proves that. It
// grows to some hundred KiB at most, however large the file, and may be used from several
// goroutines.
type Scan struct {
	enc   charset.Encoding
	eol   EOL // of the head
	size  int64
	chunk int
	pass  chan struct{} // held by the one pass that extends the index

	mu    sync.Mutex // guards what follows
	lines lineIndex
	cols  columnMarks
	tail  tail
}

// NewScan looks at the head of a file of size bytes. ErrBinary as in Decode, as
// far as the head shows it: what comes later is judged when it is served.
func NewScan(ctx context.Context, r io.ReaderAt, size int64) (*Scan, error) {
	return newScan(ctx, r, size, scanChunk, markStep, maxMarks)
}

func newScan(ctx context.Context, r io.ReaderAt, size int64, chunk int, step int64, limit int) (*Scan, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	head := make([]byte, min(headSize, size))
	if err := span.ReadFull(r, head, 0); err != nil {
		return nil, err
	}
	enc, err := HeadEncoding(head, size == int64(len(head)))
	if err != nil {
		return nil, err
	}
	return &Scan{
		enc: enc, eol: headEOL(head, enc), chunk: chunk, size: size,
		pass:  make(chan struct{}, 1),
		lines: lineIndex{units: enc.Units(), step: step, limit: limit},
		cols:  columnMarks{step: step},
	}, nil
}

// Enc is the encoding that the head of the file shows.
func (s *Scan) Enc() charset.Encoding { return s.enc }

// EOL counts the line endings of the head of the file.
func (s *Scan) EOL() EOL { return s.eol }

// headEOL counts the line endings of a file's beginning, whose last byte may be half
// of an ending.
func headEOL(head []byte, enc charset.Encoding) EOL {
	text := head[len(enc.BOM()):]
	if !enc.IsUTF8() {
		text, _ = enc.Set.DecodePrefix(text)
	}
	return CountEOL(strings.TrimSuffix(stringOf(text), "\r"))
}

// Size is the size of the file that the Scan is about.
func (s *Scan) Size() int64 { return s.size }

// bomLen returns the offset of the text.
func (s *Scan) bomLen() int64 { return int64(len(s.enc.BOM())) }

// extend indexes on from where the index ends until enough says so, under mu,
// or the file is indexed.
func (s *Scan) extend(ctx context.Context, r io.ReaderAt, enough func(*lineIndex) bool) error {
	s.mu.Lock()
	ready := s.lines.done >= s.size || enough(&s.lines)
	s.mu.Unlock()
	if ready {
		return nil
	}
	select {
	case s.pass <- struct{}{}:
		defer func() { <-s.pass }()
	case <-ctx.Done():
		return ctx.Err()
	}
	var buf []byte
	for {
		s.mu.Lock()
		at := s.lines.done
		ready := at >= s.size || enough(&s.lines)
		s.mu.Unlock()
		if ready {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if buf == nil {
			buf = make([]byte, min(int64(s.chunk), s.size-at))
		}
		b := buf[:min(int64(len(buf)), s.size-at)]
		if err := span.ReadFull(r, b, at); err != nil {
			return err
		}
		if s.enc.Units() == span.Narrow && bytes.IndexByte(b[:min(len(b), probe)], 0) >= 0 {
			return ErrBinary
		}
		s.mu.Lock()
		s.lines.feed(b)
		s.mu.Unlock()
	}
}

// probe bounds the bytes of each chunk that are searched for NUL while it is indexed: a
// hole of gigabytes ends the scan at once, and text costs nothing. All served text is
// searched.
const probe = 4 << 10

// decide indexes until it is known what ends a line.
func (s *Scan) decide(ctx context.Context, r io.ReaderAt) (eol byte, err error) {
	err = s.extend(ctx, r, func(x *lineIndex) bool {
		_, ok := x.eol(s.size)
		return ok
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	eol, _ = s.lines.eol(s.size)
	return eol, err
}

// lineStart returns the offset of a line, and false if the file has fewer lines.
func (s *Scan) lineStart(ctx context.Context, r io.ReaderAt, line int) (int64, bool, error) {
	if line < 0 {
		at, _, err := s.tailStart(ctx, r, -line)
		return at, err == nil && at < s.size, err
	}
	if line <= 1 {
		return s.bomLen(), s.size > s.bomLen(), nil
	}
	n := int64(line - 1) // the line begins behind this many endings
	err := s.extend(ctx, r, func(x *lineIndex) bool {
		_, decided := x.eol(s.size)
		return decided && x.breaks() >= n
	})
	if err != nil {
		return 0, false, err
	}
	s.mu.Lock()
	eol, _ := s.lines.eol(s.size)
	enough := s.lines.breaks() >= n
	at, passed := s.lines.before(n)
	s.mu.Unlock()
	if !enough {
		return 0, false, nil
	}
	at, err = s.skipLines(ctx, r, at, n-passed, eol)
	return at, err == nil && at < s.size, err
}

// skipLines returns the offset behind n line endings from the offset at on.
func (s *Scan) skipLines(ctx context.Context, r io.ReaderAt, at, n int64, eol byte) (int64, error) {
	u := s.enc.Units()
	s.mu.Lock()
	step := s.lines.step
	s.mu.Unlock()
	buf := make([]byte, min(int64(s.chunk), step, s.size-at))
	for n > 0 && at < s.size {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		b := buf[:min(int64(len(buf)), s.size-at)]
		if err := span.ReadFull(r, b, at); err != nil {
			return 0, err
		}
		i, passed := skipLines(u, b, eol, int(n))
		at, n = at+int64(i), n-int64(passed)
	}
	if n > 0 {
		return 0, io.ErrUnexpectedEOF // the file is not the one that was indexed
	}
	return at, nil
}

// total is the number of lines, if the file is indexed, else -1.
func (s *Scan) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines.done < s.size {
		return -1
	}
	return int(s.lines.total(s.size, s.bomLen()))
}

// count goes on indexing for at most countFor and returns the number of lines,
// or -1.
func (s *Scan) count(ctx context.Context, r io.ReaderAt, countFor time.Duration) (int, error) {
	if n := s.total(); n >= 0 || countFor <= 0 {
		return n, nil
	}
	short, cancel := context.WithTimeout(ctx, countFor)
	defer cancel()
	err := s.extend(short, r, func(*lineIndex) bool { return false })
	if err != nil && ctx.Err() == nil && (short.Err() != nil || err == ErrBinary) {
		err = nil // out of time, or no text any more further on: what was asked for is served
	}
	return s.total(), err
}

// A view is a stretch of the file, decoded.
type view struct {
	window
	raw   []byte
	set   charset.Charset // the one that decoded it: UTF-8 if the file's own failed
	stuck bool            // the text ends before raw does, at half a surrogate pair or the like
}

// rawOffset returns the offset in raw of a byte of the text.
func (v *view) rawOffset(at int) int64 {
	if v.set == charset.UTF8 {
		return int64(at)
	}
	w := newWalker(v.raw, v.s, v.set, mark{})
	w.toText(at)
	return int64(w.at.raw)
}

// newView decodes bytes from a character on. The end of raw may fall within a
// character unless whole says that the file ends there too.
func (s *Scan) newView(raw []byte, eol byte, whole bool) *view {
	v := &view{raw: raw, set: s.enc.Set, window: window{eol: eol, whole: whole}}
	if v.set != charset.UTF8 {
		text, used := v.set.DecodePrefix(raw)
		again, err := charset.Encoding{Set: v.set}.Encode(stringOf(text))
		if err == nil && bytes.Equal(again, raw[:used]) && (v.set.Wide() || len(raw)-used < 3 && !(whole && used < len(raw))) {
			v.s = stringOf(text)
			v.stuck = used < len(raw) && (whole || len(raw)-used > 3)
			v.whole = whole && used == len(raw)
			return v
		}
		v.set = charset.UTF8
	}
	v.s = stringOf(raw)
	if eol == '\n' && bytes.IndexByte(raw, '\r') < 0 && plainASCII(raw, bytes.Count(raw, []byte{'\n'})) {
		v.ascii = true
	} else {
		v.strays = !utf8.Valid(raw) && (whole || !utf8.Valid(raw[:len(raw)-OpenTail(raw)]))
	}
	return v
}

// expansion bounds the bytes of the file per byte of Body: some characters are three bytes
// in EUC-JP and two in UTF-8.
func (s *Scan) expansion() int64 {
	if s.enc.Set.Wide() || s.enc.Set == charset.EUCJP {
		return 2
	}
	return 1
}

// Page shows lines like Doc.Page, of a file of any size in constant memory: it
// indexes as far as the first line, and then on for at most countFor to know
// Total, which is -1 if that does not suffice. maxBody 0 is DefaultBody. first below zero is a
// line that Tail returned.
// ErrBinary if the lines to be shown hold a NUL, or half a character of UTF-16.
//
// Doc.Page stays beside it. A page of a Doc by way of a Scan takes 2.8 us in place of 1.1 for
// 1 KB, 154 in place of 100 for 100 KB, and 590 in place of 100 for 100 KB in a legacy
// charset; that is 5, 4 and 37 % of a Read. TestScanPagesAreDocPages compares the two.
func (s *Scan) Page(ctx context.Context, r io.ReaderAt, first, limit, maxBody int, countFor time.Duration) (Page, error) {
	if first == 0 {
		first = 1
	}
	if maxBody <= 0 {
		maxBody = DefaultBody
	}
	start, ok, err := s.lineStart(ctx, r, first)
	if err != nil {
		return Page{}, err
	}
	var p Page
	switch {
	case ok:
		p, err = s.pageAt(ctx, r, start, first, limit, maxBody)
	case s.size == s.bomLen():
		p.Shown.End = s.bomLen()
	}
	if err != nil {
		return Page{}, err
	}
	switch {
	case first < 0: // Tail has counted for as long as there is time
		p.Total = s.total()
		return p, nil
	case p.First > 0 && !p.More:
		p.Total = p.Last
		return p, nil
	}
	p.Total, err = s.count(ctx, r, countFor)
	return p, err
}

// pageAt shows the lines from the offset start on, which is where line first
// begins.
func (s *Scan) pageAt(ctx context.Context, r io.ReaderAt, start int64, first, limit, maxBody int) (Page, error) {
	most := (int64(maxBody) + 4) * s.expansion()
	take := min(most, pageGuess(limit), int64(s.chunk))
	for {
		if err := ctx.Err(); err != nil {
			return Page{}, err
		}
		from := s.shownStart(start)
		all := make([]byte, min(take, s.size-start)+start-from)
		if err := span.ReadFull(r, all, from); err != nil {
			return Page{}, err
		}
		raw := all[start-from:]
		eol, err := s.eolIn(ctx, r, raw)
		if err != nil {
			return Page{}, err
		}
		v := s.newView(raw, eol, start+int64(len(raw)) == s.size)
		var p Page
		ends, open := v.take(&p, first, limit, maxBody)
		switch {
		case open && v.stuck && ends == nil:
			return Page{}, ErrBinary
		case open && !v.stuck && take < most:
			take = min(most, take*4)
		case ends == nil:
			return Page{More: true}, nil
		case hasNUL(v.s[:ends[len(ends)-1]]):
			return Page{}, ErrBinary
		default:
			p.Shown = span.Span{Start: from, End: start + v.rawOffset(int(ends[len(ends)-1]))}
			p.Raw = all[:p.Shown.End-from]
			p.More = p.Shown.End < s.size
			return p, nil
		}
	}
}

// pageGuess returns the bytes to read at first for limit lines.
func pageGuess(limit int) int64 {
	if limit <= 0 || limit > 4096 {
		limit = 4096
	}
	return max(16<<10, int64(limit)*128)
}

func hasNUL(s string) bool { return bytes.IndexByte(span.BytesOf(s), 0) >= 0 }

func (s *Scan) shownStart(off int64) int64 {
	if off == s.bomLen() {
		return 0
	}
	return off
}

// eolIn returns the line ending of raw. If raw has a carriage return and no line feed, it
// reads the file up to its first line feed.
func (s *Scan) eolIn(ctx context.Context, r io.ReaderAt, raw []byte) (byte, error) {
	s.mu.Lock()
	eol, decided := s.lines.eol(s.size)
	s.mu.Unlock()
	u := s.enc.Units()
	if decided || u.Index(raw, '\n', 0) >= 0 || u.Index(raw, '\r', 0) < 0 {
		return eol, nil
	}
	return s.decide(ctx, r)
}

// ColumnPage shows one line from its code point column on, like Doc.ColumnPage.
// The line may be of any length: it is never held in memory, and marks within
// it make the next page quick. Total is -1 if it is not known yet.
func (s *Scan) ColumnPage(ctx context.Context, r io.ReaderAt, line, column, limit, maxBody int) (Page, error) {
	column = max(column, 1)
	if line == 0 {
		line = 1
	}
	if maxBody <= 0 {
		maxBody = DefaultBody
	}
	if limit > 0 { // no more need be read
		maxBody = min(maxBody, limit*shownMost+numberMost)
	}
	start, ok, err := s.lineStart(ctx, r, line)
	if err != nil || !ok {
		return Page{Total: s.total()}, err
	}
	at, ok, err := s.columnStart(ctx, r, start, column)
	if err != nil || !ok {
		return Page{Total: s.total()}, err
	}
	p, err := s.columnAt(ctx, r, at, place{line, column, limit, maxBody})
	if p.Cut {
		s.noteColumn(start, columnMark{p.Shown.End, p.NextColumn - 1})
	}
	return p, err
}

// A code point takes at most shownMost bytes of an answer, and a line's number
// numberMost.
const (
	shownMost  = 4
	numberMost = 24
)

// place is the part of a line that a column page shows.
type place struct{ line, column, limit, maxBody int }

// columnAt shows the line's part that begins at the offset at.
func (s *Scan) columnAt(ctx context.Context, r io.ReaderAt, at int64, w place) (Page, error) {
	from := s.shownStart(at)
	all := make([]byte, min((int64(w.maxBody)+8)*s.expansion(), s.size-at)+at-from)
	if err := span.ReadFull(r, all, from); err != nil {
		return Page{}, err
	}
	raw := all[at-from:]
	eol, err := s.eolIn(ctx, r, raw)
	if err != nil {
		return Page{}, err
	}
	whole := at+int64(len(raw)) == s.size
	v := s.newView(raw, eol, whole)
	content, full, found := v.line(0)
	if v.stuck && content == 0 {
		return Page{}, ErrBinary
	}
	if !found && !v.whole && v.set == charset.UTF8 && !v.strays {
		content -= OpenTail(raw)
	}
	if content == 0 && w.column > 1 {
		return Page{Total: s.total()}, nil
	}
	part := v.column(v.s[:content], atMost(w.limit), columnRoom(w.line, w.maxBody))
	part.whole = part.whole && found
	if hasNUL(part.text) {
		return Page{}, ErrBinary
	}
	var p Page
	v.fillColumn(&p, w.line, w.column, part)
	end := len(part.text)
	if part.whole {
		end, p.Unended = full, full == content && whole
	}
	p.Shown = span.Span{Start: from, End: at + v.rawOffset(end)}
	p.Raw = all[:p.Shown.End-from]
	p.More = p.Shown.End < s.size
	p.Total = s.total()
	return p, nil
}
