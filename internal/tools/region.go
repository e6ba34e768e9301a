package tools

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

const (
	// regionContext bounds the lines that an answer shows around a change.
	regionContext = 4
	// regionRoom bounds the bytes of an answer beside the new text.
	regionRoom = 1 << 10
	// remarkRoom is kept of that for what saving has to tell.
	remarkRoom = 240
	// leastRoom is for the region, however much of that a long path takes.
	leastRoom = 64
	// cutMark stands where a line is not shown to its end.
	cutMark = "…"
)

// region shows the first place that an edit changed as numbered lines, with
// context while there is room: with the bytes that stand beside it in the answer
// at most regionRoom plus the new text, in a file of any size.
func region(d *text.Doc, splices []span.Splice, beside int) string {
	return regionIn(linesOf(d), splices, 1, beside)
}

// regionIn does so for a piece of a text that begins in the given line.
func regionIn(l lines, splices []span.Splice, base, beside int) string {
	first := splices[0]
	start, end := int(first.Start), int(first.End)
	room := max(regionRoom-remarkRoom-beside, leastRoom) + len(first.New) - bytes.Count(first.New, []byte("\r\n")) // a CRLF is shown as LF
	head := l.start(start)
	tail := end
	if end == start || l.text[end-1] != l.end {
		tail = l.after(end) // to the end of the line that the change ends in
	}
	for around := regionContext; around >= 0; around-- {
		from, to := l.back(head, around), l.forward(tail, around)
		if out := len(first.New) + (start - from) + (to - end); out > room {
			continue
		}
		part := patched(l.text, splices, from, to)
		if to < len(l.text) && part != "" && part[len(part)-1] != l.end {
			part += cutMark // a line break was replaced: its line goes on
		}
		body := l.number(part, l.at(from)+base-1)
		if len(body) <= room {
			return body
		}
	}
	return window(l, first, base, room)
}

// patched is the text from from to to as the splices leave it; one that
// reaches beyond to is left out.
func patched(text string, splices []span.Splice, from, to int) string {
	var b strings.Builder
	at := int64(from)
	for _, s := range splices {
		if s.End > int64(to) {
			break
		}
		b.WriteString(text[at:s.Start])
		b.Write(s.New)
		at = s.End
	}
	b.WriteString(text[at:to])
	return b.String()
}

// window shows a change whose lines are too long, or too many to be numbered
// one by one: a part of its line, marked where it is cut.
func window(l lines, s span.Splice, base, room int) string {
	new, start, end := string(s.New), int(s.Start), int(s.End)
	line := l.at(start) + base - 1
	side := min((room-len(new))/2-8, 80)
	before, after := tailOf(l.text[l.start(start):start], side), headOf(l.text[end:l.after(end)], side)
	body := text.Escape(before) + new + text.Escape(strings.TrimRight(after, "\r\n"))
	numbered := fmt.Sprintf("%d\t%s%s%s", line, cutMark, body, cutMark)
	if strings.Contains(new, "\n") {
		numbered = l.number(cutMark+body+cutMark, line)
	}
	if len(numbered) <= room {
		return numbered
	}
	half := (room - 64) / 2
	return headOf(numbered, half) + fmt.Sprintf("\n… (%s of the new text are not repeated here)\n", phrase.Bytes(int64(len(numbered)-2*half))) + tailOf(numbered, half)
}

// headOf is the longest start of s of at most n bytes that splits no character.
func headOf(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n = max(n, 0); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n]
}

// tailOf is the longest end of s of at most n bytes that splits no character.
func tailOf(s string, n int) string {
	if n >= len(s) {
		return s
	}
	at := len(s) - max(n, 0)
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}
