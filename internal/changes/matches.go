package changes

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// matchChars bounds the characters of a line that Matches shows.
const matchChars = 120

// Matches shows the lines in which places of the file's text start, as numbered lines. Of a
// line longer than 120 characters it shows as much around each place, with marks where it is
// cut. The places ascend. shown are the file's bytes in lines that body shows whole.
func Matches(d *text.Doc, places []span.Span) (body string, shown span.Set) {
	l := LinesOf(d)
	number := l.Counter()
	var rows []string
	last := -1 // where the line begins that was shown last
	for _, p := range places {
		at := int(p.Start)
		head, after := l.Start(at), l.After(at)
		line := l.Text[head:after]
		switch plain := strings.TrimRight(line, "\r\n"); {
		case len(firstRunes(plain, matchChars)) < len(plain):
			rows = append(rows, fmt.Sprintf("%d\t%s", number.At(at), l.around(head, after, p)))
		case head != last:
			rows = append(rows, l.number(line, number.At(at)))
			shown = shown.Add(span.Span{Start: d.RawOffset(head), End: d.RawOffset(after)})
		}
		last = head
	}
	return strings.Join(rows, "\n"), shown
}

// around returns 120 characters of the line from head to after, around a place in it.
func (l Lines) around(head, after int, p span.Span) string {
	start, end := int(p.Start), min(int(p.End), after)
	match := utf8.RuneCountInString(firstRunes(strings.TrimRight(l.Text[start:end], "\r\n"), matchChars))
	side := (matchChars - match) / 2
	before := lastRunes(l.Text[head:start], side)
	rest := strings.TrimRight(l.Text[start:after], "\r\n")
	part := firstRunes(rest, match+side)
	b := text.Escape(before) + text.Escape(part)
	if len(before) < start-head {
		b = cutMark + b
	}
	if len(part) < len(rest) {
		b += cutMark
	}
	return b
}

// firstRunes returns at most n characters from the start of s.
func firstRunes(s string, n int) string {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return s[:at]
}

// lastRunes returns at most n characters from the end of s.
func lastRunes(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s[at:]
}

// LastLines shows the last two lines of a text as numbered lines, or the last one, if they fit
// in room bytes. shown are their bytes in the file.
func LastLines(d *text.Doc, room int) (body string, shown span.Set) {
	l := LinesOf(d)
	for n := 2; n > 0 && d.Text != ""; n-- {
		from := l.back(l.Start(len(l.Text)-1), n-1)
		if body = l.number(l.Text[from:], l.at(from)); len(body) <= room {
			return body, span.Set{}.Add(span.Span{Start: d.RawOffset(from), End: int64(len(d.Raw))})
		}
	}
	return "", nil
}

// Line returns line n of a text as a range of it with its line break; n counts from 1. Behind
// the last line it is one byte beyond the text, where nothing starts.
func (l Lines) Line(n int) span.Span {
	at := 0
	for ; n > 1 && at < len(l.Text); n-- {
		at = l.After(at)
	}
	if at == len(l.Text) {
		return span.Span{Start: int64(at), End: int64(at) + 1}
	}
	return span.Span{Start: int64(at), End: int64(l.After(at))}
}
