package tools

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// big is a file above state.WholeHash under a change: it is searched as a
// stream, and only what was shown of it is compared with what is there.
type big struct {
	*House
	call    Call
	spot    *spot
	file    *fsys.File
	stamp   fsys.Stamp
	settled bool
	rec     state.Record
	scan    *text.Scan
	// lost says that something that was shown is not there any more.
	lost bool
}

// look compares what was shown with the file. The record keeps what still
// holds; a growing log loses nothing.
func (h *House) look(ctx context.Context, call Call, s *spot, f *fsys.File, stamp fsys.Stamp) (*big, error) {
	rec, ok := call.Session.files.Get(s.Path)
	if !ok {
		return nil, notRead(s.name())
	}
	b := &big{House: h, call: call, spot: s, file: f, stamp: stamp, settled: stamp.Settled(h.Now()), rec: rec, scan: rec.Index}
	same := rec.Proves(stamp)
	if !same {
		if err := b.recheck(); err != nil {
			return nil, err
		}
	}
	if b.scan == nil || !same {
		scan, err := text.NewScan(ctx, f, stamp.Size)
		if err != nil {
			return nil, binary(s)
		}
		b.scan = scan
	}
	b.rec.Stamp, b.rec.Settled, b.rec.Index = stamp, b.settled, b.scan
	call.Session.files.Put(s.Path, b.rec)
	if b.lost && len(b.rec.Parts) == 0 {
		return nil, b.modified()
	}
	return b, nil
}

// recheck keeps the parts whose bytes are still in their place.
func (b *big) recheck() error {
	parts, err := holding(b.file, b.rec.Parts)
	if err != nil {
		return err
	}
	b.lost = len(parts) < len(b.rec.Parts)
	b.rec = state.Record{Parts: parts, Origin: b.rec.Origin}
	for _, p := range parts {
		b.rec.Shown = b.rec.Shown.Add(p.Span)
	}
	return nil
}

func (b *big) modified() error {
	return refuse(slugModified, "%s Path: %s.", modifiedWords, b.spot.name())
}

// inBig plans the edit of a file above state.WholeHash.
func (e *editing) inBig(ctx context.Context, s *spot, f *fsys.File, stamp fsys.Stamp) (*change, error) {
	b, err := e.look(ctx, e.call, s, f, stamp)
	if err != nil {
		return nil, err
	}
	splices, err := b.search(ctx, e.request(s))
	if err != nil {
		return nil, b.unmatched(e.args.OldString, err)
	}
	if err := b.seen(ctx, spansOf(splices)); err != nil {
		return nil, err
	}
	parts, shown, err := carryParts(f, stamp.Size, b.rec.Parts, splices)
	if err != nil {
		return nil, err
	}
	head := e.head(s, len(splices), edit.Exact)
	where, err := b.region(ctx, splices[0], e.args.NewString, len(head)+len(s.note()))
	if err != nil {
		return nil, err
	}
	size := stamp.Size + growth(lengths(splices))
	rec := state.Record{Parts: parts, Shown: shown, Origin: state.ByEdit, Enc: b.scan.Enc()}
	if size <= state.WholeHash { // from now on the file is compared as a whole
		if rec.Hash, err = sumSpliced(f, stamp.Size, splices, state.Span{End: size}); err != nil {
			return nil, err
		}
		rec.Parts = nil
	}
	c := &change{
		stamp: stamp, settled: b.settled, splices: splices, record: rec,
		result: textResult(head, where, s.note()),
	}
	c.result.Meta = map[string]any{"fsmcp/size": size, "fsmcp/replacements": len(splices)}
	return c, nil
}

// mostInBig bounds how many places of a big file one call replaces.
const mostInBig = 100_000

// search finds what to replace, and by what, as a stream.
func (b *big) search(ctx context.Context, req edit.Request) ([]save.Splice, error) {
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
		return nil, tooMany(b.spot.name(), found.Count, mostInBig)
	}
	res, err := found.Replace(ctx, b.file, req)
	if err != nil {
		return nil, err
	}
	splices := make([]save.Splice, len(res.Splices))
	for i, s := range res.Splices {
		splices[i] = save.Splice{Start: s.Start, End: s.End, New: s.New}
	}
	return splices, nil
}

