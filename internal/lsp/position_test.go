package lsp

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkEdits applies the changes of a text one after the other, as a server does, and
// compares the places of both texts.
func checkEdits(t *testing.T, old, now string) {
	t.Helper()
	for _, enc := range []encoding{utf8Units, utf16Units} {
		edits, steps := editsOf(old, now, enc)
		got := old
		for _, s := range steps {
			got = applied(got, s, enc)
		}
		if got != now {
			t.Fatalf("%s: %q to %q: the server has %q after %+v", enc, old, now, got, steps)
		}
		was, is := indexLines(old), indexLines(now)
		for off := range old {
			p := was.position(off, enc)
			if old[off] != '\n' && offsetOf(old, p, enc) != off { // a place between CR and LF has no position
				t.Fatalf("%s: %q: byte %d is at %v, which is byte %d", enc, old, off, p, offsetOf(old, p, enc))
			}
			q, lines := shifted(p, edits)
			if lines > 0 {
				continue
			}
			if at := offsetOf(now, q, enc); !strings.HasPrefix(now[at:], firstOf(old[off:])) {
				t.Fatalf("%s: %q to %q: %v becomes %v, which is %q", enc, old, now, p, q, now[at:])
			}
		}
		if end := is.position(len(now), enc); offsetOf(now, end, enc) != len(now) {
			t.Fatalf("%s: the end of %q is %v", enc, now, end)
		}
	}
}

// firstOf returns the first character; of the end of a line nothing, as its kind may differ.
func firstOf(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return strings.Trim(s[:size], "\r\n")
}

func TestEditsOf(t *testing.T) {
	for _, c := range [][2]string{
		{"", ""}, {"", "a"}, {"a", ""}, {"a\n", "a"}, {"a", "a\n"}, {"a\r\nb\r\n", "a\r\nx\r\nb\r\n"},
		{"a\rb\r", "a\rx\rb\r"}, {"😀x\nä\n", "😀y\nä\n"}, {"x😀", "x😀😀"}, {"a\nb\nc", "c\nb\na"}, {"\n\n\n", "\n\n"},
		{"a\r\n", "a\n"}, {"a\n", "a\r\n"}, {"a\r", "a\r\n"},
		{"x\n" + strings.Repeat("a\nb\n", 300) + "y\n", "x\n" + strings.Repeat("c\nb\n", 299) + "cc\nbb\ny\n"}, // more places than are sent
	} {
		checkEdits(t, c[0], c[1])
	}
}

// Random texts of a few lines, with all line ends and with characters of each width.
func TestRandomEdits(t *testing.T) {
	pieces := []string{"a", "b", "\n", "\r\n", "\r", "ä", "€", "😀", "x = 1", "\n\n", "\t"}
	r := rand.New(rand.NewPCG(1, 2))
	text := func(n int) (s string) {
		for range n {
			s += pieces[r.IntN(len(pieces))]
		}
		return s
	}
	for range 5_000 {
		head, tail := text(r.IntN(12)), text(r.IntN(12))
		checkEdits(t, head+text(r.IntN(5))+tail, head+text(r.IntN(5))+tail)
	}
}

func FuzzEditsOf(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n")
	f.Add("😀\r\nx", "😀\rx")
	f.Fuzz(func(t *testing.T, old, now string) {
		if utf8.ValidString(old) && utf8.ValidString(now) && len(old)+len(now) < 10_000 {
			checkEdits(t, old, now)
		}
	})
}

func TestURIs(t *testing.T) {
	for _, path := range []string{"/w/a.go", "/w/a b/ä%#?.go", "/w/x:y.go"} {
		if got, ok := pathOf(uriOf(path)); !ok || got != path {
			t.Errorf("%q: %q, %v", path, got, ok)
		}
	}
	for uri, want := range map[string]string{
		"file:///w/a%20b.go": "/w/a b.go", "file:///w/%F0%9F%98%80.go": "/w/😀.go", "file:///w/../x.go": "/x.go",
		"http://h/w/a.go": "", "untitled:x": "", "file://host/a": "", "file:a": "", "file:///a%00b": "", "\x00": "",
	} {
		if got, ok := pathOf(uri); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v", uri, got, ok)
		}
	}
}
