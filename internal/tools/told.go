package tools

import (
	"fmt"
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

// tell compares two states of a file; ok is false where the change is too
// large to be told.
func tell(old, now *text.Doc) (t telling, ok bool) {
	if old.Enc != now.Enc {
		return t, false
	}
	edits := udiff.Lines(old.Text, now.Text)
	var b strings.Builder
	count, grown := 0, 0 // grown: lines that the new text is ahead by
	was := linesOf(old)
	for _, e := range edits {
		gone, come := splitLines(old.Text[e.Start:e.End]), splitLines(e.New)
		if count += len(gone) + len(come); count > tellLines || b.Len() > tellBytes {
			return t, false
		}
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
	t.body = strings.TrimSuffix(b.String(), "\n")
	return t, b.Len() <= tellBytes
}

// splitLines cuts a text into lines without their endings; stray bytes are
// written out.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	out := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, line := range out {
		out[i] = text.Escape(strings.TrimSuffix(line, "\r"))
	}
	return out
}
