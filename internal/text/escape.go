package text

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
)

// Escape writes stray bytes as \xNN, as pages show them, and leaves the rest.
func Escape(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if r == utf8.RuneError && span.IsStray(s[i:]) {
			fmt.Fprintf(&b, `\x%02X`, s[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
