// Package changes words the difference of two texts: the numbered diff of an outside
// change, the unified diff of a change, and the region that an answer shows after an
// edit. Every diff that the program shows comes from here; package linediff compares the
// lines.
//
// It is pure: it reads no file, keeps no record of what was shown, and writes no
// sentence around a diff. It does not merge: package history does.
package changes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/linediff"
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
	end := was.End
	if is.End != end {
		end = '\n'
	}
	for _, e := range compareLines(old.Text, now.Text, end, comparedBytes).edits() {
		gone, come := was.cut(old.Text[e.start:e.end]), is.cut(e.now)
		d.alike = d.alike || slices.Equal(gone, come)
		first := number.At(e.start)
		for i, line := range gone {
			d.lines = append(d.lines, diffLine{text: fmt.Sprintf("-%d\t%s", first+i, line)})
		}
		start, end := e.start+shift, e.start+shift+len(e.now)
		for i, at := 0, start; at < end; i++ {
			next := min(is.After(at), end)
			d.lines = append(d.lines, diffLine{
				text: fmt.Sprintf("+%d\t%s", first+grown+i, come[i]),
				now:  span.Span{Start: now.RawOffset(at), End: now.RawOffset(next)},
			})
			at = next
		}
		d.Splices = append(d.Splices, span.Splice{
			Start: old.RawOffset(e.start), End: old.RawOffset(e.end), New: now.Raw[now.RawOffset(start):now.RawOffset(end)],
		})
		shift, grown = shift+len(e.now)-(e.end-e.start), grown+len(come)-len(gone)
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

// maxSteps bounds the comparison of texts that have little in common.
const maxSteps = 128

// lineDiff is the difference of two texts, in lines with their endings.
type lineDiff struct {
	old, now []string
	hunks    []linediff.Hunk
}

// compareLines compares two texts, whose lines end at end. Above most bytes together it
// finds only where the difference begins and ends.
func compareLines(old, now string, end byte, most int) (d lineDiff) {
	d.old, d.now = splitLines(old, end), splitLines(now, end)
	if len(old)+len(now) <= most {
		n := linediff.Number(d.old, d.now)
		d.hunks = linediff.Compare(n[0], n[1], maxSteps)
		return d
	}
	shorter := min(len(d.old), len(d.now))
	head, tail := 0, 0
	for head < shorter && d.old[head] == d.now[head] {
		head++
	}
	for tail < shorter-head && d.old[len(d.old)-1-tail] == d.now[len(d.now)-1-tail] {
		tail++
	}
	if h := (linediff.Hunk{A0: head, A1: len(d.old) - tail, B0: head, B1: len(d.now) - tail}); h.A0 < h.A1 || h.B0 < h.B1 {
		d.hunks = []linediff.Hunk{h}
	}
	return d
}

func splitLines(s string, end byte) []string {
	lines := strings.SplitAfter(s, string(end))
	if last := len(lines) - 1; lines[last] == "" {
		return lines[:last]
	}
	return lines
}

// edit replaces the bytes [start, end) of the old text.
type edit struct {
	start, end int
	now        string
}

// edits returns the difference in bytes.
func (d lineDiff) edits() []edit {
	out := make([]edit, 0, len(d.hunks))
	line, at := 0, 0
	length := func(until int) (n int) {
		for ; line < until; line++ {
			n += len(d.old[line])
		}
		return n
	}
	for _, h := range d.hunks {
		at += length(h.A0)
		e := edit{start: at, now: strings.Join(d.now[h.B0:h.B1], "")}
		at += length(h.A1)
		e.end = at
		out = append(out, e)
	}
	return out
}