// seen is the gate of a big file: the matches must have been shown. Where they
// were not and fit, the error shows them, and the same call passes next time.
func (b *big) seen(ctx context.Context, spans []state.Span) error {
	var hidden state.Ranges
	for _, m := range spans {
		if !b.rec.Shown.Covers(m) && hidden.Len() <= showMatches { // more is not shown here anyway
			hidden = hidden.Add(state.Span{Start: max(0, m.Start-aroundMatch), End: min(b.stamp.Size, m.End+aroundMatch)})
		}
	}
	switch {
	case len(hidden) == 0:
		return nil
	case b.lost:
		return b.modified()
	case hidden.Len() > showMatches:
		return b.unseen(ctx, "text that this call would replace was", hidden)
	}
	rec := b.rec
	var parts []string
	for _, h := range hidden {
		body, part, err := b.fragment(ctx, h)
		if err != nil {
			return err
		}
		rec.Parts = withPart(rec.Parts, part)
		rec.Shown = rec.Shown.Add(part.Span)
		parts = append(parts, body)
	}
	body := strings.Join(parts, "\n")
	if !b.passed(b.call, body) {
		return b.unseen(ctx, "text that this call would replace was", hidden)
	}
	b.call.whenSent(func() { b.call.Session.files.Put(b.spot.Path, rec) })
	return refuse(slugPartlyRead, "%s Of %s the text that this call would replace was never shown. Here it is with what stands around it; it counts as shown now: check it, then make the same call again.\n%s",
		notReadWords, b.spot.name(), body)
}

// fragment shows a raw span of the file, cut to whole characters, and returns
// what it shows: the very bytes are hashed, for the file may change meanwhile.
func (b *big) fragment(ctx context.Context, s state.Span) (string, state.Part, error) {
	p, err := b.scan.Piece(ctx, b.file, s.Start, s.End)
	if err != nil {
		return "", state.Part{}, err
	}
	line, err := b.scan.LineAt(ctx, b.file, p.Start)
	if err != nil {
		return "", state.Part{}, err
	}
	part := state.Part{Span: state.Span(p.Span), Sum: sha256.Sum256(p.Raw)}
	return fmt.Sprintf("(from within line %d)\n%s", line, p.Number(line)), part, nil
}

// unseen is the refusal that names the calls which show what was never shown.
func (b *big) unseen(ctx context.Context, what string, spans state.Ranges) error {
	var calls []string
	for _, s := range spans[:min(len(spans), callsNamed)] {
		line, err := b.scan.LineAt(ctx, b.file, s.Start)
		if err != nil {
			return err
		}
		last, err := b.scan.LineAt(ctx, b.file, max(s.Start, s.End-1))
		if err != nil {
			return err
		}
		calls = append(calls, fmt.Sprintf("Read offset=%d, limit=%d", line, min(last-line+1, defaultLines)))
	}
	return refuse(slugPartlyRead, "%s Of %s %s never shown. Go on with %s, then make the same call again.",
		notReadWords, b.spot.name(), what, strings.Join(calls, "; "))
}

// unmatched words why a search found nothing, or too much.
func (b *big) unmatched(old string, err error) error {
	if no := (*edit.NoMatchError)(nil); errors.As(err, &no) {
		return refuse(slugNoMatch, "String to replace not found in file.\nString: %s\nPath: %s\nIn a file above 64 MiB only an exact match is looked for. Read the lines to be changed and copy old_string from them, without the line numbers.",
			cut(old, shownOld), b.spot.name())
	}
	return ambiguous(b.spot.name(), old, err)
}

// region shows the first place as it will be, with some text around it.
func (b *big) region(ctx context.Context, s save.Splice, added string, beside int) (string, error) {
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
	l := linesIn("", before.EOL())
	head, tail := before.Text, after.Text
	if before.Start > 0 { // begin with a whole line, or say that it is none
		if i := strings.IndexByte(head, l.end); i >= 0 {
			head, line = head[i+1:], line+1
		} else {
			head = cutMark + head
		}
	}
	if after.End < b.stamp.Size { // and end with one
		if i := strings.LastIndexByte(tail, l.end); i >= 0 {
			tail = tail[:i+1]
		} else {
			tail += cutMark
		}
	}
	l.text = head + tail
	return regionIn(l, []edit.Splice{{Start: len(head), End: len(head), New: added}}, line, beside), nil
}
