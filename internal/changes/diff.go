// Package changes words the difference of two texts: the numbered diff of an outside
// change, the unified diff of a change, and the region that an answer shows after an
// edit. Every diff that the program shows comes from here; lines are compared by
// github.com/aymanbagabas/go-udiff.
//
// It is pure: it reads no file, keeps no record of what was shown, and writes no
// sentence around a diff. It does not merge: package history does, and says why it
// compares lines itself.
package changes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Bounds of a numbered diff in an answer.
const (
	mostLines = 60
	mostBytes = 16 << 10
)

// comparedBytes is the size of two texts up to which they are compared line by line.
const comparedBytes = 4 << 20

// Form explains a numbered diff where one begins.
const Form = "(-N is line N that is gone, +N is line N that is there now)"

// sameLooks stands below lines that differ in nothing that they show.
const sameLooks = "(Lines that look the same here differ in their line ending.)"

// Diff is a numbered line diff of two texts: "-7<tab>text" is line 7 that is gone,
// "+9<tab>text" is line 9 that is there now. The zero Diff has no lines.
type Diff struct {
	// Splices turn the old raw bytes into the new ones.
	Splices []span.Splice

	lines []diffLine
	alike bool // some lines differ in their line ending alone
}

type diffLine struct {
	text string
	now  span.Span // its raw new bytes; empty for a line that is gone
}

// Of compares two texts. Of texts above 4 MiB together it finds only where the
// difference begins and ends.
func Of(old, now *text.Doc) (d Diff) {
	was, is := LinesOf(old), LinesOf(now)
	number := was.Counter()
	shift, grown := 0, 0 // what the new text is ahead by, in bytes and lines
	for _, e := range changedLines(was, is) {
		gone, come := was.cut(old.Text[e.Start:e.End]), is.cut(e.New)
		d.alike = d.alike || slices.Equal(gone, come)
		first := number.At(e.Start)
		for i, line := range gone {
			d.lines = append(d.lines, diffLine{text: fmt.Sprintf("-%d\t%s", first+i, line)})
		}
		start, end := e.Start+shift, e.Start+shift+len(e.New)
		for i, at := 0, start; at < end; i++ {
			next := min(is.After(at), end)
			d.lines = append(d.lines, diffLine{
				text: fmt.Sprintf("+%d\t%s", first+grown+i, come[i]),
				now:  span.Span{Start: now.RawOffset(at), End: now.RawOffset(next)},
			})
			at = next
		}
		d.Splices = append(d.Splices, span.Splice{
			Start: old.RawOffset(e.Start), End: old.RawOffset(e.End), New: now.Raw[now.RawOffset(start):now.RawOffset(end)],
		})
		shift, grown = shift+len(e.New)-(e.End-e.Start), grown+len(come)-len(gone)
	}
	return d
}

// Since is the numbered diff of what was reported of a file and what it holds now, both
// raw, the old bytes in enc. all reports that no changed line is left out. body is empty
// where now is no text or has another encoding.
func Since(was, now []byte, enc text.Encoding) (body string, all bool) {
	old, err := text.DecodeAs(was, enc)
	if err != nil {
		return "", false
	}
	is, err := text.Decode(now)
	if err == nil && is.Enc != enc && !enc.IsUTF8() {
		is, err = Decode(now, enc) // too little may be left to know it by
	}
	if err != nil || is.Enc != enc {
		return "", false
	}
	body, _, more := Of(old, is).First()
	if more > 0 {
		body += fmt.Sprintf("\n… (%d more changed lines; read the file to see them)", more)
	}
	return phrase.Untagged(body), more == 0
}

// First returns the beginning of the diff, at most 60 lines and 16 KiB, and the
// bytes of the new file that it shows. more counts the changed lines that it leaves out.
func (d Diff) First() (body string, shown span.Set, more int) {
	var b strings.Builder
	for i, line := range d.lines {
		if i == mostLines || b.Len()+len(line.text) > mostBytes {
			more = len(d.lines) - i
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line.text)
		shown = shown.Add(line.now)
	}
	if d.alike {
		b.WriteString("\n" + sameLooks)
	}
	return b.String(), shown, more
}

// Whole returns the diff if First leaves nothing out.
func (d Diff) Whole() (body string, ok bool) {
	body, _, more := d.First()
	return body, more == 0
}

// Counts returns the numbers of lines that came and went.
func (d Diff) Counts() (added, removed int) {
	for _, line := range d.lines {
		if line.now.Start < line.now.End {
			added++
		}
	}
	return added, len(d.lines) - added
}

// changedLines compares two texts by lines. Of large ones it finds only where the
// difference begins and ends.
func changedLines(was, is Lines) []udiff.Edit {
	if len(was.Text)+len(is.Text) <= comparedBytes {
		return lineEdits(was, is)
	}
	from := was.Start(commonStart(was.Text, is.Text))
	common := commonEnd(was.Text[from:], is.Text[from:])
	if i := strings.IndexByte(was.Text[len(was.Text)-common:], was.End); i >= 0 {
		common -= i + 1 // whole lines
	} else {
		common = 0
	}
	return []udiff.Edit{{Start: from, End: len(was.Text) - common, New: is.Text[from : len(is.Text)-common]}}
}

// lineEdits compares two texts by lines. Where CRs end the lines of both, they
// take the place of LFs, which are as long.
func lineEdits(was, is Lines) []udiff.Edit {
	if was.End != '\r' || is.End != '\r' {
		return udiff.Lines(was.Text, is.Text)
	}
	edits := udiff.Lines(strings.ReplaceAll(was.Text, "\r", "\n"), strings.ReplaceAll(is.Text, "\r", "\n"))
	for i, e := range edits {
		edits[i].New = strings.ReplaceAll(e.New, "\n", "\r")
	}
	return edits
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

// LineSplices returns splices of whole lines that turn old into now, both in UTF-8. Of texts
// above 4 MiB together, and of texts that differ in more than mostSplices places, it
// returns one splice.
func LineSplices(old, now string) []span.Splice {
	was, is := Lines{Text: old, End: '\n'}, Lines{Text: now, End: '\n'}
	edits := changedLines(was, is)
	out := make([]span.Splice, 0, min(len(edits), mostSplices))
	if len(edits) > mostSplices {
		first, last := edits[0], edits[len(edits)-1]
		tail := len(old) - last.End
		return append(out, span.Splice{Start: int64(first.Start), End: int64(last.End), New: []byte(now[first.Start : len(now)-tail])})
	}
	for _, e := range edits {
		out = append(out, span.Splice{Start: int64(e.Start), End: int64(e.End), New: []byte(e.New)})
	}
	return out
}

// mostSplices bounds what LineSplices returns.
const mostSplices = 200
