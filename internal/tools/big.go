package tools

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/gate"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// big is a file above state.InMemory under a change: it is searched as a stream, and
// only what was shown of it is compared with what is there.
type big struct {
	target  *toolcall.Target
	file    io.ReaderAt
	stamp   fsys.Stamp
	settled bool
	rec     state.Record
	known   bool
	was     int64 // its size when the record was made
	scan    *text.Scan
	budget  toolcall.Budget
}

// stream finds what was shown of a file above state.InMemory.
func (w *writing) stream(ctx context.Context, s *toolcall.Target, f *fsys.File, stamp fsys.Stamp) (*big, error) {
	rec, known := w.call.Session.Files.Get(s.Path)
	b := &big{target: s, file: f, stamp: stamp, settled: stamp.Settled(w.tool.loader.Now()), known: known, was: rec.Stamp.Size}
	if !rec.Proves(stamp) {
		rec = state.Record{Parts: rec.Parts, Shown: state.ShownBy(rec.Parts), Origin: rec.Origin}
		scan, err := text.NewScan(ctx, f, stamp.Size)
		if err != nil {
			return nil, refusal.Binary(s.Asked)
		}
		rec.Index = scan
	}
	b.scan, b.rec = rec.Index, rec
	b.rec.Stamp, b.rec.Settled, b.rec.Enc = stamp, b.settled, b.scan.Enc()
	return b, nil
}

// stand leaves out of the record what is not in its place any more, and reports
// whether there was such. It looks at what touches spans, nil: at all.
func (b *big) stand(spans []span.Span) (lost bool, err error) {
	b.rec.Parts, lost, err = state.Standing(b.file, b.rec.Parts, spans)
	b.rec.Shown = state.ShownBy(b.rec.Parts)
	return lost, err
}

// modified refuses a file after another program changed something of it that was shown;
// calls show what is needed now. gone: old_string is not in it any more.
func (b *big) modified(calls string, gone bool) error {
	return refusal.ChangedParts(b.target.Name(), b.stamp.Size, b.was, calls, gone)
}

// touched are the parts that show what splices replace.
func (b *big) touched(splices []span.Splice) (out []state.Part) {
	spans := span.Replaced(splices)
	for _, p := range b.rec.Parts {
		if p.Touches(spans) {
			out = append(out, p)
		}
	}
	return out
}

// shownInFull is the gate where all of the file must have been shown.
func (b *big) shownInFull(ctx context.Context) error {
	if !b.known {
		return refusal.NotRead(b.target.Name())
	}
	lost, err := b.stand(nil)
	if err != nil {
		return err
	}
	unseen := b.rec.Shown.Missing(b.stamp.Size)
	if len(unseen) == 0 {
		return nil
	}
	calls, err := b.calls(ctx, unseen)
	if err != nil {
		return err
	}
	if lost {
		return b.modified(calls, false)
	}
	return refusal.Unseen(b.target.Name(), unseen.Len(), calls)
}

// mostInBig bounds how many places of a big file one call replaces.
const mostInBig = 100_000

// search finds what to replace, and by what, as a stream.
func (b *big) search(ctx context.Context, req edit.Request) ([]span.Splice, error) {
	enc := b.scan.Enc()
	needle, err := edit.NewNeedle(req.Old, enc.Unit(), enc.Encode)
	if err != nil {
		return nil, err
	}
	needle = needle.Where(b.scan.Boundaries(b.file).At)
	found, err := edit.SearchStream(ctx, b.file, b.stamp.Size, needle, req.ReplaceAll, mostInBig)
	if err != nil {
		return nil, err
	}
	if found.Count > mostInBig {
		return nil, refusal.TooManyMatches(b.target.Name(), found.Count, mostInBig)
	}
	res, err := found.Replace(ctx, b.file, req)
	if err != nil {
		return nil, err
	}
	return res.Splices, nil
}

// seen is the gate of a big file: the matches must have been shown. Where they
// were not and fit, the error shows them, and the same call passes next time.
func (b *big) seen(ctx context.Context, spans []span.Span) error {
	lost, err := b.stand(spans)
	if err != nil {
		return err
	}
	hidden := gate.Unseen(b.rec.Shown, spans)
	if len(hidden) == 0 {
		return nil
	}
	more, err := b.stand(nil)
	if err != nil {
		return err
	}
	calls, err := b.calls(ctx, hidden)
	if err != nil {
		return err
	}
	if lost || more {
		return b.modified(calls+", around old_string", false)
	}
	body, rec, err := b.matches(ctx, hidden)
	if err != nil {
		return err
	}
	refused := refusal.UnseenMatch(b.target.Name(), body, calls, b.known)
	if body == "" {
		return refused
	}
	return toolcall.Showing(refused, b.target.Path, rec)
}

