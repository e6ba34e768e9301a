package tools

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/gate"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
)

// streamed plans the edit of a file that is not held in memory: it is searched as a stream.
func (e editPlan) streamed(ctx context.Context, b *gate.Streamed) (*commit.Change, error) {
	s, f, stamp := b.Target, b.File, b.Stamp
	if e.preferences.Gate == GateFull {
		if err := b.ShownInFull(ctx); err != nil {
			return nil, err
		}
	}
	splices, err := e.search(ctx, b)
	if err != nil {
		return nil, e.unmatchedIn(ctx, b, err)
	}
	if err := b.Seen(ctx, span.Replaced(splices)); err != nil {
		return nil, err
	}
	parts, err := state.CarryParts(f, stamp.Size, b.Record.Parts, splices)
	if err != nil {
		return nil, err
	}
	head := e.head(len(splices), edit.Exact)
	where, shown, err := e.region(ctx, b, splices, len(head)+len(s.Note()))
	if err != nil {
		return nil, err
	}
	size := stamp.Size + span.Growth(splices)
	rec := state.Record{Parts: parts, Shown: state.ShownBy(parts), Origin: state.ByEdit, Enc: b.Scan.Enc()}
	if size <= state.WholeHash { // from now on the file is compared as a whole
		if rec.Hash, err = state.SumSpliced(f, stamp.Size, splices, span.Span{End: size}); err != nil {
			return nil, err
		}
		rec.Parts = nil
	}
	c := &commit.Change{
		Stamp: stamp, Parts: b.Touched(splices), Splices: splices, Record: rec,
		Result:  s.Answer(head, where),
		Differs: func() commit.Texts { return e.places(len(splices)) },
	}
	c.Result.Meta = map[string]any{"fsmcp/size": size, "fsmcp/replacements": len(splices)}
	if len(splices) == 1 && size > state.WholeHash && b.Budget.Passes(c.Result.Blocks[0].Text) {
		c.Shown = state.Record{Shown: gate.Unseen(rec.Shown, state.ShownBy(shown)), Parts: shown}
	}
	return c, nil
}

// mostInBig bounds how many places of a big file one call replaces.
const mostInBig = 100_000

// search finds what to replace, and by what, as a stream.
func (e editPlan) search(ctx context.Context, b *gate.Streamed) ([]span.Splice, error) {
	req, enc := e.request(), b.Scan.Enc()
	req.Most = mostInBig
	res, err := edit.ApplyFile(ctx, edit.File{
		R: b.File, Size: b.Stamp.Size, Units: enc.Units(), Encode: enc.Encode, Begins: b.Scan.Boundaries(b.File).At,
	}, req)
	return res.Splices, err
}

// unmatchedIn refuses an edit whose search found nothing, or too much.
func (e editPlan) unmatchedIn(ctx context.Context, b *gate.Streamed, err error) error {
	if errors.As(err, new(*edit.NoMatchError)) {
		return b.Missed(e.args.OldString)
	}
	if many := (*edit.AmbiguousError)(nil); errors.As(err, &many) {
		offs := make([]int64, len(many.Places))
		for i, m := range many.Places {
			offs[i] = m.Start
		}
		var failed error
		if many.Cols, failed = b.Scan.Columns(ctx, b.File, many.Lines, offs); failed != nil {
			return failed
		}
	}
	return refusal.Ambiguous(b.Target.Name(), e.args.OldString, err)
}

// region shows the first place as it will be, with some text around it. shown is the part of
// the new file that stands in lines which body shows whole, in a file of UTF-8.
func (e editPlan) region(ctx context.Context, b *gate.Streamed, splices []span.Splice, beside int) (body string, shown []state.Part, err error) {
	const side = 200
	s, end := splices[0], min(b.Stamp.Size, splices[0].End+side)
	if len(splices) > 1 { // the text of the next place is another one soon
		end = min(end, splices[1].Start)
	}
	before, err := b.Scan.Piece(ctx, b.File, max(0, s.Start-side), s.Start)
	if err != nil {
		return "", nil, err
	}
	after, err := b.Scan.Piece(ctx, b.File, s.End, end)
	if err != nil {
		return "", nil, err
	}
	line, err := b.Scan.LineAt(ctx, b.File, before.Start)
	if err != nil {
		return "", nil, err
	}
	l := changes.LinesIn("", before.EOL())
	head, tail := before.Text, after.Text
	same := head == string(before.Raw) && tail == string(after.Raw)
	if before.Start > 0 { // begin with a whole line, or say that it is none
		if i := strings.IndexByte(head, l.End); i >= 0 {
			head, line = head[i+1:], line+1
		} else {
			head, same = changes.CutMark+head, false
		}
	}
	if after.End < b.Stamp.Size { // and end with one
		if i := strings.LastIndexByte(tail, l.End); i >= 0 {
			tail = tail[:i+1]
		} else {
			tail, same = tail+changes.CutMark, false
		}
	}
	l.Text = head + tail
	at := int64(len(head))
	body, lines := changes.RegionIn(l, []span.Splice{{Start: at, End: at, New: []byte(e.args.NewString)}}, line, beside)
	if same && lines.Len() > 0 {
		raw := l.Text[lines.Start:at] + string(s.New) + l.Text[at:lines.End]
		start := s.Start - (at - lines.Start)
		shown = []state.Part{{Span: span.Span{Start: start, End: start + int64(len(raw))}, Sum: sha256.Sum256([]byte(raw))}}
	}
	return body, shown, nil
}
