package changes

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

const (
	// regionContext bounds the lines that an answer shows around a change.
	regionContext = 4
	// RegionRoom bounds the bytes of an answer beside the new text.
	RegionRoom = 1 << 10
	// remarkRoom is kept of that for what saving has to tell.
	remarkRoom = 240
	// leastRoom is for the region, however much of that a long path takes.
	leastRoom = 64
	// cutMark stands where a line is not shown to its end.
	cutMark = "…"
)

// Region shows the first place that an edit changed as numbered lines, with context
// while there is room. With the bytes beside it in the answer it takes at most
// RegionRoom plus the new text. The splices are of the file's text. lines are the bytes of
// the old file in lines that body shows whole, those that the splices replace among them.
func Region(d *text.Doc, splices []span.Splice, beside int) (body string, lines span.Span) {
	l := LinesOf(d)
	first := splices[0]
	start, end := int(first.Start), int(first.End)
	room := max(RegionRoom-remarkRoom-beside, leastRoom) + len(first.New) - bytes.Count(first.New, []byte("\r\n")) // a CRLF is shown as LF
	head := l.Start(start)
	tail := end
	if end == start || l.Text[end-1] != l.End {
		tail = l.After(end) // to the end of the line that the change ends in
	}
	for around := regionContext; around >= 0; around-- {
		from, to := l.back(head, around), l.forward(tail, around)
		if out := len(first.New) + (start - from) + (to - end); out > room {
			continue
		}
		part, lines := patched(l.Text, splices, from, to), span.Span{Start: d.RawOffset(from), End: d.RawOffset(to)}
		if to < len(l.Text) && part != "" && part[len(part)-1] != l.End {
			part, lines = part+cutMark, span.Span{} // a line break was replaced: its line goes on
		}
		body := l.number(part, l.at(from))
		if len(body) <= room {
			return body, lines
		}
	}
	return window(l, splices, room), span.Span{}
}

// patched returns the text from from to to as the splices leave it. It ends with the new
// text of a splice that reaches beyond to.
func patched(text string, splices []span.Splice, from, to int) string {
	var b strings.Builder
	at := int64(from)
	for _, s := range splices {
		if s.Start > int64(to) || s.Start == int64(to) && s.End > s.Start {
			break
		}
		b.WriteString(text[at:s.Start])
		b.Write(s.New)
		at = s.End
	}
	b.WriteString(text[min(at, int64(to)):to])
	return b.String()
}

// window shows a change whose lines are too long, or too many to be numbered
// one by one: a part of its line, marked where it is cut.
func window(l Lines, splices []span.Splice, room int) string {
	new, start, end := string(splices[0].New), int(splices[0].Start), int(splices[0].End)
	line := l.at(start)
	side := min((room-len(new))/2-8, 80)
	before, after := phrase.Tail(l.Text[l.Start(start):start], side), phrase.Head(patched(l.Text, splices[1:], end, l.After(end)), side)
	body := text.Escape(before) + new + text.Escape(strings.TrimRight(after, "\r\n"))
	numbered := fmt.Sprintf("%d\t%s%s%s", line, cutMark, body, cutMark)
	if strings.Contains(new, "\n") {
		numbered = l.number(cutMark+body+cutMark, line)
	}
	if len(numbered) <= room {
		return numbered
	}
	half := (room - 64) / 2
	return phrase.Head(numbered, half) + fmt.Sprintf("\n… (%s of the new text are not repeated here)\n", phrase.Bytes(int64(len(numbered)-2*half))) + phrase.Tail(numbered, half)
}
