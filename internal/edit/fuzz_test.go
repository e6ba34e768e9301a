package edit

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/similar"
)

// FuzzApply holds any edit against what must be true of every edit, and small
// ones against the naive model.
func FuzzApply(f *testing.F) {
	for _, c := range editCases {
		f.Add(c.text, c.old, c.new, c.all, c.md)
	}
	f.Fuzz(func(t *testing.T, text, old, new string, all, keep bool) {
		if len(text)+len(old)+len(new) > 1<<20 {
			return
		}
		new = strings.ToValidUTF8(new, "?") // as the server makes sure
		req := Request{Old: old, New: new, ReplaceAll: all, KeepTrailing: keep}
		checkApply(t, text, req)
		if len(text) <= 200 && len(old) <= 50 && old != new {
			compareWithModel(t, text, req)
		}
	})
}

// FuzzNearest: hints stay small, name lines that exist and show no raw control
// characters.
func FuzzNearest(f *testing.F) {
	for _, c := range editCases {
		f.Add(c.text, c.old, c.new)
	}
	f.Fuzz(func(t *testing.T, text, old, new string) {
		h, ok := Nearest(text, old, new)
		if !ok {
			return
		}
		lines := 1 + max(strings.Count(text, "\n"), strings.Count(text, "\r"))
		if h.Line < 1 || h.Line+len(h.Lines)-1 > lines || len(h.Lines) == 0 || len(h.Lines) > 2*aroundRows+1 {
			t.Fatalf("%d lines from line %d of %d", len(h.Lines), h.Line, lines)
		}
		for _, s := range append(h.Lines, h.Given, h.Why) {
			// Each byte of a line may become "[U+10FFFF]" or a sign.
			if len(s) > 20*3*similar.ExcerptLen || !utf8.ValidString(s) || strings.ContainsAny(s, "\n\r\x00\x1b") {
				t.Fatalf("shows %q", s)
			}
		}
	})
}
