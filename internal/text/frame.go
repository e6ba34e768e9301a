package text

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
)

// EscapeFrame returns a text in the form in which answers show the cells of a notebook and the
// pages of a PDF: with a backslash before each imitation of what fsmcp writes around them, so that no file can end its own cell, begin another one's or speak for fsmcp.
// What counts is `<cell id=`, `</cell`, `<system-reminder`, `</system-reminder`,
// `Output:` alone on a line, `--- page N of M ---`, `--- slide N of M ---`, `--- sheet ` and `(Cells `, and at the start of
// a line the openings of fsmcp's other sentences, also with other blanks; words also
// in other case. Without the backslash before each imitation it is the text again.
func EscapeFrame(text string) string {
	b := span.BytesOf(text)
	if nextImitation(b, 0) == len(b) {
		return text
	}
	b, _ = EscapeFrameFrom(bytes.Clone(b), 0)
	return stringOf(b)
}

// EscapeFrameFrom does so with b from a place on, and returns b, which may have moved, and
// the number of backslashes that were added.
func EscapeFrameFrom(b []byte, from int) (escaped []byte, n int) {
	at := nextImitation(b[from:], 0) + from
	if at == len(b) {
		return b, 0
	}
	text := bytes.Clone(b[from:])
	b = b[:at]
	for at -= from; at < len(text); n++ {
		next := nextImitation(text, at+1)
		b = append(append(b, '\\'), text[at:next]...)
		at = next
	}
	return b, n
}

// Imitations counts the parts of a frame that a text imitates.
func Imitations(b []byte) (n int) {
	for at := nextImitation(b, 0); at < len(b); at = nextImitation(b, at+1) {
		n++
	}
	return n
}

// openings begin the sentences of fsmcp on lines of their own in answers with
// cells or pages. # is a number.
var openings = []string{
	"(cell # of ", "(line #", "(lines #", "(page #", "(pages #", "(pages come", "(next: read ", "(ignored, because ",
	"(relative path: ", "(nothing bears ", "(encoding: ", "(line endings: ", "(no newline at ", "(partial: ", "(the numbers in brackets ", "(no text on this page",
	"(# more bytes of ", "(# picture", "(pictures left out", "(the picture of cell ", "(the pictures follow ", "(the document ", "(these pages ", "(as a document ",
	"office document read: ", "(the end of this document ", "(the picture of line #", "(pictures are not shown: ", "(the pictures of this document ",
	"(attached files", "(one answer has ", "(not read yet", "(the notebook has ", "[image: ", "pdf file read: ",
	"note: bidirectional ", "note: control characters", "note: invisible ", "note: zero-width ", "note: bytes ", "note: text ",
}

// nextImitation returns where the next imitation begins, or the end of the text.
func nextImitation(b []byte, at int) int {
	for ; at < len(b); at++ {
		imitates := false
		switch b[at] {
		case '<':
			imitates = isTag(b[at+1:])
		case '-':
			imitates = at+2 < len(b) && b[at+1] == '-' && b[at+2] == '-' && isPageLine(b[at+3:])
		case '(':
			imitates = isWord(b[at+1:], "cells ") || isOpening(b, at)
		case '[', 'N', 'P':
			imitates = isOpening(b, at)
		case 'O':
			imitates = isWord(b[at+1:], "utput:") && isOutputLine(b, at) || isOpening(b, at)
		}
		if imitates {
			break
		}
	}
	return at
}

// isOpening reports whether one of fsmcp's sentences begins at a place, which begins a line.
func isOpening(b []byte, at int) bool {
	return beginsLine(b, at) && slices.ContainsFunc(openings, func(o string) bool { return opens(b[at:], o) })
}

// opens reports whether b begins with an opening.
func opens(b []byte, opening string) bool {
	words, more, numbered := strings.Cut(opening, "#")
	if !isWord(b, words) {
		return false
	}
	if !numbered {
		return true
	}
	b = b[len(words):]
	rest := bytes.TrimLeft(b, "0123456789")
	return len(rest) < len(b) && isWord(rest, more)
}

// beginsLine reports whether only blanks and backslashes come before a place on its line.
// Backslashes are allowed so that an added one differs from one of the text.
func beginsLine(b []byte, at int) bool {
	for at > 0 && (b[at-1] == ' ' || b[at-1] == '\\') {
		at--
	}
	switch {
	case at == 0 || b[at-1] == '\n':
		return true
	case b[at-1] > ' ' && b[at-1] < utf8.RuneSelf:
		return false
	}
	last, before := utf8.DecodeLastRune(bytes.TrimRightFunc(b[:at], func(r rune) bool { return r == '\\' || isBlank(r) }))
	return before == 0 || breaksLine(last)
}

// isTag reports whether a reminder begins or ends behind a <, or a cell does.
func isTag(b []byte) bool {
	name := skipBlanks(b)
	if len(name) > 0 && name[0] == '/' {
		name = skipBlanks(name[1:])
	}
	return isWord(name, "system-reminder") || isCellTag(b)
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

// isPageLine reports whether a page, slide or sheet begins, behind its first dashes.
func isPageLine(b []byte) bool {
	kind := "page"
	switch first := skipBlanks(b); {
	case isWord(first, "sheet "):
		return true
	case isWord(first, "slide"):
		kind = "slide"
	}
	for _, part := range []string{kind, "", "of", "", "---"} {
		if b = skipBlanks(b); part == "---" { // where the next page may begin, with a backslash
			b = skipBlanks(bytes.TrimLeft(b, `\`))
		}
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
	next, behind := utf8.DecodeRune(skipBlanks(b[at+len("Output:"):]))
	return (behind == 0 || breaksLine(next)) && beginsLine(b, at)
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