// matches shows places with what stands around them; it is empty where that is too much.
// rec is the record once they are shown.
func (b *big) matches(ctx context.Context, hidden span.Set) (body string, rec state.Record, err error) {
	var all span.Set
	for _, m := range hidden {
		all = all.Add(span.Span{Start: max(0, m.Start-gate.AroundMatch), End: min(b.stamp.Size, m.End+gate.AroundMatch)})
		if all.Len() > gate.ShowMatches {
			return "", rec, nil
		}
	}
	rec = b.rec
	var bodies []string
	for _, h := range all {
		body, part, err := b.fragment(ctx, h)
		if err != nil {
			return "", rec, err
		}
		rec.Parts = state.WithPart(rec.Parts, part)
		rec.Shown = rec.Shown.Add(part.Span)
		bodies = append(bodies, body)
	}
	if body = strings.Join(bodies, "\n"); !b.budget.Passes(body) {
		body = ""
	}
	return body, rec, nil
}

// fragment shows a raw span of the file, cut to whole characters, and returns
// what it shows: the very bytes are hashed, for the file may change meanwhile.
func (b *big) fragment(ctx context.Context, s span.Span) (string, state.Part, error) {
	p, err := b.scan.Piece(ctx, b.file, s.Start, s.End)
	if err != nil {
		return "", state.Part{}, err
	}
	line, err := b.scan.LineAt(ctx, b.file, p.Start)
	if err != nil {
		return "", state.Part{}, err
	}
	part := state.Part{Span: p.Span, Sum: sha256.Sum256(p.Raw)}
	return fmt.Sprintf("(from within line %d)\n%s", line, p.Number(line)), part, nil
}

// calls names the Read calls that show spans.
func (b *big) calls(ctx context.Context, spans span.Set) (string, error) {
	var calls []string
	for _, s := range spans[:min(len(spans), gate.CallsNamed)] {
		line, err := b.scan.LineAt(ctx, b.file, s.Start)
		if err != nil {
			return "", err
		}
		last, err := b.scan.LineAt(ctx, b.file, max(s.Start, s.End-1))
		if err != nil {
			return "", err
		}
		page, err := b.scan.Page(ctx, b.file, line, min(last-line+1, toolcall.DefaultLines), b.budget.Room(), 0)
		if err != nil {
			return "", err
		}
		name, _ := b.budget.ReadCall(line, page)
		calls = append(calls, name)
	}
	return strings.Join(calls, "; "), nil
}

// unmatched words why a search found nothing, or too much.
func (b *big) unmatched(ctx context.Context, old string, err error) error {
	no := (*edit.NoMatchError)(nil)
	switch {
	case errors.As(err, &no) && !b.known:
		return refusal.NotRead(b.target.Name())
	case errors.As(err, &no):
		lost, err := b.stand(nil)
		if err != nil {
			return err
		}
		if lost {
			return b.modified("Read", true)
		}
		return refusal.NoExactMatch(b.target.Name(), old)
	}
	if many := (*edit.AmbiguousError)(nil); errors.As(err, &many) {
		offs := make([]int64, len(many.At))
		for i, at := range many.At {
			offs[i] = int64(at)
		}
		var failed error
		if many.Cols, failed = b.scan.Columns(ctx, b.file, many.Lines, offs); failed != nil {
			return failed
		}
	}
	return refusal.Ambiguous(b.target.Name(), old, err)
}

// region shows the first place as it will be, with some text around it.
func (b *big) region(ctx context.Context, s span.Splice, added string, beside int) (string, error) {
	const side = 200
	before, err := b.scan.Piece(ctx, b.file, max(0, s.Start-side), s.Start)
	if err != nil {
		return "", err
	}
	after, err := b.scan.Piece(ctx, b.file, s.End, min(b.stamp.Size, s.End+side))
	if err != nil {
		return "", err
	}
	line, err := b.scan.LineAt(ctx, b.file, before.Start)
	if err != nil {
		return "", err
	}
	l := changes.LinesIn("", before.EOL())
	head, tail := before.Text, after.Text
	if before.Start > 0 { // begin with a whole line, or say that it is none
		if i := strings.IndexByte(head, l.End); i >= 0 {
			head, line = head[i+1:], line+1
		} else {
			head = changes.CutMark + head
		}
	}
	if after.End < b.stamp.Size { // and end with one
		if i := strings.LastIndexByte(tail, l.End); i >= 0 {
			tail = tail[:i+1]
		} else {
			tail += changes.CutMark
		}
	}
	l.Text = head + tail
	return changes.RegionIn(l, []span.Splice{{Start: int64(len(head)), End: int64(len(head)), New: []byte(added)}}, line, beside), nil
}
