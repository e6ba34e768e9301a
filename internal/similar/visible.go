package similar

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
)

// The signs for what cannot be seen.
const (
	tabSign   = "→"
	blankSign = "·"
	crSign    = "␍"
	cutSign   = "…"
)

// ExcerptLen bounds the part of a line, in bytes, that a hint shows on either side of
// the place that matters.
const ExcerptLen = 80

// Excerpt returns the part of a line around a place, written with write, with marks
// where the line was cut.
func Excerpt(line string, at int, write func(string) string) string {
	from, to := max(0, at-ExcerptLen), min(len(line), at+ExcerptLen)
	if from < ExcerptLen/2 {
		from = 0
	}
	if len(line)-to < ExcerptLen/2 {
		to = len(line)
	}
	// A character is never cut; a run of stray bytes is none, and has no end.
	for n := 1; n < utf8.UTFMax && from > 0 && !utf8.RuneStart(line[from]); n++ {
		from--
	}
	for n := 1; n < utf8.UTFMax && to < len(line) && !utf8.RuneStart(line[to]); n++ {
		to++
	}
	s := write(line[from:to])
	if from > 0 {
		s = cutSign + s
	}
	if to < len(line) {
		s += cutSign
	}
	return s
}

// Visible returns s with signs for blanks and tabs and names for other characters
// that cannot be seen.
func Visible(s string) string {
	return strings.NewReplacer("\t", tabSign, " ", blankSign).Replace(Printable(s))
}

// Printable returns s with names for the characters that cannot be seen, blanks and
// tabs excepted.
func Printable(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\t' || r == ' ':
			b.WriteRune(r)
		case r == '\r':
			b.WriteString(crSign)
		case r == utf8.RuneError && span.IsStray(s[i:]):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case IsUnseen(r) || unicode.IsSpace(r):
			fmt.Fprintf(&b, "[U+%04X]", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// IsUnseen reports whether a character shows nothing, not even white space.
func IsUnseen(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Cc, r) && !unicode.IsSpace(r) ||
		unicode.Is(unicode.Variation_Selector, r)
}
