package fsys

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Printable makes a name safe to show: control, bidi and tag characters and
// bytes that are no UTF-8 come out as escapes. A clean name is returned as it is.
func Printable(s string) string {
	at := strings.IndexFunc(s, deceives)
	if bad := firstInvalid(s); at < 0 || bad >= 0 && bad < at {
		at = bad
	}
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:at])
	for at < len(s) {
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
		case deceives(r):
			fmt.Fprintf(&b, `\u{%04x}`, r)
		default:
			b.WriteRune(r)
		}
		at += size
	}
	return b.String()
}

// firstInvalid is the offset of the first byte that is no UTF-8, or -1.
func firstInvalid(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for at, r := range s {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(s[at:]); size == 1 {
			return at
		}
	}
	return -1
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

// CheckNewName refuses names that no file should be given: control, bidi and
// tag characters, bytes that are no UTF-8, and segments of nothing but dots (or
// of what folds to dots). It looks at every segment of the argument;
// Target.CheckNewNames looks only at those that would be made.
func (p Path) CheckNewName() error {
	kind, reason := newNameFault(p.name)
	for segment := range strings.SplitSeq(p.name, string(separator(p.windows))) {
		if kind == 0 && isDots(segment) {
			kind, reason = FaultDots, dotsReason
		}
	}
	if kind == 0 {
		return nil
	}
	return &PathError{Raw: p.given, Reason: reason, Kind: kind}
}

const dotsReason = "contains a name of nothing but dots"

func newNameFault(s string) (Fault, string) {
	if !utf8.ValidString(s) {
		return FaultEncoding, "is not valid UTF-8"
	}
	if strings.IndexFunc(s, deceives) >= 0 {
		return FaultInvisible, "contains control, bidi or tag characters"
	}
	return 0, ""
}

func isDots(segment string) bool {
	return segment != "" && strings.Trim(norm.NFKC.String(segment), ".") == ""
}
