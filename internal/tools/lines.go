package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// lines answers questions of places in a text that is held in memory. Lines
// end as Read counts them: at LF, or at CR in a text without any LF.
type lines struct {
	text string
	eol  text.EOL
	end  byte
}

func linesOf(d *text.Doc) lines { return linesIn(d.Text, d.EOL) }

func linesIn(s string, eol text.EOL) lines {
	l := lines{text: s, eol: eol, end: '\n'}
	if eol.LF == 0 && eol.CRLF == 0 && eol.CR > 0 {
		l.end = '\r'
	}
	return l
}

// number shows a part of the text as numbered lines.
func (l lines) number(part string, first int) string { return string(l.eol.Number(part, first)) }

// at is the 1-based number of the line that holds the byte at off.
func (l lines) at(off int) int {
	return 1 + strings.Count(l.text[:min(off, len(l.text))], string(l.end))
}

// countedLines numbers ascending places without counting from the start again.
type countedLines struct {
	lines
	off, before int // so many line ends before off
}

func (c *countedLines) line(off int) int {
	if off < c.off {
		c.off, c.before = 0, 0
	}
	c.before += strings.Count(c.text[c.off:off], string(c.end))
	c.off = off
	return c.before + 1
}

// start is the offset at which the line around off begins.
func (l lines) start(off int) int { return strings.LastIndexByte(l.text[:off], l.end) + 1 }

// after is the offset behind the line around off, its ending included.
func (l lines) after(off int) int {
	if i := strings.IndexByte(l.text[off:], l.end); i >= 0 {
		return off + i + 1
	}
	return len(l.text)
}

// back goes n lines back from the start of a line.
func (l lines) back(start, n int) int {
	for ; n > 0 && start > 0; n-- {
		start = l.start(start - 1)
	}
	return start
}

// forward goes n lines on from the start of a line.
func (l lines) forward(start, n int) int {
	for ; n > 0 && start < len(l.text); n-- {
		start = l.after(start)
	}
	return start
}

// longLine is the number of bytes from which a line is shown in part.
const longLine = 500

// show renders the text offsets [start, end) as numbered lines: whole lines
// where they are short, else just that part with its first column. It returns
// the offsets that the answer really shows.
func (l lines) show(start, end int) (body string, from, to int) {
	from, to = start, end
	if at := l.start(start); start-at <= longLine {
		from = at
	}
	if end > start && l.text[end-1] != l.end {
		if at := l.after(end); at-end <= longLine {
			to = at
		}
	}
	first := l.at(from)
	numbered := l.number(l.text[from:to], first)
	if head := l.start(from); head < from {
		column := utf8.RuneCountInString(l.text[head:from]) + 1
		return fmt.Sprintf("(line %d from column %d)\n%s", first, column, numbered), from, to
	}
	return numbered, from, to
}

// showAll renders several raw spans and returns what of them was shown.
func showAll(d *text.Doc, spans span.Set) (string, span.Set) {
	l := linesOf(d)
	var parts []string
	var shown span.Set
	at := -1
	for _, s := range spans {
		start, end := max(d.TextOffset(s.Start), at), d.TextOffset(s.End)
		if start >= end {
			shown = shown.Add(s) // a byte order mark, or within what is shown already
			continue
		}
		body, from, to := l.show(start, end)
		parts = append(parts, body)
		shown = shown.Add(span.Span{Start: min(s.Start, d.RawOffset(from)), End: max(s.End, d.RawOffset(to))})
		at = to
	}
	return strings.Join(parts, "\n"), shown
}
