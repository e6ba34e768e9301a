package edit

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/similar"
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
func escapes(old, text string) []rewriting {
	var ways []rewriting
	add := func(text, why string) {
		if text != old {
			ways = append(ways, rewriting{text, why})
		}
	}
	unescaped, escape, char := unescapeUnicode(old)
	add(unescaped, fmt.Sprintf("old_string has the escape %s where the file has the character %s", escape, similar.Printable(char)))
	for _, digits := range []string{"%04x", "%04X"} {
		if escaped, escape, char := escapeUnicode(old, digits); strings.Contains(text, escape) {
			add(escaped, fmt.Sprintf("old_string has the character %s where the file has the escape %s", similar.Printable(char), escape))
		}
	}
	for _, way := range []struct {
		pairs []string
		why   string
	}{
		{[]string{`\n`, "\n", `\t`, "\t", `\r`, "\r", `\"`, `"`, `\'`, "'", `\\`, `\`}, backslashes},
		{[]string{`\"`, `"`, `\\`, `\`}, backslashes},
		{[]string{"\r\n", `\n`, "\n", `\n`, "\t", `\t`, `"`, `\"`, `\`, `\\`}, noBackslashes},
		{[]string{`"`, `\"`, `\`, `\\`}, noBackslashes},
		{[]string{"&", "&amp;", "<", "&lt;", ">", "&gt;"}, noEntities},
	} {
		add(strings.NewReplacer(way.pairs...).Replace(old), way.why)
	}
	add(html.EscapeString(old), noEntities)
	add(html.UnescapeString(old), "old_string has HTML entities where the file has the characters themselves")
	return ways
}

const (
	backslashes   = "old_string has backslash escapes where the file has the characters themselves"
	noBackslashes = "old_string has characters where the file has backslash escapes for them"
	noEntities    = "old_string has characters where the file has HTML entities for them"
)

// unescapeUnicode puts characters for \uXXXX and \u{X}, surrogate pairs
// included, and hands over the first it replaced.
func unescapeUnicode(s string) (text, escape, char string) {
	escapes := regexp.MustCompile(`\\u\{[0-9a-fA-F]{1,6}\}|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}`)
	text = escapes.ReplaceAllStringFunc(s, func(e string) string {
		r := unescape(e)
		if escape == "" {
			escape, char = e, r
		}
		return r
	})
	return text, escape, char
}

// unescape is the character that an escape stands for.
func unescape(escape string) (char string) {
	if digits, ok := strings.CutPrefix(escape, `\u{`); ok {
		code, _ := strconv.ParseUint(strings.TrimSuffix(digits, "}"), 16, 32)
		return string(rune(code))
	}
	_ = json.Unmarshal([]byte(`"`+escape+`"`), &char) // JSON has the same escapes
	return char
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
		for _, u := range utf16.AppendRune(nil, r) {
			e += fmt.Sprintf(`\u`+digits, u)
		}
		if escape == "" {
			escape, char = e, string(r)
		}
		b.WriteString(e)
	}
	return b.String(), escape, char
}
