package text

import (
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/span"
)

func doc(t testing.TB, raw string) *Doc {
	t.Helper()
	d, err := Decode([]byte(raw))
	if err != nil {
		t.Fatalf("%v: %.60q", err, raw)
	}
	return d
}

func TestPage(t *testing.T) {
	for _, c := range []struct {
		name, raw             string
		first, limit, maxBody int
		body                  string
		last                  int
		shown                 span.Span
		more                  bool
	}{
		{"all", "a\nb\n", 1, 0, 0, "1\ta\n2\tb", 2, span.Span{Start: 0, End: 4}, false},
		{"offset 0 is 1", "a\nb\n", 0, 0, 0, "1\ta\n2\tb", 2, span.Span{Start: 0, End: 4}, false},
		{"no final newline", "a\nb", 1, 0, 0, "1\ta\n2\tb", 2, span.Span{Start: 0, End: 3}, false},
		{"window", "a\nb\nc\nd\n", 2, 2, 0, "2\tb\n3\tc", 3, span.Span{Start: 2, End: 6}, true},
		{"empty lines", "\n\nx\n\n", 1, 0, 0, "1\t\n2\t\n3\tx\n4\t", 4, span.Span{Start: 0, End: 5}, false},
		{"crlf", "a\r\nb\r\n", 1, 0, 0, "1\ta\n2\tb", 2, span.Span{Start: 0, End: 6}, false},
		{"mixed", "a\r\nb\nc\r\n", 2, 1, 0, "2\tb", 2, span.Span{Start: 3, End: 5}, true},
		{"lone CR stays beside LF", "a\rb\nc\n", 1, 0, 0, "1\ta\rb\n2\tc", 2, span.Span{Start: 0, End: 6}, false},
		{"CR alone ends lines", "a\rb\r", 1, 0, 0, "1\ta\n2\tb", 2, span.Span{Start: 0, End: 4}, false},
		{"CRCRLF", "a\r\r\nb", 1, 0, 0, "1\ta\r\n2\tb", 2, span.Span{Start: 0, End: 5}, false},
		{"bom belongs to line 1", "\xEF\xBB\xBFa\nb", 1, 1, 0, "1\ta", 1, span.Span{Start: 0, End: 5}, true},
		{"bom not to line 2", "\xEF\xBB\xBFa\nb", 2, 1, 0, "2\tb", 2, span.Span{Start: 5, End: 6}, false},
		{"bom alone", "\xEF\xBB\xBF", 1, 0, 0, "", 0, span.Span{Start: 0, End: 3}, false},
		{"utf-16", "\xFF\xFEa\x00\r\x00\n\x00\xE9\x00", 1, 0, 0, "1\ta\n2\té", 2, span.Span{Start: 0, End: 10}, false},
		{"utf-16, second line", "\xFF\xFEa\x00\r\x00\n\x00\xE9\x00", 2, 0, 0, "2\té", 2, span.Span{Start: 8, End: 10}, false},
		{"stray", "one two three \xFF\xFF four\nx", 1, 0, 0, "1\tone two three \\xFF\\xFF four\n2\tx", 2, span.Span{Start: 0, End: 23}, false},
		{"maxBody fits exactly", "aaa\nbbb\nccc\n", 1, 0, 11, "1\taaa\n2\tbbb", 2, span.Span{Start: 0, End: 8}, true},
		{"maxBody stops before", "aaa\nbbb\nccc\n", 1, 0, 10, "1\taaa", 1, span.Span{Start: 0, End: 4}, true},
		{"maxBody, last line", "aaa\nbbb", 1, 0, 11, "1\taaa\n2\tbbb", 2, span.Span{Start: 0, End: 7}, false},
		{"first line too long", "aaaaaaaaaa\nb\n", 1, 0, 5, "", 0, span.Span{}, true},
		{"last line too long", "b\naaaaaaaaaa", 2, 0, 5, "", 0, span.Span{}, true},
		{"stray makes it too long", "text\xE9 with a stray byte\n", 1, 0, 25, "", 0, span.Span{}, true},
		{"past the end", "a\nb\n", 3, 0, 0, "", 0, span.Span{}, false},
		{"past the end without newline", "a\nb", 3, 0, 0, "", 0, span.Span{}, false},
		{"empty", "", 1, 0, 0, "", 0, span.Span{}, false},
	} {
		d := doc(t, c.raw)
		p := d.Page(c.first, c.limit, c.maxBody)
		if string(p.Body) != c.body || p.Last != c.last || p.Shown != c.shown || p.More != c.more || p.Total != d.Lines() {
			t.Errorf("%s: %q last %d shown %v more %v total %d", c.name, p.Body, p.Last, p.Shown, p.More, p.Total)
		}
		checkPage(t, c.name, p)
		if c.maxBody > 0 && len(p.Body) > c.maxBody {
			t.Errorf("%s: %d bytes, more than %d", c.name, len(p.Body), c.maxBody)
		}
	}
}

