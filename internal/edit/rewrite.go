package edit

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/edit/likeness"
)

// A rewriting is old text as it may have been meant, and what was wrong then.
type rewriting struct{ text, why string }

// lineNumbers is old text without the line numbers of an answer of Read, or of
// similar tools. Every line but the first and blank ones must have one.
func lineNumbers(old string) []rewriting {
	lines, forms := splitLines(old, true)
	numbered := 0
	for i, line := range lines {
		rest, ok := cutNumber(line)
		switch {
		case ok:
			numbered++
			lines[i] = rest
		case i > 0 && strings.TrimSpace(line) != "":
			return nil
		}
	}
	if numbered == 0 {
		return nil
	}
	var b strings.Builder
	for i, line := range lines {
		b.WriteString(line)
		if i < len(forms) {
			b.WriteString(forms[i])
		}
	}
	return []rewriting{{b.String(), "line numbers are left in: the file's lines begin after the number and its separator"}}
}

// cutNumber takes the number and its separator off a line.
func cutNumber(line string) (rest string, ok bool) {
	digits := strings.TrimLeft(line, " ")
	rest = strings.TrimLeft(digits, "0123456789")
	if len(rest) == len(digits) {
		return line, false
	}
	for _, sep := range []string{"\t", "→", ": ", ":", "| ", "|"} {
		if after, ok := strings.CutPrefix(rest, sep); ok {
			return after, true
		}
	}
	return line, false
}

// escapes is old text with escapes in place of characters, and the other way
// round. Only what differs from old text is listed.
func escapes(old string) []rewriting {
	var ways []rewriting
	add := func(text, why string) {
		if text != old {
			ways = append(ways, rewriting{text, why})
		}
	}
	if text, escape, char := unescapeUnicode(old); text != old {
		add(text, fmt.Sprintf("old_string has the escape %s where the file has the character %s", escape, likeness.Printable(char)))
	}
	for _, digits := range []string{"%04x", "%04X"} {
		if text, escape, char := escapeUnicode(old, digits); text != old {
			add(text, fmt.Sprintf("old_string has the character %s where the file has the escape %s", likeness.Printable(char), escape))
		}
	}
	const backslashes = "old_string has backslash escapes where the file has the characters themselves"
	const characters = "old_string has characters where the file has backslash escapes for them"
	add(strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\"`, `"`, `\'`, "'", `\\`, `\`).Replace(old), backslashes)
	add(strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(old), backslashes)
	add(strings.NewReplacer("\r\n", `\n`, "\n", `\n`, "\t", `\t`, `"`, `\"`, `\`, `\\`).Replace(old), characters)
	add(strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(old), characters)
	add(html.UnescapeString(old), "old_string has HTML entities where the file has the characters themselves")
	const entities = "old_string has characters where the file has HTML entities for them"
	add(html.EscapeString(old), entities)
	add(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(old), entities)
	return ways
}

// unescapeUnicode puts characters for \uXXXX and \u{X}, surrogate pairs
// included, and hands over the first it replaced.
func unescapeUnicode(s string) (text, escape, char string) {
	var b strings.Builder
	at := 0
	for i := strings.Index(s, `\u`); i >= 0; {
		r, n := unicodeEscape(s[i:])
		if n > 0 {
			b.WriteString(s[at:i])
			b.WriteRune(r)
			at = i + n
			if escape == "" {
				escape, char = s[i:at], string(r)
			}
		}
		next := max(at, i+2)
		if i = strings.Index(s[next:], `\u`); i >= 0 {
			i += next
		}
	}
	b.WriteString(s[at:])
	return b.String(), escape, char
}

// unicodeEscape is the character that the escape at the front of s stands for
// and the escape's length, which is 0 if there is none.
func unicodeEscape(s string) (r rune, n int) {
	if digits, ok := strings.CutPrefix(s, `\u{`); ok {
		digits, _, ok = strings.Cut(digits[:min(len(digits), 7)], "}")
		if r = hex(digits); !ok || !utf8.ValidRune(r) {
			return 0, 0
		}
		return r, len(`\u{}`) + len(digits)
	}
	r, n = unicodeUnit(s)
	if n > 0 && utf16.IsSurrogate(r) {
		low, m := unicodeUnit(s[n:])
		r, n = utf16.DecodeRune(r, low), n+m
		if m == 0 || r == utf8.RuneError {
			return 0, 0
		}
	}
	return r, n
}

// unicodeUnit is one \uXXXX at the front of s.
func unicodeUnit(s string) (r rune, n int) {
	const length = len(`\uXXXX`)
	if len(s) < length || !strings.HasPrefix(s, `\u`) {
		return 0, 0
	}
	if r = hex(s[2:length]); r < 0 {
		return 0, 0
	}
	return r, length
}

// hex is a hexadecimal number, or -1.
func hex(digits string) rune {
	n, err := strconv.ParseUint(digits, 16, 24)
	if err != nil {
		return -1
	}
	return rune(n)
}

// escapeUnicode puts \uXXXX for every character outside ASCII, and hands over
// the first it replaced.
func escapeUnicode(s, digits string) (text, escape, char string) {
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		e := ""
		for _, u := range utf16.Encode([]rune{r}) {
			e += `\u` + fmt.Sprintf(digits, u)
		}
		if escape == "" {
			escape, char = e, string(r)
		}
		b.WriteString(e)
	}
	return b.String(), escape, char
}
