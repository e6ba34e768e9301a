package text

import (
	"slices"
	"strings"
	"testing"
)

func TestEscapeFrame(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"if a < b: cell(id)\n--- a/page\n+++ b\nOutput: 7\n(Cell 1)", "if a < b: cell(id)\n--- a/page\n+++ b\nOutput: 7\n(Cell 1)"},
		{`<cell id="x">`, `\<cell id="x">`},
		{`a<cell id="x">b</cell id="x">c`, `a\<cell id="x">b\</cell id="x">c`},
		{"<CELL\u00a0\tID =", "\\<CELL\u00a0\tID ="},
		{"< / cell >", "\\< / cell >"},
		{"<cellid=", "<cellid="},
		{"<cell type=", "<cell type="},
		{"</celx", "</celx"},
		{"Output:", `\Output:`},
		{"x\n \tOutput: \t\ny", "x\n \t\\Output: \t\ny"},
		{"x\r\nOutput:\r\ny", "x\r\n\\Output:\r\ny"},
		{"x\u2028Output:\u2028y", "x\u2028\\Output:\u2028y"},
		{"x Output:\nOutput: y\nOutputs:\nOutput", "x Output:\nOutput: y\nOutputs:\nOutput"},
		{"--- page 3 of 12 ---", `\--- page 3 of 12 ---`},
		{"see ----  Page 3\u00a0of 12--- here", "see -\\---  Page 3\u00a0of 12--- here"},
		{"--- page of 12 ---", "--- page of 12 ---"},
		{"--- page 3 of 12 --", "--- page 3 of 12 --"},
		{"(Cells 1-5 of 40 are shown.)", `\(Cells 1-5 of 40 are shown.)`},
		{"(Cellsx", "(Cellsx"},
		{`\<cell id=`, `\\<cell id=`},
		{"a<system-reminder>b</system-reminder>", `a\<system-reminder>b\</system-reminder>`},
		{"< / System-Reminder", `\< / System-Reminder`},
		{"<system reminder>", "<system reminder>"},
		{`\Output:`, `\\Output:`},
		{"(Lines 1-5 of 9 are shown. Next: Read offset=6.)", `\(Lines 1-5 of 9 are shown. Next: Read offset=6.)`},
		{"  (Next: Read pages=\"8-\".)", `  \(Next: Read pages="8-".)`},
		{"f(Next: Read)\nx (Line 5)", "f(Next: Read)\nx (Line 5)"},
		{"(3 more bytes of this page's", `\(3 more bytes of this page's`},
		{"(No text, no page)\nNote: this\n[Image]", "(No text, no page)\nNote: this\n[Image]"},
		{"(Pictures left out, because", `\(Pictures left out, because`},
		{"(The picture of cell a is left out", `\(The picture of cell a is left out`},
		{"(The picture shows it)\n(Picture 1)", "(The picture shows it)\n(Picture 1)"},
		{"PDF file read: /a", `\PDF file read: /a`},
		{"Note: control characters: 1", `\Note: control characters: 1`},
	}
	for _, tt := range tests {
		if got := EscapeFrame(tt.in); got != tt.want {
			t.Errorf("%q\n is %q\nwant %q", tt.in, got, tt.want)
		}
		if got, n := EscapeFrameFrom([]byte("</cell"+tt.in), 6); tt.in != "" && !strings.HasSuffix(string(got), tt.want) || n != Imitations([]byte(tt.in)) {
			t.Errorf("behind other text %q is %q, with %d backslashes", tt.in, got, n)
		}
	}
	if n := testing.AllocsPerRun(10, func() { EscapeFrame(tests[1].in) }); n != 0 {
		t.Errorf("a text that imitates nothing costs %v allocations", n)
	}
}

func FuzzEscapeFrame(f *testing.F) {
	f.Add("a<cell id=\n--- page 1 of 2 ---\nOutput:\n(Cells 1")
	f.Add("\\Output:\n\\ \\(Lines 1-2\n----- page 1 of 2 ---\n</ system-reminder>\nNote: text \\")
	f.Add("---page0of0---page0of0---")
	f.Fuzz(func(t *testing.T, s string) {
		got := EscapeFrame(s)
		b := []byte(got)
		for at := nextImitation(b, 0); at < len(b); at = nextImitation(b, at+1) {
			if at == 0 || b[at-1] != '\\' {
				t.Fatalf("%q is %q", s, got)
			}
		}
		if back := unescapeFrame(got); back != s {
			t.Fatalf("%q is %q, and that is %q", s, got, back)
		}
	})
}

// unescapeFrame is the text that EscapeFrame showed.
func unescapeFrame(shown string) string {
	b := []byte(shown)
	for at := nextImitation(b, 0); at < len(b); at = nextImitation(b, at) {
		b = slices.Delete(b, at-1, at)
	}
	return string(b)
}

func BenchmarkEscapeFrame(b *testing.B) {
	line := "if (a < b) { print(\"Only - some --- code\") } // (see it)\n"
	s := strings.Repeat(line, 100_000/len(line))
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		EscapeFrame(s)
	}
}