// checkPage asserts what holds for every page.
func checkPage(t *testing.T, name string, p Page) {
	t.Helper()
	if p.First == 0 {
		if p.Body != nil || p.Ends != nil {
			t.Errorf("%s: lines in a page without any: %+v", name, p)
		}
		return
	}
	n := p.Last - p.First + 1
	if len(p.Ends) != n {
		t.Fatalf("%s: %d lines, %d ends", name, n, len(p.Ends))
	}
	if p.Ends[n-1] != len(p.Body) {
		t.Errorf("%s: ends %d of %d", name, p.Ends[n-1], len(p.Body))
	}
	start := 0
	for i, e := range p.Ends {
		if !strings.HasPrefix(string(p.Body[start:e]), fmt.Sprintf("%d\t", p.First+i)) {
			t.Errorf("%s: line %d begins %.20q", name, p.First+i, p.Body[start:e])
		}
		start = e + 1
	}
}

func TestNumbersGrow(t *testing.T) {
	d := doc(t, strings.Repeat("x\n", 12345))
	p := d.Page(1, 0, 0)
	for i, line := range strings.Split(string(p.Body), "\n") {
		if line != fmt.Sprintf("%d\tx", i+1) {
			t.Fatalf("line %d: %q", i+1, line)
		}
	}
	w := &window{s: strings.Repeat("y\n", 30), eol: '\n', whole: true}
	var q Page
	w.take(&q, 99999985, 0, 0)
	for i, line := range strings.Split(string(q.Body), "\n") {
		if line != fmt.Sprintf("%d\ty", 99999985+i) {
			t.Fatalf("line %d: %q", i, line)
		}
	}
}

func TestColumnPage(t *testing.T) {
	for _, c := range []struct {
		name, raw             string
		line, column, maxBody int
		body                  string
		shown                 span.Span
		next                  int
		cut, more             bool
	}{
		{"whole line", "abc\ndef\n", 2, 1, 0, "2\tdef", span.Span{Start: 4, End: 8}, 0, false, false},
		{"from column 2", "abc\ndef\n", 1, 2, 0, "1\tbc", span.Span{Start: 1, End: 4}, 0, false, true},
		{"cut", "abcdef\n", 1, 1, 5, "1\tabc", span.Span{Start: 0, End: 3}, 4, true, true},
		{"goes on", "abcdef\n", 1, 4, 5, "1\tdef", span.Span{Start: 3, End: 7}, 0, false, false},
		{"never within a character", "aé日x", 1, 1, 6, "1\taé", span.Span{Start: 0, End: 3}, 3, true, true},
		{"code points count", "aé日x", 1, 3, 0, "1\t日x", span.Span{Start: 3, End: 7}, 0, false, false},
		{"at least one", "日本", 1, 1, 3, "1\t日", span.Span{Start: 0, End: 3}, 2, true, true},
		{"empty line", "a\n\nb", 2, 1, 0, "2\t", span.Span{Start: 2, End: 3}, 0, false, true},
		{"bom", "\xEF\xBB\xBFabc", 1, 1, 4, "1\tab", span.Span{Start: 0, End: 5}, 3, true, true},
		{"crlf", "abc\r\nx", 1, 3, 0, "1\tc", span.Span{Start: 2, End: 5}, 0, false, true},
		{"stray is one column", "xyz some more \xFF\xFF text", 1, 15, 11, "1\t\\xFF\\xFF ", span.Span{Start: 14, End: 17}, 18, true, true},
		{"utf-16", "\xFF\xFEa\x00=\xD8\x00\xDEb\x00", 1, 2, 7, "1\t😀b", span.Span{Start: 4, End: 10}, 0, false, false},
		{"past the line", "abc\n", 1, 4, 0, "", span.Span{}, 0, false, false},
		{"no such line", "abc\n", 2, 1, 0, "", span.Span{}, 0, false, false},
	} {
		p := doc(t, c.raw).ColumnPage(c.line, c.column, 0, c.maxBody)
		if string(p.Body) != c.body || p.Shown != c.shown || p.NextColumn != c.next || p.Cut != c.cut || p.More != c.more {
			t.Errorf("%s: %q shown %v next %d cut %v more %v", c.name, p.Body, p.Shown, p.NextColumn, p.Cut, p.More)
		}
		checkPage(t, c.name, p)
	}
}

// limit counts code points, whatever more there is room for.
func TestColumnPageLimit(t *testing.T) {
	for _, c := range []struct {
		raw                    string
		column, limit, maxBody int
		body                   string
		next                   int
	}{
		{"abcdef\n", 2, 3, 0, "1\tbcd", 5},
		{"abcdef\n", 2, 5, 0, "1\tbcdef", 0},
		{"abcdef\n", 2, 99, 0, "1\tbcdef", 0},
		{"abcdef\n", 1, 4, 5, "1\tabc", 4},
		{"aé日😀x", 2, 3, 0, "1\té日😀", 5},
		{"xyz some more \xFF\xFF text", 14, 2, 0, "1\t \\xFF", 16},
	} {
		p := doc(t, c.raw).ColumnPage(1, c.column, c.limit, c.maxBody)
		if string(p.Body) != c.body || p.NextColumn != c.next || p.Cut != (c.next > 0) {
			t.Errorf("%q from %d, %d: %q next %d", c.raw, c.column, c.limit, p.Body, p.NextColumn)
		}
		checkPage(t, c.raw, p)
	}
}

