package lsp

import (
	"encoding/json"
	"fmt"
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
		if got := words(problemsOf(json.RawMessage(raw), 10, same)); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	long := problemsOf(json.RawMessage(`[{"message":"`+strings.Repeat("ä", 100_000)+`"}]`), 10, same)
	if n := len([]rune(long[0].message)); n != maxWords+1 {
		t.Errorf("%d characters", n)
	}
	many := `{"severity":2,"message":"w"},`
	if got := words(problemsOf(json.RawMessage("["+strings.Repeat(many, 50)+`{"message":"e"}]`), 3, same)); got != "1 0:0  e; 2 0:0  w; 2 0:0  w" {
		t.Errorf("%s", got)
	}
}

// BenchmarkFlood reads 50,000 diagnostics of one file.
func BenchmarkFlood(b *testing.B) {
	one := `{"range":{"start":{"line":1,"character":1},"end":{"line":1,"character":2}},"severity":1,"message":"a problem of a flood"},`
	raw := json.RawMessage("[" + strings.TrimSuffix(strings.Repeat(one, 50_000), ",") + "]")
	b.ReportAllocs()
	for b.Loop() {
		problemsOf(raw, maxPerFile, func(s string) string { return s })
	}
}
