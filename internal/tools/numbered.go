package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Bounds of an outside change that is told in full.
const (
	tellLines = 60
	tellBytes = 16 << 10
)

// sameLooks is said below lines that differ in nothing that they show.
const sameLooks = "(Lines that look the same here differ in their line ending.)"

// numbered is a line diff of two texts: "-7<tab>text" is line 7 that is gone,
// "+9<tab>text" is line 9 that is there now.
type numbered struct {
	lines   []numberedLine
	splices []span.Splice // on the raw old bytes
	alike   bool          // some lines differ in their line ending alone
}

type numberedLine struct {
	text string
	now  span.Span // its raw new bytes; empty of a line that is gone
}

// changesOf compares two texts.
func changesOf(old, now *text.Doc) (n numbered) {
	was, is := linesOf(old), linesOf(now)
	number := countedLines{lines: was}
	shift, grown := 0, 0 // what the new text is ahead by, in bytes and lines
	for _, e := range changedLines(was, is) {
		gone, come := was.cut(old.Text[e.Start:e.End]), is.cut(e.New)
		n.alike = n.alike || slices.Equal(gone, come)
		first := number.line(e.Start)
		for i, line := range gone {
			n.lines = append(n.lines, numberedLine{text: fmt.Sprintf("-%d\t%s", first+i, line)})
		}
		start, end := e.Start+shift, e.Start+shift+len(e.New)
		for i, at := 0, start; at < end; i++ {
			next := min(is.after(at), end)
			n.lines = append(n.lines, numberedLine{
				text: fmt.Sprintf("+%d\t%s", first+grown+i, come[i]),
				now:  span.Span{Start: now.RawOffset(at), End: now.RawOffset(next)},
			})
			at = next
		}
		n.splices = append(n.splices, span.Splice{
			Start: old.RawOffset(e.Start), End: old.RawOffset(e.End), New: now.Raw[now.RawOffset(start):now.RawOffset(end)],
		})
		shift, grown = shift+len(e.New)-(e.End-e.Start), grown+len(come)-len(gone)
	}
	return n
}

// first is the beginning of the diff, at most so many lines and tellBytes, and what
// of the new file it shows; more counts the changed lines that it leaves out.
func (n numbered) first(lines int) (body string, shown span.Set, more int) {
	var b strings.Builder
	for i, line := range n.lines {
		if i == lines || b.Len()+len(line.text) > tellBytes {
			more = len(n.lines) - i
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line.text)
		shown = shown.Add(line.now)
	}
	if n.alike {
		b.WriteString("\n" + sameLooks)
	}
	return b.String(), shown, more
}

// whole is the diff where all of it can be told.
func (n numbered) whole() (body string, ok bool) {
	body, _, more := n.first(tellLines)
	return body, more == 0
}

// counts are the numbers of lines that came and went.
func (n numbered) counts() (added, removed int) {
	for _, line := range n.lines {
		if line.now.Start < line.now.End {
			added++
		}
	}
	return added, len(n.lines) - added
}

// changedLines compares two texts by lines; of large ones it only finds where the
// difference begins and ends.
func changedLines(was, is lines) []udiff.Edit {
	if len(was.text)+len(is.text) <= diffBytes {
		return lineEdits(was, is)
	}
	from := was.start(commonStart(was.text, is.text))
	common := commonEnd(was.text[from:], is.text[from:])
	if i := strings.IndexByte(was.text[len(was.text)-common:], was.end); i >= 0 {
		common -= i + 1 // whole lines
	} else {
		common = 0
	}
	return []udiff.Edit{{Start: from, End: len(was.text) - common, New: is.text[from : len(is.text)-common]}}
}

// lineEdits compares two texts by lines. Where CRs end the lines of both, they
// take the place of LFs, which are as long.
func lineEdits(was, is lines) []udiff.Edit {
	if was.end != '\r' || is.end != '\r' {
		return udiff.Lines(was.text, is.text)
	}
	edits := udiff.Lines(strings.ReplaceAll(was.text, "\r", "\n"), strings.ReplaceAll(is.text, "\r", "\n"))
	for i, e := range edits {
		edits[i].New = strings.ReplaceAll(e.New, "\n", "\r")
	}
	return edits
}

// cut cuts whole lines of the text into lines without their endings; stray
// bytes are written out.
func (l lines) cut(s string) []string {
	if s == "" {
		return nil
	}
	end := string(rune(l.end))
	out := strings.Split(strings.TrimSuffix(s, end), end)
	for i, line := range out {
		if l.end == '\n' {
			line = strings.TrimSuffix(line, "\r")
		}
		out[i] = text.Escape(line)
	}
	return out
}

func commonStart(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func commonEnd(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return n
}
