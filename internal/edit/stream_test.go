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
	units  span.Units
	mark   string
	encode func(string) ([]byte, error)
}

var charsets = []charset{
	{"utf-8", span.Narrow, "", func(s string) ([]byte, error) { return []byte(s), nil }},
	{"utf-8 with mark", span.Narrow, "\xef\xbb\xbf", func(s string) ([]byte, error) { return []byte(s), nil }},
	{"utf-16le", span.WideLittle, "\xff\xfe", func(s string) ([]byte, error) { return sixteen(s, binary.LittleEndian), nil }},
	{"utf-16be", span.WideBig, "\xfe\xff", func(s string) ([]byte, error) { return sixteen(s, binary.BigEndian), nil }},
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
func (c charset) edit(file []byte, req Request, chunk int) ([]byte, Result, error) {
	s, err := File{R: bytes.NewReader(file), Size: int64(len(file)), Units: c.units, Encode: c.encode}.source(req.Old)
	if err != nil {
		return nil, Result{}, err
	}
	s.chunk = chunk
	res, err := s.apply(context.Background(), req)
	return span.Apply(file, res.Splices), res, err
}

// editIn does one edit of a file in UTF-8 as a stream.
func editIn(ctx context.Context, text string, size int, req Request) (Result, error) {
	return ApplyFile(ctx, File{R: strings.NewReader(text), Size: int64(size), Units: span.Narrow, Encode: charsets[0].encode}, req)
}

func TestStreamEdits(t *testing.T) {
	for _, cs := range charsets {
		t.Run(cs.name, func(t *testing.T) {
			for _, c := range editCases {
				if c.rule != Exact || cs.units != span.Narrow && !utf8.ValidString(c.text) {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					got, _, err := cs.edit(cs.file(c.text), c.request(), 1)
					c.check(t, cs.text(got), Exact, err)
				})
			}
		})
	}
}

// text is a file of the charset as text.
func (c charset) text(file []byte) string {
	file = bytes.TrimPrefix(file, []byte(c.mark))
	if c.units == span.Narrow {
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
		}
		got, found, err := cs.edit(cs.file(text), req, rapid.SampledFrom([]int{1, 16, 64, 4096}).Draw(t, "chunk"))
		want, wantErr := Apply(text, req)
		if _, rule, _ := naiveLocate(text, req); rule != Exact && req.Old != req.New {
			wantErr = &NoMatchError{}
		}
		if failure(err) != failure(wantErr) {
			t.Fatalf("stream %v, text %v", err, wantErr)
		}
		if err != nil {
			return
		}
		if cs.text(got) != want.Patch(text) || len(found.Splices) != len(want.Splices) {
			t.Fatalf("stream %q (%d), text %q (%d)", cs.text(got), len(found.Splices), want.Patch(text), len(want.Splices))
		}
	})
}

func TestStreamCountsAllAndKeepsSome(t *testing.T) {
	text := strings.Repeat("needle and hay\n", 100000)
	req := Request{Old: "needle", New: "x", ReplaceAll: true, Most: 7}
	_, err := editIn(context.Background(), text, len(text), req)
	var many *TooManyError
	if !errors.As(err, &many) || *many != (TooManyError{100000, 7}) {
		t.Errorf("replacing some of all: %v", err)
	}
	req.Most = 100000
	res, err := editIn(context.Background(), text, len(text), req)
	if err != nil || len(res.Splices) != 100000 || res.Splices[6].Start != 6*15 {
		t.Errorf("%d %v", len(res.Splices), err)
	}
	req.ReplaceAll = false
	_, err = editIn(context.Background(), text, len(text), req)
	var e *AmbiguousError
	if !errors.As(err, &e) || describe(e) != "100000 at 1 2 3 4 5 6 7 8 9 10" {
		t.Errorf("%+v", err)
	}
}

func TestStreamStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	req := Request{Old: "needle", New: "x"}
	if _, err := editIn(ctx, "hay", 3, req); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := editIn(context.Background(), "hay", 9, req); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("shorter than it was: %v", err)
	}
}

func TestFileFitsItsEncoding(t *testing.T) {
	unencodable := errors.New("unencodable")
	cs := charset{units: span.Narrow, encode: func(string) ([]byte, error) { return nil, unencodable }}
	if _, _, err := cs.edit(nil, Request{Old: "é"}, 1); !errors.Is(err, unencodable) {
		t.Errorf("unencodable: %v", err)
	}
	if _, _, err := (charset{units: span.Narrow, encode: charsets[2].encode}).edit(nil, Request{Old: "e"}, 1); failure(err) == "none" {
		t.Error("UTF-16 with units of 1 byte")
	}
	if _, _, err := (charset{units: span.WideLittle, encode: charsets[0].encode}).edit(nil, Request{Old: "e"}, 1); failure(err) == "none" {
		t.Error("UTF-8 with units of 2 bytes")
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

func ExampleApplyFile() {
	log := "first\r\nsecond\r\n"
	f := File{
		R: strings.NewReader(log), Size: int64(len(log)), Units: span.Narrow,
		Encode: func(s string) ([]byte, error) { return []byte(s), nil },
	}
	res, _ := ApplyFile(context.Background(), f, Request{Old: "second", New: "2nd\n3rd"})
	fmt.Printf("%d %d %q\n", res.Splices[0].Start, res.Splices[0].End, res.Splices[0].New)
	// Output: 7 13 "2nd\r\n3rd"
}
