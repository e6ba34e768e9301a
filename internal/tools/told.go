package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Bounds of an outside change that an error can tell in full.
const (
	tellLines = 60
	tellBytes = 16 << 10
)

// telling is an outside change as a numbered diff: "N<tab>-old" with the old
// line's number, "N<tab>+new" with the new one's.
type telling struct {
	body    string
	splices []state.Splice // on the raw old bytes
}

// sameLooks is said below lines that differ in nothing that they show.
const sameLooks = "(Lines that look the same here differ in their line ending.)"

// tell compares two states of a file; ok is false where the change is too
// large to be told.
func tell(old, now *text.Doc) (t telling, ok bool) {
	if old.Enc != now.Enc {
		return t, false
	}
	was, is := linesOf(old), linesOf(now)
	var b strings.Builder
	count, grown := 0, 0 // grown: lines that the new text is ahead by
	alike := false       // some lines differ in their ending alone
	for _, e := range lineEdits(was, is) {
		gone, come := was.cut(old.Text[e.Start:e.End]), is.cut(e.New)
		if count += len(gone) + len(come); count > tellLines || b.Len() > tellBytes {
			return t, false
		}
		alike = alike || slices.Equal(gone, come)
		first := was.at(e.Start)
		for i, line := range gone {
			fmt.Fprintf(&b, "%d\t-%s\n", first+i, line)
		}
		for i, line := range come {
			fmt.Fprintf(&b, "%d\t+%s\n", first+grown+i, line)
		}
		grown += len(come) - len(gone)
		added, err := now.Enc.Encode(e.New)
		if err != nil {
			return t, false
		}
		t.splices = append(t.splices, state.Splice{Start: old.RawOffset(e.Start), End: old.RawOffset(e.End), New: int64(len(added))})
	}
	if alike {
		b.WriteString(sameLooks)
	}
	t.body = strings.TrimSuffix(b.String(), "\n")
	return t, b.Len() <= tellBytes
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
