package changes

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Lines finds and numbers the lines of a text that is held in memory. They end as Read
// counts them: at LF, or at CR in a text without any LF.
type Lines struct {
	Text string
	End  byte // the last byte of a line

	eol text.EOL
}

// LinesOf returns the lines of a file.
func LinesOf(d *text.Doc) Lines { return LinesIn(d.Text, d.EOL) }

// LinesIn returns the lines of a piece of a file that has these line endings.
func LinesIn(s string, eol text.EOL) Lines {
	l := Lines{Text: s, End: '\n', eol: eol}
	if eol.LF == 0 && eol.CRLF == 0 && eol.CR > 0 {
		l.End = '\r'
	}
	return l
}

// number shows a part of the text as numbered lines.
func (l Lines) number(part string, first int) string { return string(l.eol.Number(part, first)) }

// at is the 1-based number of the line that holds the byte at off.
func (l Lines) at(off int) int {
	return 1 + strings.Count(l.Text[:min(off, len(l.Text))], string(l.End))
}

// LineCounter numbers ascending places without counting from the start again.
type LineCounter struct {
	lines       Lines
	off, before int // so many line ends before off
}

// Counter returns a LineCounter at the beginning of the text.
func (l Lines) Counter() *LineCounter { return &LineCounter{lines: l} }

// At returns the 1-based number of the line that holds the byte at off.
func (c *LineCounter) At(off int) int {
	if off < c.off {
		c.off, c.before = 0, 0
	}
	c.before += strings.Count(c.lines.Text[c.off:off], string(c.lines.End))
	c.off = off
	return c.before + 1
}

// Start returns the offset at which the line around off begins.
func (l Lines) Start(off int) int { return strings.LastIndexByte(l.Text[:off], l.End) + 1 }

// After returns the offset behind the line around off, its ending included.
func (l Lines) After(off int) int {
	if i := strings.IndexByte(l.Text[off:], l.End); i >= 0 {
		return off + i + 1
	}
	return len(l.Text)
}

// back goes n lines back from the start of a line.
func (l Lines) back(start, n int) int {
	for ; n > 0 && start > 0; n-- {
		start = l.Start(start - 1)
	}
	return start
}

// forward goes n lines on from the start of a line.
func (l Lines) forward(start, n int) int {
	for ; n > 0 && start < len(l.Text); n-- {
		start = l.After(start)
	}
	return start
}

// cut cuts whole lines of the text into lines without their endings; stray
// bytes are written out.
func (l Lines) cut(s string) []string {
	if s == "" {
		return nil
	}
	end := string(rune(l.End))
	out := strings.Split(strings.TrimSuffix(s, end), end)
	for i, line := range out {
		if l.End == '\n' {
			line = strings.TrimSuffix(line, "\r")
		}
		out[i] = text.Escape(line)
	}
	return out
}

// longLine is the number of bytes from which a line is shown in part.
const longLine = 500

// show renders the text from start to end as numbered lines. Of a long line it shows only
// that part, with its first column, of a short one all. It returns the offsets of what it
// shows.
func (l Lines) show(start, end int) (body string, from, to int) {
	from, to = start, end
	if at := l.Start(start); start-at <= longLine {
		from = at
	}
	if end > start && l.Text[end-1] != l.End {
		if at := l.After(end); at-end <= longLine {
			to = at
		}
	}
	if l.Start(from) == from {
		return l.number(l.Text[from:to], l.at(from)), from, to
	}
	return l.fragment(from, to), from, to
}

// fragment shows a part of the text below its line and column.
func (l Lines) fragment(start, end int) string {
	first := l.at(start)
	column := utf8.RuneCountInString(l.Text[l.Start(start):start]) + 1
	return fmt.Sprintf("(line %d from column %d)\n%s", first, column, l.number(l.Text[start:end], first))
}

// ShowAll shows raw spans of a file as numbered lines, whole lines if they are short.
// shown has the bytes of the file that body shows.
func ShowAll(d *text.Doc, spans span.Set) (body string, shown span.Set) {
	l := LinesOf(d)
	var parts []string
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

// Fragments shows raw spans of a file exactly as far as they go, each below its line
// and column.
func Fragments(d *text.Doc, spans span.Set) string {
	l := LinesOf(d)
	var parts []string
	for _, s := range spans {
		parts = append(parts, l.fragment(d.TextOffset(s.Start), d.TextOffset(s.End)))
	}
	return strings.Join(parts, "\n")
}