func TestEOLName(t *testing.T) {
	for raw, want := range map[string]string{
		"": "", "a": "", "a\nb": "", "a\r\nb": "CRLF", "a\r\nb\nc": "CRLF and LF", "a\rb": "CR", "a\rb\n": "", "a\rb\r\n": "CRLF",
	} {
		if got := doc(t, raw).EOL.Name(); got != want {
			t.Errorf("%q: %q", raw, got)
		}
	}
}

func TestNotice(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{"plain\ttext\r\nénd 日本 “x” — z\n", ""},
		{"a\rb\rc", ""},
		{"\uFEFF\u00a0\u00ad\u2028 ok", ""},
		{"a\x1b[0m\nb\n\x07\n", "Note: control characters (1 ESC): 2 (lines 1, 3)."},
		{"a\n\x7f", "Note: control characters: 1 (line 2)."},
		{"a\rb\nc", "Note: control characters (1 lone CR): 1 (line 1)."},
		{"a\u0085\u009bb", "Note: control characters: 2 (line 1)."},
		{"if x {\u202e} // \u2066\n", "Note: bidirectional overrides: 2 (line 1)."},
		{"hi\U000E0041\U000E0042\n\U000E007F", "Note: invisible Unicode tag characters: 3 (lines 1, 2)."},
		{"stray bytes in a text: \xFF and\n\xFE more", `Note: bytes that are no character, shown as \xNN: 2 (lines 1, 2).`},
		{strings.Repeat("\x01\n", 9), "Note: control characters: 9 (lines 1, 2, 3, 4, 5, ...)."},
		{"\x01\u202a 日本", "Note: control characters: 1 (line 1); bidirectional overrides: 1 (line 1)."},
	} {
		if got := doc(t, c.raw).Page(1, 0, 0).Notice; got != c.want {
			t.Errorf("%q: %q", c.raw, got)
		}
	}
	if got := doc(t, "\x01\n\x02\nx\n\x03\n").Page(2, 2, 0).Notice; got != "Note: control characters: 1 (line 2)." {
		t.Errorf("a page's notice is about its lines: %q", got)
	}
	if got := doc(t, "abc\x02def").ColumnPage(1, 5, 0, 0).Notice; got != "" {
		t.Errorf("a column page's notice is about its part: %q", got)
	}
}

// The fast search must find what one that looks at each character finds.
func TestNextOddAgainstSlow(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	pieces := append([]string{"\x1b", "\r", "\r\n", "\x7f", "ÂÂâó", "\u2029", "\u2069", "\u009f", "\u00a0", "\u200b", "\u200c", "\u200d", "\u2060", "\u2061", "\ufeff", "\ufefe", "，", "ﻻ"}, utf8Pieces...)
	for i := range 3000 {
		s := randomText(r, r.Intn(60), pieces)
		strays := i%2 == 0
		if strays && s != "" {
			b := []byte(s)
			b[r.Intn(len(b))] = byte(r.Intn(256))
			s = string(b)
		}
		cr := i%3 == 0
		var want, got [][3]int
		for j := 0; j < len(s); {
			kind, n := oddAt([]byte(s[j:]), cr)
			if kind != plain {
				want = append(want, [3]int{j, int(kind), n})
			}
			j += n
		}
		for at, kind, n := nextOdd([]byte(s), 0, strays, cr); kind != plain; at, kind, n = nextOdd([]byte(s), at+n, strays, cr) {
			got = append(got, [3]int{at, int(kind), n})
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %v, want %v", s, got, want)
		}
		simple := len(want) == 0 && strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0 && !strings.Contains(s, "\r")
		if fast := plainASCII([]byte(s), strings.Count(s, "\n")); fast != simple && !strays && !strings.Contains(s, "\r") {
			t.Fatalf("%q: plain %v, want %v", s, fast, simple)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		s    string
		from int
		want string
	}{
		{"a\nb\n", 9, "9\ta\n10\tb"},
		{"a\r\nb", 1, "1\ta\n2\tb"},
		{"a\rb", 1, "1\ta\n2\tb"},
		{"", 1, ""},
		{"\n", 1, "1\t"},
		{"x\xFFy", 1, `1	x\xFFy`},
	} {
		if got := string(CountEOL(c.s).Number(c.s, c.from)); got != c.want {
			t.Errorf("%q: %q", c.s, got)
		}
	}
	if got := string(EOL{LF: 2}.Number("a\rb", 1)); got != "1\ta\rb" {
		t.Errorf("lone CR of a file with LF: %q", got)
	}
}

func TestVisible(t *testing.T) {
	const s = "a\tb c\r\n\u00a0\u200b\u202e\x1b\xFF日“é"
	const want = `a→b·c␍␊<U+00A0><U+200B><U+202E><U+001B>\xFF日“é`
	if got := Visible(s); got != want {
		t.Errorf("%s", got)
	}
}
