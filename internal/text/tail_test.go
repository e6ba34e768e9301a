package text

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/text/charset"
)

// TestTailIsThePlainTail compares the last lines that a Scan finds from the end backwards with
// those of the decoded text, for generated texts in all kinds of encodings and line endings.
func TestTailIsThePlainTail(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 9))
	words := map[charset.Charset][]string{
		charset.UTF8: {"", "a", "zwölf Boxkämpfer", "日本語のテキスト", strings.Repeat("long ", 40), "\u2028x", "a\rb"},
	}
	for _, set := range []charset.Charset{charset.UTF16LE, charset.UTF16BE} {
		words[set] = []string{"", "a", "\u0a0d\u0d0a", "ਊ中", strings.Repeat("x", 50), "a\rb"}
	}
	tried := 0
	for set, lines := range words {
		for range 300 {
			eol := []string{"\n", "\r\n", "\r"}[random.IntN(3)]
			var b strings.Builder
			n := 1 + random.IntN(60)
			for i := range n {
				line := lines[random.IntN(len(lines))]
				if eol == "\r" {
					line = strings.ReplaceAll(line, "\r", "")
				}
				b.WriteString(line)
				if i < n-1 || random.IntN(2) == 0 {
					b.WriteString(eol)
				}
			}
			enc := charset.Encoding{Set: set, Mark: set != charset.UTF8 || random.IntN(4) == 0}
			raw, err := enc.Encode(b.String())
			if err != nil {
				t.Fatal(err)
			}
			doc, err := Decode(raw)
			if err != nil || doc.Text == "" {
				continue
			}
			last := 1 + random.IntN(n+3)
			want := doc.Page(max(1, doc.Lines()-last+1), 0, 0)
			s, err := newScan(context.Background(), bytes.NewReader(raw), int64(len(raw)), 2+2*random.IntN(40), 16, 4)
			if err != nil {
				t.Fatal(err)
			}
			for _, countFor := range []time.Duration{-1, time.Minute} { // found backwards, and counted
				line, err := s.Tail(context.Background(), bytes.NewReader(raw), last, countFor)
				if err != nil {
					t.Fatal(err)
				}
				got, err := s.Page(context.Background(), bytes.NewReader(raw), line, 0, 0, countFor)
				if err != nil {
					t.Fatal(err)
				}
				if got.Shown != want.Shown || !bytes.Equal(got.Raw, want.Raw) || got.Unended != want.Unended || got.More {
					t.Fatalf("%v %q, last %d, line %d: shown %v, want %v", set, b.String(), last, line, got.Shown, want.Shown)
				}
				if line > 0 && !bytes.Equal(got.Body, want.Body) {
					t.Fatalf("%v %q, last %d: %q, want %q", set, b.String(), last, got.Body, want.Body)
				}
				if line < 0 {
					if begin := fmt.Sprintf("(%d)\t", -last); !bytes.HasPrefix(got.Body, []byte(begin)) || got.First != -last || got.Last != -1 {
						t.Fatalf("%q, last %d: %q, %d-%d", b.String(), last, got.Body, got.First, got.Last)
					}
					tried++
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d tails were found from the end", tried)
	}
}
