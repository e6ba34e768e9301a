package changes

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

func decoded(t testing.TB, s string) *text.Doc {
	t.Helper()
	d, err := text.Decode([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A diff numbers gone lines as they were and new ones as they are.
func TestOf(t *testing.T) {
	for _, c := range []struct{ name, old, now, want string }{
		{"nothing", "a\nb\n", "a\nb\n", ""},
		{"a line replaced", "a\nb\nc\n", "a\nB\nc\n", "-2\tb\n+2\tB"},
		{"lines after one that is gone", "a\nb\nc\nd\n", "b\nc\nD\n", "-1\ta\n-4\td\n+3\tD"},
		{"emptied", "a\nb\n", "", "-1\ta\n-2\tb"},
		{"no newline at the end", "a\nb\n", "a\nb", "-2\tb\n+2\tb\n" + sameLooks},
		{"CRLF to LF", "a\r\nb\r\n", "a\nb\n", "-1\ta\n-2\tb\n+1\ta\n+2\tb\n" + sameLooks},
		{"CR", "a\rb\rc\r", "a\rB\rc\r", "-2\tb\n+2\tB"},
		{"stray bytes", "a\nb\n", "a\nb\n\xff odd\n", "+3\t\\xFF odd"},
	} {
		d := Of(decoded(t, c.old), decoded(t, c.now))
		if body, ok := d.Whole(); body != c.want || !ok {
			t.Errorf("%s: %q %v, want %q", c.name, body, ok, c.want)
		}
	}
}

// The splices of a diff make the new bytes of the old ones, and what it shows in whole
// are those that it puts in: for texts at random, with line ends of all kinds.
func TestSplicesMakeTheNewText(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	for i := range 3000 {
		end := []string{"\n", "\r\n", "\r"}[i%3]
		random := func() string {
			var b strings.Builder
			for range rng.IntN(12) {
				b.WriteString([]string{"a", "b", "ü", "", "\t c"}[rng.IntN(5)])
				if rng.IntN(20) > 0 {
					b.WriteString(end)
				} else {
					b.WriteString("\n")
				}
			}
			return b.String()
		}
		was, is := random(), random()
		d := Of(decoded(t, was), decoded(t, is))
		if got := span.Apply([]byte(was), d.Splices); string(got) != is {
			t.Fatalf("seed %d: %q to %q: the splices make %q", seed, was, is, got)
		}
		_, shown, more := d.First()
		if put := (span.Set{}).Through(d.Splices, true); more > 0 || len(put) != len(shown) || put.Len() != shown.Len() {
			t.Fatalf("seed %d: %q to %q: shows %v, puts in %v", seed, was, is, shown, put)
		}
		added, removed := d.Counts()
		if body, _ := d.Whole(); added != strings.Count("\n"+body, "\n+") || removed != strings.Count("\n"+body, "\n-") {
			t.Fatalf("seed %d: %d added and %d removed in %q", seed, added, removed, body)
		}
	}
}

// Of a long change the first lines are shown, and the others counted.
func TestALongDiffIsCut(t *testing.T) {
	old, now := &strings.Builder{}, &strings.Builder{}
	for i := range 100 {
		fmt.Fprintf(old, "line %d\n", i)
		fmt.Fprintf(now, "LINE %d\n", i)
	}
	d := Of(decoded(t, old.String()), decoded(t, now.String()))
	body, shown, more := d.First()
	if strings.Count(body, "\n") != mostLines-1 || more != 200-mostLines || shown != nil {
		t.Errorf("%d lines, %d more, shown %v", strings.Count(body, "\n")+1, more, shown)
	}
	if _, ok := d.Whole(); ok {
		t.Error("it counts as whole")
	}
	body, all := Since([]byte(old.String()), []byte(now.String()), text.Encoding{})
	if all || !strings.HasSuffix(body, "\n… (140 more changed lines; read the file to see them)") {
		t.Errorf("%v %q", all, body)
	}
}

// Of texts above the bound only the beginning and the end of the difference is found.
func TestLargeTextsAreComparedByTheirEnds(t *testing.T) {
	lines := strings.Repeat("a line of some text\n", comparedBytes/40)
	was, is := lines+"one\n"+lines+"two\n"+lines, lines+"ONE\n"+lines+"TWO\n"+lines
	d := Of(decoded(t, was), decoded(t, is))
	if len(d.Splices) != 1 || string(span.Apply([]byte(was), d.Splices)) != is {
		t.Errorf("%d splices", len(d.Splices))
	}
	if got := Summary(was, is); got != "(The diff is left out: the text is too large.)" {
		t.Errorf("%q", got)
	}
}

// A file that another program brought into UTF-8 is not shown in its old charset.
func TestARecodedFileIsNotShownInItsOldCharset(t *testing.T) {
	latin := decoded(t, "sch\xf6ne Gr\xfc\xdfe an alle\n")
	if latin.Enc.IsUTF8() {
		t.Fatal(latin)
	}
	if diff, ok := Since(latin.Raw, []byte("schöne Grüße an alle\n"), latin.Enc); ok {
		t.Errorf("%s", diff)
	}
}

func TestUnified(t *testing.T) {
	for _, c := range []struct{ name, old, now, want string }{
		{"nothing", "a\n", "a\n", ""},
		{"a line replaced", "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c"},
		{"line endings alone", "a\r\nb\r\n", "a\nb\n", "Line endings changed from CRLF to LF."},
		{"line endings and more", "a\nb\n", "a\r\nc\r\n", "Line endings changed from LF to CRLF.\n@@ -1,2 +1,2 @@\n a\n-b\n+c"},
	} {
		if got := Summary(c.old, c.now); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	u := UnifiedOf("a\nb\nc\n", "x\ny\nz\nw\n")
	if added, removed := u.Counts(); added != 4 || removed != 3 {
		t.Errorf("%d added, %d removed", added, removed)
	}
	if got := u.WithoutPlaces().First(2, 100); got != "-a\n-b\n… 5 more diff lines (4 added, 1 removed)" {
		t.Errorf("%q", got)
	}
	if got := u.First(100, 20); got != "@@ -1,3 +1,4 @@\n-a\n… 6 more diff lines (4 added, 2 removed)" {
		t.Errorf("%q", got)
	}
}

// A patch names both files and has every line.
func TestPatch(t *testing.T) {
	if got := Patch("a/f", "b/f", "one\n", "two\n"); got != "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+two\n" {
		t.Errorf("%q", got)
	}
}

// The region after an edit shows four lines on each side, and stays within its bytes.
func TestRegion(t *testing.T) {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	d := decoded(t, b.String())
	at := int64(strings.Index(d.Text, "line 10"))
	splices := []span.Splice{{Start: at, End: at + 7, New: []byte("ten")}}
	want := "6\tline 6\n7\tline 7\n8\tline 8\n9\tline 9\n10\tten\n11\tline 11\n12\tline 12\n13\tline 13\n14\tline 14"
	if got, lines := Region(d, splices, 0); got != want || d.Text[lines.Start:lines.End] != d.Text[strings.Index(d.Text, "line 6\n"):strings.Index(d.Text, "line 15\n")] {
		t.Errorf("%q %v", got, lines)
	}
	joined := []span.Splice{{Start: at + 6, End: at + 8}}
	if got, lines := Region(d, joined, 0); !strings.HasSuffix(got, "10\tline 1line 11\n11\tline 12\n12\tline 13\n13\tline 14") || lines.End != int64(strings.Index(d.Text, "line 15")) {
		t.Errorf("%q %v", got, lines)
	}
	if got, _ := Region(d, splices, RegionRoom); len(got) > leastRoom+3 || !strings.Contains(got, "10\tten") {
		t.Errorf("%q", got)
	}
	// Of a later place in the region the new text is shown, also where it reaches beyond.
	for _, later := range []string{"line 12", "line 14\nline 15", "line 14\n"} {
		from := int64(strings.Index(d.Text, later))
		both := append(splices, span.Splice{Start: from, End: from + int64(len(later)), New: []byte("new")})
		if got, _ := Region(d, both, 0); strings.Contains(got, later) || strings.Contains(got, "line 14\nline") || !strings.Contains(got, "\tnew") {
			t.Errorf("%q: %q", later, got)
		}
	}
	one := decoded(t, strings.Repeat("z", 2000)+"a b a"+strings.Repeat("z", 2000))
	if got, _ := Region(one, []span.Splice{{Start: 2000, End: 2001, New: []byte("X")}, {Start: 2004, End: 2005, New: []byte("Y")}}, 0); !strings.Contains(got, "X b Y") {
		t.Errorf("%q", got)
	}
	long := decoded(t, strings.Repeat("ü", 4000)+"\n")
	if got, lines := Region(long, []span.Splice{{Start: 4000, End: 4002, New: []byte("x")}}, 0); len(got) > RegionRoom || !strings.HasPrefix(got, "1\t…") || !strings.HasSuffix(got, "…") || lines.Len() > 0 {
		t.Errorf("%q %v", got, lines)
	}
}

// What is shown of a file grows to whole lines where they are short.
func TestShowAllAndFragments(t *testing.T) {
	d := decoded(t, "one\ntwo three\nfour\n"+strings.Repeat("x", 2000)+"\n")
	spans := span.Set{{Start: 8, End: 13}, {Start: 1019, End: 1021}}
	body, shown := ShowAll(d, spans)
	if body != "2\ttwo three\n(line 4 from column 1001)\n4\txx" || fmt.Sprint(shown) != "[{4 14} {1019 1021}]" {
		t.Errorf("%q %v", body, shown)
	}
	if got := Fragments(d, spans); got != "(line 2 from column 5)\n2\tthree\n(line 4 from column 1001)\n4\txx" {
		t.Errorf("%q", got)
	}
}

// Of each line one row is shown, of a long one a row for each match; whole lines count as shown.
func TestMatches(t *testing.T) {
	long := strings.Repeat("ü", 200)
	d := decoded(t, "a x x\r\nb\r\n"+long+"x"+long+"\r\nx")
	var places []span.Span
	for at := 0; ; at++ {
		i := strings.Index(d.Text[at:], "x")
		if i < 0 {
			break
		}
		at += i
		places = append(places, span.Span{Start: int64(at), End: int64(at + 1)})
	}
	body, shown := Matches(d, places)
	side := strings.Repeat("ü", 59)
	if want := "1\ta x x\n3\t…" + side + "x" + side + "…\n4\tx"; body != want {
		t.Errorf("%q, not %q", body, want)
	}
	if len(shown) != 2 || shown[0] != (span.Span{End: 7}) || shown[1].Len() != 1 {
		t.Errorf("%v", shown)
	}
}
