package text

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
)

// EscapeFrame returns a text as it stands within what fsmcp writes around the cells
// of a notebook and the pages of a PDF: with a backslash before whatever imitates
// that, so that no file can end its own cell or begin another one's. What counts
// is `<cell id=`, `</cell`, `Output:` alone on a line, `--- page N of M ---` and
// `(Cells `, also with other blanks or in other case.
func EscapeFrame(text string) string {
	b := span.BytesOf(text)
	if nextImitation(b, 0) == len(b) {
		return text
	}
	return stringOf(EscapeFrameFrom(bytes.Clone(b), 0))
}

// EscapeFrameFrom does so with b from a place on, and returns b, which may have moved.
func EscapeFrameFrom(b []byte, from int) []byte {
	at := nextImitation(b[from:], 0) + from
	if at == len(b) {
		return b
	}
	text := bytes.Clone(b[from:])
	b = b[:at]
	for at -= from; at < len(text); {
		next := nextImitation(text, at+1)
		b = append(append(b, '\\'), text[at:next]...)
		at = next
	}
	return b
}

// nextImitation is where the next part of a frame begins, or the text's end.
func nextImitation(b []byte, at int) int {
	for ; at < len(b); at++ {
		imitates := false
		switch b[at] {
		case '<':
			imitates = isCellTag(b[at+1:])
		case '-':
			imitates = at+2 < len(b) && b[at+1] == '-' && b[at+2] == '-' && isPageLine(b[at+3:])
		case '(':
			imitates = isWord(b[at+1:], "cells ")
		case 'O':
			imitates = isWord(b[at+1:], "utput:") && isOutputLine(b, at)
		}
		if imitates {
			break
		}
	}
	return at
}

// isCellTag reports whether a cell begins or ends behind a <.
func isCellTag(b []byte) bool {
	if b = skipBlanks(b); len(b) > 0 && b[0] == '/' {
		return isWord(skipBlanks(b[1:]), "cell")
	}
	if !isWord(b, "cell") {
		return false
	}
	name := skipBlanks(b[len("cell"):])
	if len(name) == len(b)-len("cell") || !isWord(name, "id") {
		return false
	}
	behind := skipBlanks(name[len("id"):])
	return len(behind) > 0 && behind[0] == '='
}

// isPageLine reports whether a page begins, behind its first dashes.
func isPageLine(b []byte) bool {
	for _, part := range []string{"page", "", "of", "", "---"} {
		b = skipBlanks(b)
		switch {
		case part == "":
			rest := bytes.TrimLeft(b, "0123456789")
			if len(rest) == len(b) {
				return false
			}
			b = rest
		case !isWord(b, part):
			return false
		default:
			b = b[len(part):]
		}
	}
	return true
}

// isOutputLine reports whether nothing but an "Output:" at a place is on its line.
func isOutputLine(b []byte, at int) bool {
	last, before := utf8.DecodeLastRune(bytes.TrimRightFunc(b[:at], isBlank))
	next, behind := utf8.DecodeRune(skipBlanks(b[at+len("Output:"):]))
	return (before == 0 || breaksLine(last)) && (behind == 0 || breaksLine(next))
}

func skipBlanks(b []byte) []byte {
	if len(b) > 0 && b[0] > ' ' && b[0] < utf8.RuneSelf {
		return b
	}
	return bytes.TrimLeftFunc(b, isBlank)
}

// isBlank reports a character that shows nothing and ends no line.
func isBlank(r rune) bool {
	return !breaksLine(r) && (unicode.IsSpace(r) || unicode.Is(unicode.Cf, r))
}

func breaksLine(r rune) bool {
	return r >= '\n' && r <= '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// isWord reports whether b begins with an ASCII word, in upper or lower case.
func isWord(b []byte, word string) bool {
	return len(b) >= len(word) && bytes.EqualFold(b[:len(word)], []byte(word))
}
