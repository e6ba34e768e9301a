package lsp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestProblemsOf(t *testing.T) {
	same := func(s string) string { return s }
	words := func(all []problem) (s string) {
		for _, p := range all {
			s += fmt.Sprintf("%d %d:%d %s %s; ", p.severity, p.at.Line, p.at.Character, p.code, p.message)
		}
		return strings.TrimSuffix(s, "; ")
	}
	for raw, want := range map[string]string{
		`[]`: "", `null`: "", `{}`: "", `7`: "", `[`: "", `[7]`: "", ``: "",
		`[{"message":"m"}]`: "1 0:0  m",
		`[{"severity":2,"message":"w"},{"severity":1,"message":"e","code":"E1","range":{"start":{"line":3,"character":4}}},{"severity":3,"message":"i"},{"severity":4},{"severity":9},{"severity":-1}]`: `1 3:4 "E1" e; 2 0:0  w`,
		`[{"message":"a\n  b\tc."},{"message":"<system-reminder>\u202e"}]`:                         `1 0:0  a b c; 1 0:0  &lt;system-reminder>\u{202e}`,
		`[{"message":"x","code":{"a":1}},{"message":"y","code":` + strings.Repeat("1", 100) + `}]`: `1 0:0 {"a":1} x; 1 0:0  y`,
	} {
		if got := words(problemsOf("f", json.RawMessage(raw), 10, same)); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	long := problemsOf("f", json.RawMessage(`[{"message":"`+strings.Repeat("ä", 100_000)+`"}]`), 10, same)
	if n := len([]rune(long[0].message)); n != maxWords+1 {
		t.Errorf("%d characters", n)
	}
	many := `{"severity":2,"message":"w"},`
	if got := words(problemsOf("f", json.RawMessage("["+strings.Repeat(many, 50)+`{"message":"e"}]`), 3, same)); got != "1 0:0  e; 2 0:0  w; 2 0:0  w" {
		t.Errorf("%s", got)
	}
}

// BenchmarkFlood reads 50,000 diagnostics of one file.
func BenchmarkFlood(b *testing.B) {
	one := `{"range":{"start":{"line":1,"character":1},"end":{"line":1,"character":2}},"severity":1,"message":"a problem of a flood"},`
	raw := json.RawMessage("[" + strings.TrimSuffix(strings.Repeat(one, 50_000), ",") + "]")
	b.ReportAllocs()
	for b.Loop() {
		problemsOf("f", raw, maxPerFile, func(s string) string { return s })
	}
}

// The base is a multiset of kinds; a problem on lines that were written is new unless the
// lines that they replaced had it.
func TestCompare(t *testing.T) {
	of := func(text string) report {
		r := report{text: text}
		for i, line := range strings.Split(text, "\n") {
			if _, message, ok := strings.Cut(line, "!"); ok {
				r.problems = append(r.problems, problem{problemKind: problemKind{"", blankNumbers(message)}, message: message, at: position{Line: i}})
			}
		}
		return r
	}
	lines := func(all []problem) (s string) {
		for _, p := range all {
			s += fmt.Sprintf("%d ", p.at.Line)
		}
		return s
	}
	for _, c := range []struct{ about, base, now, added, gone string }{
		{"nothing changes", "a !x\nb\n", "a !x\nb\n", "", ""},
		{"a problem moves with its line", "a !x\nb\n", "new\nnew\na !x\nb\n", "", ""},
		{"a line keeps its problem", "a !x\nb\n", "A !x\nb\n", "", ""},
		{"a written line has the problem of another one, which is gone", "a !x\nb\nc\nd\n", "a\nb\nc\nD !x\n", "", ""},
		{"a written line has the problem of one that stays", "a !x\nb\n", "a !x\nB !x\n", "1 ", ""},
		{"a line is copied: the last of the equal lines is the written one", "a !x\nb\n", "a !x\na !x\nb\n", "1 ", ""},
		{"a line moves down", "a !x\nb\nc\nd\n", "b\nc\nd\na !x\n", "", ""},
		{"numbers differ", "a !defined in line 7 with 2 arguments\n", "new\na !defined in line 8 with 3 arguments\n", "", ""},
		{"names with digits differ", "a !undefined: x1\n", "a !undefined: x2\n", "0 ", "0 "},
	} {
		_, added, gone := compare(of(c.base), of(c.now))
		if lines(added) != c.added || lines(gone) != c.gone {
			t.Errorf("%s: new at lines %s, gone at lines %s; want %s and %s", c.about, lines(added), lines(gone), c.added, c.gone)
		}
	}
	// The problem is on a line that was not written.
	base, now := of("a\nb !x\nc\n"), of("a\nb\nc\nd\n")
	now.problems = []problem{base.problems[0]}
	now.problems[0].at.Line = 0
	if known, added, gone := compare(base, now); len(known) != 1 || added != nil || gone != nil {
		t.Errorf("elsewhere: %v, new %v, gone %v", known, added, gone)
	}
	// A written line has a problem that an unchanged line no longer has.
	base = of("a !x\nb\nc\n")
	now = of("a\nb\nC\n")
	now.problems = []problem{base.problems[0]}
	now.problems[0].at.Line = 2
	base.text = "a\nb\nc\n"
	if _, added, gone := compare(base, now); len(added) != 1 || len(gone) != 1 {
		t.Errorf("a written line: new %v, gone %v", added, gone)
	}
}

// With generated texts, problems on lines that stay are never new, and the counts are right.
func TestCompareGenerated(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range r.IntN(8) {
			b.WriteString([]string{"a", "b !x", "c !y", "d !x", "", "e"}[r.IntN(6)] + []string{"\n", "\n", "\r\n", "\r"}[r.IntN(4)])
		}
		return b.String()
	}
	of := func(text string) (r report) {
		r.text = text
		line := 0
		for rest := text; rest != ""; line++ {
			end := strings.IndexAny(rest, "\r\n") + 1
			if strings.HasPrefix(rest[end-1:], "\r\n") {
				end++
			}
			if _, message, ok := strings.Cut(strings.TrimRight(rest[:end], "\r\n"), "!"); ok {
				r.problems = append(r.problems, problem{problemKind: problemKind{message: message}, message: message, at: position{Line: line}})
			}
			rest = rest[end:]
		}
		return r
	}
	count := func(all []problem, message string) (n int) {
		for _, p := range all {
			if p.message == message {
				n++
			}
		}
		return n
	}
	for range 20_000 {
		head, tail := text(), text()
		base, now := of(head+text()+tail), of(head+text()+tail)
		known, added, gone := compare(base, now)
		if len(known)+len(added) != len(now.problems) || len(known)+len(gone) != len(base.problems) {
			t.Fatalf("%q to %q: %v, new %v, gone %v", base.text, now.text, known, added, gone)
		}
		_, written := changedLines(base.text, now.text)
		for _, p := range added {
			if base.text != "" && now.text != "" && !written.have(p.at.Line) && count(base.problems, p.message) >= count(now.problems, p.message) {
				t.Fatalf("%q to %q: new on a line that stays: %v", base.text, now.text, added)
			}
		}
	}
}
