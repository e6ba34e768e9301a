package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
)

// Visible writes s so that a reader can tell what looks alike: a tab is →, a
// blank ·, a carriage return ␍, a line feed ␊; other spaces, control characters
// and characters that print nothing are <U+NNNN>, bytes that are no character
// \xNN.
func Visible(s string) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/2)
	for i, r := range s {
		switch {
		case r == '\t':
			b.WriteString("→")
		case r == ' ':
			b.WriteString("·")
		case r == '\r':
			b.WriteString("␍")
		case r == '\n':
			b.WriteString("␊")
		case r == utf8.RuneError && span.IsStray(s[i:]):
			fmt.Fprintf(&b, `\x%02X`, s[i])
		case !unicode.IsGraphic(r) || unicode.IsSpace(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
