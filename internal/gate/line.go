package gate

import (
	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Line is a line of the file as it is now.
type Line struct {
	Number int
	Spans  span.Set // of the file's text
}

// Line finds the line that the caller calls line n: that of the text which was last shown, or
// of the file as it is now if nothing of it was. ok is false if the line has changed since, or
// if what is kept of that text does not tell where it is now.
func (g Gate) Line(n int) (line Line, ok bool) {
	c := g.File
	now := changes.LinesOf(c.Doc)
	line = Line{Number: n, Spans: span.Set{now.Line(n)}}
	if !c.Known || len(c.Raw) == 0 || c.HasText() {
		return line, true
	}
	old, kept := c.OldText()
	if !kept {
		return line, g.sameLines(line)
	}
	was := changes.LinesOf(old).Line(n)
	if old.Enc != c.Doc.Enc || was.End > int64(len(old.Text)) {
		return line, false
	}
	raw := span.Span{Start: old.RawOffset(int(was.Start)), End: old.RawOffset(int(was.End))}
	moved := span.Set{raw}.Through(changes.Of(old, c.Doc).Splices, false)
	if len(moved) != 1 || moved[0].Len() != raw.Len() {
		return line, false
	}
	start := c.Doc.TextOffset(moved[0].Start)
	line.Spans = span.Set{{Start: int64(start), End: int64(c.Doc.TextOffset(moved[0].End))}}
	line.Number = now.Counter().At(start)
	return line, true
}

// sameLines reports whether a line has the number under which it was shown, although the text
// that was shown is not kept: the file is as it was then, or all before the line was shown.
func (g Gate) sameLines(line Line) bool {
	c := g.File
	if c.Stamp.Same(c.Record.Stamp) && !c.Record.Older {
		return true
	}
	before := span.Span{End: c.Doc.RawOffset(int(min(line.Spans[0].Start, int64(len(c.Doc.Text)))))}
	return c.Compare([]span.Span{before}).Seen.Covers(before)
}

// Ambiguous refuses an Edit whose text is in several places, or not in the line that it names.
// It shows the lines of the first places, which count as shown if they are whole; rec is the
// record of the file as it is.
func (g Gate) Ambiguous(rec state.Record, line int, places *edit.AmbiguousError) toolcall.Outcome {
	body, shown := changes.Matches(g.File.Doc, places.Places)
	return g.refuseShowing(refusal.Ambiguous(g.Target.Name(), line, places, body), g.File.WithShown(rec, shown))
}
