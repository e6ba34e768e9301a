package fsys

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Printable makes a name safe to show: control, bidi, tag and zero-width
// characters and bytes that are no UTF-8 come out as escapes. A clean name is
// returned as it is.
func Printable(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, unshowable) < 0 {
		return s
	}
	var b strings.Builder
	for at := 0; at < len(s); {
		r, size := utf8.DecodeRuneInString(s[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[at])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case deceives(r) && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case unshowable(r):
			fmt.Fprintf(&b, `\u{%04x}`, r)
		default:
			b.WriteRune(r)
		}
		at += size
	}
	return b.String()
}

// InSentence returns a name as it stands in a sentence that a model reads: as
// Printable has it, and with nothing that would end the name or make it a tag.
// Escaped are double quotes, a closing parenthesis at the end, and < if a / or
// "system-reminder" follows. It holds for titles and other names in files, too.
func InSentence(name string) string {
	name = Printable(name)
	if !strings.ContainsAny(name, `"<`) && !strings.HasSuffix(name, ")") {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c == '<' && beginsTag(name[i+1:]):
			b.WriteString("&lt;")
			continue
		case c == '"', c == ')' && i == len(name)-1:
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

// beginsTag reports whether a tag that fsmcp writes may follow a <, or the end of
// any tag.
func beginsTag(rest string) bool {
	const reminder = "system-reminder"
	rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	return strings.HasPrefix(rest, "/") || len(rest) >= len(reminder) && strings.EqualFold(rest[:len(reminder)], reminder)
}

// unshowable reports a character that is not shown as it is: it deceives, or has
// no width and would hide in a name.
func unshowable(r rune) bool {
	return deceives(r) || r == 0x200B || r == 0x2060 || r == 0xFEFF
}

// deceives reports a character that moves, hides or reorders text around it:
// controls, line and paragraph separators, bidi controls, Unicode tags.
func deceives(r rune) bool {
	switch {
	case r < 0x80:
		return r < 0x20 || r == 0x7F
	case r == 0x061C, r == 0x200E, r == 0x200F, r >= 0x2028 && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return true
	case r >= 0xE0000 && r <= 0xE007F:
		return true
	}
	return unicode.IsControl(r)
}

// newNameFault returns what is wrong with names for new files or folders, "" if nothing is:
// control, bidi and tag characters, bytes that are not UTF-8, only dots (or text that
// folds to dots).
func newNameFault(names []string) string {
	for _, name := range names {
		switch {
		case !utf8.ValidString(name):
			return "is not valid UTF-8"
		case strings.IndexFunc(name, deceives) >= 0:
			return "contains control, bidi or tag characters"
		case isDots(name):
			return "contains a name of nothing but dots"
		}
	}
	return ""
}

func isDots(segment string) bool {
	return segment != "" && strings.Trim(norm.NFKC.String(segment), ".") == ""
}
