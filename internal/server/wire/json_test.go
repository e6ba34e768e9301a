package wire

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAppendStringIsReadBackAsWritten(t *testing.T) {
	for _, s := range []string{
		"", "plain", "\t\n\r\"\\/", "\x00\x01\x1f\x7f", "<a href=\"x\">&</a>", "–—‘’“”…",
		"\u2027\u2028\u2029\u202a", "\u2028", "世界😀", strings.Repeat("\u2029x", 9),
	} {
		got := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != s {
			t.Errorf("%q became %s, %q (%v)", s, got, back, err)
		}
		if strings.ContainsAny(string(got), "\u2028\u2029\n") {
			t.Errorf("%s ends a line for somebody", got)
		}
	}
	if got := string(AppendString(nil, "<>&")); got != `"<>&"` {
		t.Errorf("escaped without need: %s", got)
	}
}

// Eight bytes at a time or one: what has to be escaped is found at every place.
func TestAppendStringAtEveryPlace(t *testing.T) {
	for _, odd := range []string{"", "\"", "\\", "\n", "\x1f", "\x7f", "\u2028", "\u2029", "\u2014", "é", "\x80", "\xe2", "\xe2\x80", "\"\u2028\\"} {
		for before := range 20 {
			s := strings.Repeat("p", before) + odd + strings.Repeat(" ~", 6)
			var back string
			if err := json.Unmarshal(AppendString(nil, s), &back); err != nil || back != strings.ToValidUTF8(s, "\uFFFD") {
				t.Errorf("%q became %q (%v)", s, back, err)
			}
		}
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\xffb\xe2\x80")
	f.Add("\xe2\x80\xa8")
	f.Fuzz(func(t *testing.T, s string) {
		var back string
		if err := json.Unmarshal(AppendString(nil, s), &back); err != nil {
			t.Fatal(err)
		}
		if utf8.ValidString(s) && back != s {
			t.Fatalf("%q became %q", s, back)
		}
	})
}

func TestAppendUnescaped(t *testing.T) {
	for in, want := range map[string]string{
		`"\u003cb\u003e \u0026"`: `"<b> &"`,
		`"\\u003c"`:              `"\\u003c"`,
		`"\\\u003c"`:             `"\\<"`,
		`"\u003C \u003d"`:        `"\u003C \u003d"`,
		`"\n\u0026`:              `"\n&`,
		`\`:                      `\`,
		`"\\\\u0026 \\\\\u0026"`: `"\\\\u0026 \\\\&"`,
	} {
		if got := string(appendUnescaped(nil, []byte(in))); got != want {
			t.Errorf("%s became %s, not %s", in, got, want)
		}
	}
}

// What appendJSON writes means the same as what encoding/json writes.
func TestAppendJSONKeepsMeaning(t *testing.T) {
	alphabet := []rune(`<>&\u03c"` + "\n\u2028ü")
	for range 2000 {
		s := make([]rune, rand.IntN(12))
		for i := range s {
			s[i] = alphabet[rand.IntN(len(alphabet))]
		}
		var back string
		got := AppendJSON(nil, marshaler(s))
		if err := json.Unmarshal(got, &back); err != nil || back != string(s) {
			t.Fatalf("%q became %s", string(s), got)
		}
		if strings.Contains(string(s), "<") && strings.Contains(string(got), `\u003c`) != strings.Contains(string(s), `\u003c`) {
			t.Fatalf("%q became %s", string(s), got)
		}
	}
}

// marshaler escapes as mcp-go's types do.
type marshaler string

func (m marshaler) MarshalJSON() ([]byte, error) { return json.Marshal(string(m)) }
