package glob

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestFoldEveryCharacter folds each character alone: the fold is a fixed point,
// equal for all cases of a letter, and no separator or dots come out of it.
func TestFoldEveryCharacter(t *testing.T) {
	for r := rune(1); r <= utf8.MaxRune; r++ {
		if r == '/' || !utf8.ValidRune(r) {
			continue
		}
		s := string(r)
		f := FoldStrict(s)
		if FoldStrict(f) != f {
			t.Errorf("%U folds to %q and that to %q", r, f, FoldStrict(f))
		}
		if strings.Contains(f, "/") || f == "" || f != s && strings.Trim(f, ".") == "" {
			t.Errorf("%U folds to %q", r, f)
		}
		if r != '\\' && strings.Contains(f, `\`) {
			t.Errorf("%U folds to %q", r, f)
		}
		for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
			if FoldText(string(o)) != FoldText(s) {
				t.Errorf("%U and %U fold apart", r, o)
			}
		}
	}
}

func TestFoldPaths(t *testing.T) {
	for in, want := range map[string]string{
		"/A/b":               "/a/b",
		"/\u2024\u2024/x":    "/\u2024\u2024/x", // would be ".."
		"/.\u200b/x":         "/.\u200b/x",      // would be "."
		"/\u200b/x":          "/\u200b/x",       // would be nothing
		"/\u2024git":         "/.git",
		"/a\u2100B":          "/a\u2100b", // holds a slash inside
		"/\xffA":             "/\xffA"[:2] + "a",
		"/\u00c9/E\u0301":    "/\u00e9/\u00e9",
		"/\u0130":            "/i\u0307",
		"/\u0131":            "/\u0131", // the dotless i is a letter of its own
		"/\u212a":            "/k",
		"/\u00ad.\u00adenv":  "/.env",
		"/\u1f80":            "/\u1f00\u03b9",
		"/\ufeff.e\ufe0fnv/": "/.env/",
	} {
		if got := FoldStrict(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if strings.Count(FoldStrict(in), "/") != strings.Count(in, "/") {
			t.Errorf("%q folds to another number of segments", in)
		}
	}
}
