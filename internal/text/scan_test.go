package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text/charset"
)

// small is a scan with tiny chunks and marks, so that every boundary is met.
func small(t testing.TB, raw []byte, chunk int) *Scan {
	t.Helper()
	s, err := newScan(context.Background(), bytes.NewReader(raw), int64(len(raw)), chunk, 16, 8)
	if err != nil {
		t.Fatalf("%v: %.60q", err, raw)
	}
	return s
}

// Scan and Doc must show the same, page by page.
func TestScanPagesAreDocPages(t *testing.T) {
	ctx := context.Background()
	r := rand.New(rand.NewSource(11))
	for round := range shortrun.Count(t, 1500, 400, "files") {
		raw := randomFile(t, r)
		d, err := Decode(raw)
		if err != nil {
			continue
		}
		s := small(t, raw, 16<<r.Intn(4))
		if len(raw) <= headSize && s.EOL() != d.EOL && !bytes.HasSuffix(raw, []byte("\r")) && d.Enc.IsUTF8() {
			t.Fatalf("scan counts %+v, doc %+v: %.80q", s.EOL(), d.EOL, raw)
		}
		if s.Enc() != d.Enc {
			t.Fatalf("scan says %v, doc %v: %.80q", s.Enc(), d.Enc, raw)
		}
		src := bytes.NewReader(raw)
		for range 12 {
			first, limit, maxBody := 1+r.Intn(d.Lines()+2), 1+r.Intn(12), 1+r.Intn(300)
			if r.Intn(3) == 0 {
				maxBody = 1 << 20
			}
			want := d.Page(first, limit, maxBody)
			got, err := s.Page(ctx, src, first, limit, maxBody, time.Minute)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("round %d, %v: Page(%d, %d, %d): %v\n%+v\n%+v\n%q", round, d.Enc, first, limit, maxBody, err, got, want, raw)
			}
			line, column, limit := 1+r.Intn(d.Lines()+1), 1+r.Intn(40), max(0, r.Intn(40)-10)
			want = d.ColumnPage(line, column, limit, maxBody)
			got, err = s.ColumnPage(ctx, src, line, column, limit, maxBody)
			if got.Total < 0 {
				got.Total = want.Total // a column page does not count
			}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("round %d, %v: ColumnPage(%d, %d, %d, %d): %v\n%+v\n%+v\n%q", round, d.Enc, line, column, limit, maxBody, err, got, want, raw)
			}
		}
	}
}

// randomFile is a short file in some encoding with some mix of endings.
func randomFile(t *testing.T, r *rand.Rand) []byte {
	endings := [][]string{{"\n"}, {"\r\n"}, {"\r"}, {"\n", "\r\n"}, {"\n", "\r"}, {"x"}, {"\r", "\r\n"}}[r.Intn(7)]
	pieces := append(append([]string{}, endings...), endings...)
	for _, p := range utf8Pieces {
		if p != "\n" {
			pieces = append(pieces, p)
		}
	}
	s := randomText(r, r.Intn(600), pieces)
	switch r.Intn(6) {
	case 0:
		s = "\uFEFF" + s
	case 1, 2:
		enc := charset.Encoding{Set: charset.UTF16LE, Mark: true}
		if r.Intn(2) == 0 {
			enc.Set = charset.UTF16BE
		}
		raw, err := enc.EncodeFile(s)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	case 3:
		b := []byte(s)
		for range min(len(b)/40, 5) {
			b[r.Intn(len(b))] = byte(0x80 + r.Intn(0x80))
		}
		return b
	case 4:
		c := samples[r.Intn(len(samples))]
		words := strings.SplitAfter(strings.TrimRight(c.text, "\n"), " ")
		return encodeAs(t, c.set, c.text+randomText(r, r.Intn(400), append(words, endings...)))
	}
	return []byte(s)
}

func TestScanTotalUnknownUntilCounted(t *testing.T) {
	ctx := context.Background()
	raw := []byte(strings.Repeat("some line\n", 1000))
	s := small(t, raw, 64)
	src := bytes.NewReader(raw)
	p, err := s.Page(ctx, src, 3, 2, 0, 0)
	if err != nil || p.Total != -1 || !p.More || string(p.Body) != "3\tsome line\n4\tsome line" {
		t.Fatalf("%+v, %v", p, err)
	}
	if p, err = s.Page(ctx, src, 3, 2, 0, time.Minute); err != nil || p.Total != 1000 {
		t.Fatalf("counted: %d, %v", p.Total, err)
	}
	if p, err = s.Page(ctx, src, 2000, 2, 0, 0); err != nil || p.First != 0 || p.More || p.Total != 1000 {
		t.Fatalf("past the end: %+v, %v", p, err)
	}
}

