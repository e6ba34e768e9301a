package gate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Streamed decides as Gate does for a file above state.InMemory: what was shown of it is
// compared with what is there, and nothing else of it is read into memory.
type Streamed struct {
	Target *toolcall.Target
	Budget toolcall.Budget
	File   io.ReaderAt
	Stamp  fsys.Stamp
	Scan   *text.Scan
	// Record is the conversation's, as far as it still stands. Known says that there is one,
	// Was is the file's size when it was made.
	Record state.Record
	Known  bool
	Was    int64
}

// stand leaves out of the record what is not in its place any more, and reports
// whether there was such. It looks at what touches spans, nil: at all.
func (b *Streamed) stand(spans []span.Span) (lost bool, err error) {
	b.Record.Parts, lost, err = state.Standing(b.File, b.Record.Parts, spans)
	b.Record.Shown = state.ShownBy(b.Record.Parts)
	return lost, err
}

// modified refuses a file after another program changed something of it that was shown;
// calls show what is needed now. gone: old_string is not in it any more.
func (b *Streamed) modified(calls string, gone bool) error {
	return refusal.ChangedParts(b.Target.Name(), b.Stamp.Size, b.Was, calls, gone)
}

// Touched are the parts that show what splices replace.
func (b *Streamed) Touched(splices []span.Splice) (out []state.Part) {
	spans := span.Replaced(splices)
	for _, p := range b.Record.Parts {
		if p.Touches(spans) {
			out = append(out, p)
		}
	}
	return out
}

// ShownInFull lets a change through if all of the file has been shown.
func (b *Streamed) ShownInFull(ctx context.Context) error {
	if !b.Known {
		return refusal.NotRead(b.Target.Name())
	}
	lost, err := b.stand(nil)
	if err != nil {
		return err
	}
	unseen := b.Record.Shown.Missing(b.Stamp.Size)
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
	return refusal.Unseen(b.Target.Name(), unseen.Len(), calls)
}

// Seen lets an edit through if its matches have been shown. Where they
// were not and fit, the error shows them, and the same call passes next time.
func (b *Streamed) Seen(ctx context.Context, spans []span.Span) error {
	lost, err := b.stand(spans)
	if err != nil {
		return err
	}
	hidden := Unseen(b.Record.Shown, spans)
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
	refused := refusal.UnseenMatch(b.Target.Name(), body, calls, b.Known)
	if body == "" {
		return refused
	}
	return toolcall.Showing(refused, b.Target.Path, rec)
}

// matches shows places with what stands around them; it is empty where that is too much.
// rec is the record once they are shown.
func (b *Streamed) matches(ctx context.Context, hidden span.Set) (body string, rec state.Record, err error) {
	var all span.Set
	for _, m := range hidden {
		all = all.Add(span.Span{Start: max(0, m.Start-aroundMatch), End: min(b.Stamp.Size, m.End+aroundMatch)})
		if all.Len() > showMatches {
			return "", rec, nil
		}
	}
	rec = b.Record
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
	if body = strings.Join(bodies, "\n"); !b.Budget.Passes(body) {
		body = ""
	}
	return body, rec, nil
}

// fragment shows a raw span of the file, cut to whole characters, and returns
// what it shows: the very bytes are hashed, for the file may change meanwhile.
func (b *Streamed) fragment(ctx context.Context, s span.Span) (string, state.Part, error) {
	p, err := b.Scan.Piece(ctx, b.File, s.Start, s.End)
	if err != nil {
		return "", state.Part{}, err
	}
	line, err := b.Scan.LineAt(ctx, b.File, p.Start)
	if err != nil {
		return "", state.Part{}, err
	}
	part := state.Part{Span: p.Span, Sum: sha256.Sum256(p.Raw)}
	return fmt.Sprintf("(from within line %d)\n%s", line, p.Number(line)), part, nil
}

// calls names the Read calls that show spans.
func (b *Streamed) calls(ctx context.Context, spans span.Set) (string, error) {
	var calls []string
	for _, s := range spans[:min(len(spans), callsNamed)] {
		line, err := b.Scan.LineAt(ctx, b.File, s.Start)
		if err != nil {
			return "", err
		}
		last, err := b.Scan.LineAt(ctx, b.File, max(s.Start, s.End-1))
		if err != nil {
			return "", err
		}
		page, err := b.Scan.Page(ctx, b.File, line, min(last-line+1, toolcall.DefaultLines), b.Budget.Room(), 0)
		if err != nil {
			return "", err
		}
		name, _ := b.Budget.ReadCall(line, page)
		calls = append(calls, name)
	}
	return strings.Join(calls, "; "), nil
}

// Missed is the refusal of an edit of text that is not in the file: it may have been there
// when the file was shown.
func (b *Streamed) Missed(text string) error {
	if !b.Known {
		return refusal.NotRead(b.Target.Name())
	}
	lost, err := b.stand(nil)
	switch {
	case err != nil:
		return err
	case lost:
		return b.modified("Read", true)
	}
	return refusal.NoExactMatch(b.Target.Name(), text)
}
