package fsys

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Unescaped reverses Printable and InSentence, for a caller that repeats a name as an answer
// showed it. ok says that the name holds such an escape.
func Unescaped(name string) (literal string, ok bool) {
	if !strings.ContainsAny(name, `\&`) {
		return name, false
	}
	var b strings.Builder
	for rest := name; rest != ""; {
		if size, text := escapeAt(rest); size > 0 {
			b.WriteString(text)
			rest, ok = rest[size:], true
			continue
		}
		b.WriteByte(rest[0])
		rest = rest[1:]
	}
	return b.String(), ok
}

// escapeAt reads the escape that s begins with; its size is 0 if there is none.
func escapeAt(s string) (size int, text string) {
	const tag, codePoint = "&lt;", `\u{`
	switch {
	case strings.HasPrefix(s, tag):
		return len(tag), "<"
	case strings.HasPrefix(s, `\n`):
		return 2, "\n"
	case strings.HasPrefix(s, `\t`):
		return 2, "\t"
	case strings.HasPrefix(s, `\"`), strings.HasPrefix(s, `\)`):
		return 2, s[1:2]
	case strings.HasPrefix(s, `\x`) && len(s) >= 4:
		if n, err := strconv.ParseUint(s[2:4], 16, 8); err == nil {
			return 4, string([]byte{byte(n)})
		}
	case strings.HasPrefix(s, codePoint):
		digits, _, closed := strings.Cut(s[len(codePoint):], "}")
		if n, err := strconv.ParseUint(digits, 16, 21); err == nil && closed && utf8.ValidRune(rune(n)) {
			return len(codePoint) + len(digits) + 1, string(rune(n))
		}
	}
	return 0, ""
}
