package changes

import (
	"strings"

	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Regions shows places of a file's text, which ascend, as numbered lines: each with lines around
// it while they fit. Beside the places themselves it takes at most room bytes. shown are the
// bytes of the file that body shows, all in whole lines; more counts the places that it leaves out.
func Regions(d *text.Doc, places []span.Span, room int) (body string, shown span.Set, more int) {
	l := LinesOf(d)
	for around := regionContext; ; around /= 2 {
		lines, fit := l.regions(places, around, room)
		if fit < len(places) && around > 0 {
			continue
		}
		var rows []string
		number := l.Counter()
		for _, s := range lines {
			rows = append(rows, l.number(l.Text[s.Start:s.End], number.At(int(s.Start))))
			shown = shown.Add(span.Span{Start: d.RawOffset(int(s.Start)), End: d.RawOffset(int(s.End))})
		}
		return strings.Join(rows, "\n"), shown, len(places) - fit
	}
}

// regions returns the lines around the first places, as many as fit in room bytes beside the
// places.
func (l Lines) regions(places []span.Span, around, room int) (lines span.Set, fit int) {
	new := int64(0)
	for _, p := range places {
		start, end := int(p.Start), int(p.End)
		tail := end
		if end == start || l.Text[end-1] != l.End {
			tail = l.After(end)
		}
		s := span.Span{Start: int64(l.back(l.Start(start), around)), End: int64(l.forward(tail, around))}
		with := lines.Add(s)
		if new += p.Len(); with.Len()-new+int64(8*len(with)) > int64(room) {
			return lines, fit
		}
		lines = with
		fit++
	}
	return lines, fit
}