func TestScanServesTextBeforeNUL(t *testing.T) {
	ctx := context.Background()
	raw := []byte(strings.Repeat("text\n", 20000) + "\x00\n" + strings.Repeat("text\n", 10))
	s, err := NewScan(ctx, bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	src := bytes.NewReader(raw)
	if p, err := s.Page(ctx, src, 19990, 10, 0, 0); err != nil || p.Last != 19999 {
		t.Fatalf("before: %+v, %v", p.Last, err)
	}
	if _, err := s.Page(ctx, src, 19990, 20, 0, 0); !errors.Is(err, ErrBinary) {
		t.Fatalf("across: %v", err)
	}
	if _, err := s.ColumnPage(ctx, src, 20001, 1, 0, 0); !errors.Is(err, ErrBinary) {
		t.Fatalf("column: %v", err)
	}
	if p, err := s.Page(ctx, src, 20002, 5, 0, 0); err != nil || p.First != 20002 {
		t.Fatalf("behind: %+v, %v", p, err)
	}
	if _, err := NewScan(ctx, bytes.NewReader([]byte("a\x00b")), 3); !errors.Is(err, ErrBinary) {
		t.Fatalf("head: %v", err)
	}
}

func TestScanRefusesHalfCharactersOfUTF16(t *testing.T) {
	ctx := context.Background()
	good := encodeAs(t, charset.UTF16LE, strings.Repeat("ab\n", 20000))
	raw := append([]byte(charset.MarkUTF16LE), good...)
	raw = append(raw, 0x00, 0xD8, 'x', 0, '\n', 0, 'y', 0, '\n', 0, 'z') // a lone surrogate, half a unit
	s, err := NewScan(ctx, bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	src := bytes.NewReader(raw)
	if p, err := s.Page(ctx, src, 19999, 2, 0, 0); err != nil || p.Last != 20000 {
		t.Fatalf("before: %+v, %v", p, err)
	}
	if _, err := s.Page(ctx, src, 20001, 1, 0, 0); !errors.Is(err, ErrBinary) {
		t.Fatalf("lone surrogate: %v", err)
	}
	if p, err := s.Page(ctx, src, 20002, 1, 0, 0); err != nil || string(p.Body) != "20002\ty" {
		t.Fatalf("between: %q, %v", p.Body, err)
	}
	if _, err := s.Page(ctx, src, 20003, 1, 0, 0); !errors.Is(err, ErrBinary) {
		t.Fatalf("half a unit: %v", err)
	}
}

// generated is a file that is computed as it is read; seen counts the bytes.
type generated struct {
	size int64
	at   func(off int64) byte
	seen int64
}

func (g *generated) ReadAt(p []byte, off int64) (int, error) {
	n := int(min(int64(len(p)), g.size-off))
	for i := range n {
		p[i] = g.at(off + int64(i))
	}
	g.seen += int64(n)
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func TestDeepColumnsOfALongLine(t *testing.T) {
	ctx := context.Background()
	const size = 16 << 20
	g := &generated{size: size, at: func(off int64) byte { return byte('a' + off/7%26) }}
	s, err := NewScan(ctx, g, size)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := s.Page(ctx, g, 1, 2000, 100_000, 0); err != nil || p.First != 0 || !p.More {
		t.Fatalf("a line too long for a page: %+v, %v", p.First, err)
	}
	const column = 9_000_001
	g.seen = 0
	p, err := s.ColumnPage(ctx, g, 1, column, 0, 1000)
	if err != nil || !p.Cut || p.Shown != (span.Span{Start: column - 1, End: column + 997}) || p.NextColumn != column+998 {
		t.Fatalf("%+v, %v", p, err)
	}
	if g.seen > column+200_000 {
		t.Errorf("read %d bytes for column %d", g.seen, column)
	}
	for i := range 5 {
		g.seen = 0
		at := p.NextColumn
		p, err = s.ColumnPage(ctx, g, 1, at, 0, 1000)
		if err != nil || p.Shown.Start != int64(at-1) || g.seen > 2048 {
			t.Fatalf("next page %d: %v, read %d, %v", i, p.Shown, g.seen, err)
		}
	}
	g.seen = 0
	if p, err = s.ColumnPage(ctx, g, 1, 5_000_000, 0, 1000); err != nil || p.Shown.Start != 4_999_999 || g.seen > markStep+2048 {
		t.Fatalf("back: %v, read %d, %v", p.Shown, g.seen, err)
	}
	if p, err = s.ColumnPage(ctx, g, 1, size, 0, 1000); err != nil || p.Cut || p.More || len(p.Body) != 3 {
		t.Fatalf("last column: %+v, %v", p, err)
	}
	if p, err = s.ColumnPage(ctx, g, 1, size+1, 0, 1000); err != nil || p.First != 0 {
		t.Fatalf("past the line: %+v, %v", p, err)
	}
}

func TestIndexStaysSmall(t *testing.T) {
	x := lineIndex{step: 16, limit: 64}
	r := rand.New(rand.NewSource(17))
	var breaks []int64
	off := int64(0)
	for range 2000 {
		b := make([]byte, r.Intn(300))
		for i := range b {
			b[i] = 'x'
			if r.Intn(20) == 0 {
				b[i] = '\n'
				breaks = append(breaks, off+int64(i))
			}
		}
		x.feed(b)
		off += int64(len(b))
	}
	if len(x.marks) > 64 || x.step < 2*16 {
		t.Fatalf("%d marks, step %d", len(x.marks), x.step)
	}
	for i, m := range x.marks {
		n := int64(0)
		for _, b := range breaks {
			if b < int64(i)*x.step {
				n++
			}
		}
		if n != m {
			t.Fatalf("mark %d says %d, want %d", i, m, n)
		}
	}
}

func TestScanStopsOnRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	raw := []byte(strings.Repeat("line\n", 100000))
	src := &stopping{Reader: bytes.NewReader(raw), after: 20, stop: cancel}
	s, err := newScan(ctx, src, int64(len(raw)), 1024, 1024, 64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Page(ctx, src, 99999, 1, 0, 0); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if p, err := s.Page(context.Background(), src, 99999, 1, 0, 0); err != nil || p.First != 99999 {
		t.Fatalf("afterwards: %+v, %v", p, err)
	}
	short := bytes.NewReader(raw[:1000])
	if _, err := s.Page(context.Background(), short, 99000, 1, 0, 0); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("a file that shrank: %v", err)
	}
}

type stopping struct {
	*bytes.Reader
	after int
	stop  func()
}

func (s *stopping) ReadAt(p []byte, off int64) (int, error) {
	if s.after--; s.after == 0 {
		s.stop()
	}
	return s.Reader.ReadAt(p, off)
}

func TestScanFromSeveralGoroutines(t *testing.T) {
	ctx := context.Background()
	raw := []byte(strings.Repeat("a line of text\n", 20000))
	src := bytes.NewReader(raw)
	s := small(t, raw, 1024)
	done := make(chan error)
	for i := range 8 {
		go func() {
			var err error
			for n := 1; n < 20000 && err == nil; n += 997 * (i + 1) {
				var p Page
				if p, err = s.Page(ctx, src, n, 3, 0, time.Millisecond); err == nil && p.First != n {
					err = fmt.Errorf("line %d: %+v", n, p)
				}
				if err == nil {
					_, err = s.ColumnPage(ctx, src, n, 3, 0, 100)
				}
			}
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

func TestAScanEndsInAHole(t *testing.T) {
	text := bytes.Repeat([]byte("a line of text\n"), 100_000)
	const size = 1 << 30
	read := int64(0)
	r := readerAt(func(p []byte, off int64) (int, error) {
		read += int64(len(p))
		clear(p)
		if off < int64(len(text)) {
			copy(p, text[off:])
		}
		return len(p), nil
	})
	s, err := NewScan(context.Background(), r, size)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Page(context.Background(), r, 200_000, 10, 0, 0); err != ErrBinary {
		t.Fatalf("want ErrBinary, got %v", err)
	}
	if read > 8<<20 {
		t.Fatalf("%d bytes were read", read)
	}
}

// readerAt is a function that reads.
type readerAt func(p []byte, off int64) (int, error)

func (r readerAt) ReadAt(p []byte, off int64) (int, error) { return r(p, off) }

// A file that Decode takes is the same text for DecodeLarge, which sees only the beginning.
func TestDecodeLargeAgreesWithDecode(t *testing.T) {
	r := rand.New(rand.NewSource(13))
	for range shortrun.Count(t, 1500, 500, "files") {
		raw := randomFile(t, r)
		want, err := Decode(raw)
		if err != nil {
			continue
		}
		got, err := DecodeLarge(raw)
		if err != nil || got.Text != want.Text || got.Enc != want.Enc || got.EOL != want.EOL || got.Strays != want.Strays {
			t.Fatalf("%v, %v; want %v: %q", got, err, want, raw)
		}
	}
}

func TestDecodeLargeSeesTheBeginningAlone(t *testing.T) {
	head := strings.Repeat("a line of text\n", headSize/15+1)
	for name, c := range map[string]struct {
		raw  string
		want error
	}{
		"NUL bytes further on":  {raw: head + "\x00\n"},
		"NUL bytes at the head": {raw: "\x00" + head, want: ErrBinary},
	} {
		if d, err := DecodeLarge([]byte(c.raw)); err != c.want || err == nil && d.Text != c.raw {
			t.Errorf("%s: %v", name, err)
		}
	}
}
