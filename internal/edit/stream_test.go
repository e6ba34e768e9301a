package edit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/fsmcp/fsmcp/internal/span"
)

// A charset is an encoding that streams come in.
type charset struct {
	name   string
	align  int
	mark   string
	encode func(string) ([]byte, error)
}

var charsets = []charset{
	{"utf-8", 1, "", func(s string) ([]byte, error) { return []byte(s), nil }},
	{"utf-8 with mark", 1, "\xef\xbb\xbf", func(s string) ([]byte, error) { return []byte(s), nil }},
	{"utf-16le", 2, "\xff\xfe", func(s string) ([]byte, error) { return sixteen(s, binary.LittleEndian), nil }},
	{"utf-16be", 2, "\xfe\xff", func(s string) ([]byte, error) { return sixteen(s, binary.BigEndian), nil }},
}

func sixteen(s string, order binary.AppendByteOrder) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

// file is text as a file of the charset.
func (c charset) file(text string) []byte {
	b, _ := c.encode(text)
	return append([]byte(c.mark), b...)
}

// edit does one edit as a stream, in pieces of at least the given size.
func (c charset) edit(file []byte, req Request, chunk int) ([]byte, StreamFound, error) {
	n, err := NewNeedle(req.Old, c.align, c.encode)
	if err != nil {
		return nil, StreamFound{}, err
	}
	r := bytes.NewReader(file)
	s := stretch{r: r, u: n.u, end: int64(len(file)), chunk: chunk}
	ctx := context.Background()
	f, err := searchStream(ctx, s, n, req.ReplaceAll, 1000)
	if err != nil {
		return nil, f, err
	}
	splices, err := f.Replace(ctx, r, req)
	return span.Apply(file, splices), f, err
}

func TestStreamEdits(t *testing.T) {
	for _, cs := range charsets {
		t.Run(cs.name, func(t *testing.T) {
			for _, c := range editCases {
				if c.rule != Exact || c.old == c.new /* such a call is refused */ || cs.align == 2 && !utf8.ValidString(c.text) {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					req := c.request()
					if req.EOL == "" { // a stream does not count
						req.EOL = frequent(c.text, !strings.Contains(c.text, "\n"))
					}
					got, _, err := cs.edit(cs.file(c.text), req, 1)
					c.check(t, cs.text(got), Exact, err)
				})
			}
		})
	}
}

// text is a file of the charset as text.
func (c charset) text(file []byte) string {
	file = bytes.TrimPrefix(file, []byte(c.mark))
	if c.align == 1 {
		return string(file)
	}
	var u []uint16
	order := binary.ByteOrder(binary.LittleEndian)
	if c.name == "utf-16be" {
		order = binary.BigEndian
	}
	for ; len(file) > 1; file = file[2:] {
		u = append(u, order.Uint16(file))
	}
	return string(utf16.Decode(u))
}

// Whatever the pieces are, a stream and a text under the exact rule agree.
func TestStreamAgreesWithApply(t *testing.T) {
	names := []string{"repeats", "breaks", "trailing", "equivalence"}
	rapid.Check(t, func(t *rapid.T) {
		pieces := alphabets[rapid.SampledFrom(names).Draw(t, "alphabet")]
		if rapid.Bool().Draw(t, "wide") { // half of whose bytes look like others
			pieces = []string{"\u0a0a", "\u0d0d", "\u0a0d", "\n", "\r\n", "\r", "a", "\u6161", "\u0061\u0100", "😀"}
		}
		cs := rapid.SampledFrom(charsets).Draw(t, "charset")
		text := drawText(t, pieces, "text", 40)
		req := Request{
			Old:        drawOld(t, pieces, text),
			New:        drawText(t, pieces, "new", 4),
			ReplaceAll: rapid.Bool().Draw(t, "all"),
			EOL:        rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol"),
		}
		if req.Old == req.New {
			return // such a call is refused
		}
		got, found, err := cs.edit(cs.file(text), req, rapid.SampledFrom([]int{1, 16, 64, 4096}).Draw(t, "chunk"))
		want, wantErr := Apply(text, req)
		if _, rule, _ := naiveLocate(text, req); rule != Exact {
			wantErr = &NoMatchError{}
		}
		if failure(err) != failure(wantErr) {
			t.Fatalf("stream %v, text %v", err, wantErr)
		}
		if err != nil {
			return
		}
		if cs.text(got) != want.Patch(text) || found.Count != len(want.Splices) {
			t.Fatalf("stream %q (%d), text %q (%d)", cs.text(got), found.Count, want.Patch(text), len(want.Splices))
		}
	})
}

func TestStreamCountsAllAndKeepsSome(t *testing.T) {
	text := strings.Repeat("needle and hay\n", 100000)
	n, _ := NewNeedle("needle", 1, charsets[0].encode)
	r := strings.NewReader(text)
	f, err := SearchStream(context.Background(), r, int64(len(text)), n, true, 7)
	if err != nil || f.Count != 100000 || len(f.Matches) != 7 || f.Matches[6].Start != 6*15 {
		t.Errorf("%d %v %v", f.Count, f.Matches, err)
	}
	if _, err := f.Replace(context.Background(), r, Request{Old: "needle", New: "x"}); !errors.Is(err, ErrTooMany) {
		t.Errorf("replacing some of all: %v", err)
	}
	_, err = SearchStream(context.Background(), r, int64(len(text)), n, false, 7)
	var e *AmbiguousError
	if !errors.As(err, &e) || describe(e) != "100000 at 1 2 3 4 5 6 7 8 9 10" {
		t.Errorf("%+v", err)
	}
}

func TestStreamStops(t *testing.T) {
	n, _ := NewNeedle("needle", 1, charsets[0].encode)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := SearchStream(ctx, strings.NewReader("hay"), 3, n, false, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := SearchStream(context.Background(), strings.NewReader("hay"), 9, n, false, 1); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("shorter than it was: %v", err)
	}
}

func TestNeedleFitsItsEncoding(t *testing.T) {
	unencodable := errors.New("unencodable")
	if _, err := NewNeedle("é", 1, func(string) ([]byte, error) { return nil, unencodable }); !errors.Is(err, unencodable) {
		t.Errorf("unencodable: %v", err)
	}
	if _, err := NewNeedle("e", 1, charsets[2].encode); err == nil {
		t.Error("UTF-16 with alignment 1")
	}
	if _, err := NewNeedle("e", 2, charsets[0].encode); err == nil {
		t.Error("UTF-8 with alignment 2")
	}
}

func TestStreamMarkIsNoText(t *testing.T) {
	for _, cs := range charsets[1:] {
		_, _, err := cs.edit(cs.file("a\n"), Request{Old: "\ufeffa", New: "b"}, 1)
		if failure(err) != "none" {
			t.Errorf("%s: %v", cs.name, err)
		}
	}
}

func ExampleStreamFound_Replace() {
	log := "first\r\nsecond\r\n"
	encode := func(s string) ([]byte, error) { return []byte(s), nil }
	needle, _ := NewNeedle("second", 1, encode)
	r := strings.NewReader(log)
	found, _ := SearchStream(context.Background(), r, r.Size(), needle, false, 1)
	splices, _ := found.Replace(context.Background(), r, Request{Old: "second", New: "2nd\n3rd"})
	fmt.Printf("%d %d %q\n", splices[0].Start, splices[0].End, splices[0].New)
	// Output: 7 13 "2nd\r\n3rd"
}
