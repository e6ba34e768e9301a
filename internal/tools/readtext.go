package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// countFor bounds the time that a Read goes on counting a big file's lines.
const countFor = 200 * time.Millisecond

// source serves pages of a text, of a document in memory or a scan of the file, in at most
// room bytes.
type source func(w want, room int) (text.Page, error)

// memoryText answers with lines of a text in memory.
func (r *reading) memoryText(ctx context.Context, c *state.File) (*toolcall.Result, error) {
	same := !c.ByParts() && c.Unchanged()
	if same && r.repeated(state.Sum{}) {
		return unchanged(r.target), nil
	}
	if c.Doc == nil {
		if err := toolcall.Decode(r.target, c); err != nil {
			return nil, err
		}
	}
	if c.Doc.Text == "" { // a byte order mark and nothing else
		return r.shownEmpty(c.Recorded(span.Set{}.Add(span.Span{End: c.Stamp.Size}), state.ByRead)), nil
	}
	page, err := r.fit(func(w want, room int) (text.Page, error) {
		if w.column > 0 {
			return c.Doc.ColumnPage(w.first, w.column, w.limit, room), nil
		}
		return c.Doc.Page(w.first, w.limit, room), nil
	})
	if err != nil {
		return nil, err
	}
	r.eol = c.Doc.EOL
	rec := c.Recorded(nil, state.ByRead)
	if c.ByParts() {
		return r.servedPart(page, rec, func() ([]byte, error) { return c.Raw, nil })
	}
	if same {
		rec = c.Stamped(c.Record)
		rec.Content = c.Content()
	}
	return r.served(page, rec, state.Sum{}), nil
}

// scanned answers from a file that is too big to be held.
func (r *reading) scanned(ctx context.Context, stamp fsys.Stamp) (*toolcall.Result, error) {
	rec, _ := r.call.Session.Files.Get(r.target.Path)
	settled := stamp.Settled(r.tool.loader.Now())
	scan := rec.Index
	if scan == nil || !rec.Proves(stamp) {
		var err error
		if scan, err = text.NewScan(ctx, r.file, stamp.Size); err != nil {
			return nil, r.unreadable(err)
		}
	}
	page, err := r.fit(func(w want, room int) (text.Page, error) {
		if w.column > 0 {
			return scan.ColumnPage(ctx, r.file, w.first, w.column, w.limit, room)
		}
		return scan.Page(ctx, r.file, w.first, w.limit, room, countFor)
	})
	if err != nil {
		return nil, r.unreadable(err)
	}
	if after, err := r.file.Stamp(); err != nil || !after.Same(stamp) {
		settled = false // it changed while it was read: the index may be of neither state
	}
	r.eol = scan.EOL()
	now := state.Record{Stamp: stamp, Settled: settled, Index: scan, Enc: scan.Enc()}
	return r.servedPart(page, now, func() ([]byte, error) {
		raw, _, err := r.file.ReadAll(state.InMemory)
		return raw, err
	})
}

// servedPart answers with a page of a file that is compared by its shown parts only.
// now is its record without what was shown before; all reads the whole file. Parts of
// an older state stay as they are: each proves its own bytes alone. The page is
// recorded by the very bytes that it shows, whatever becomes of the file meanwhile.
func (r *reading) servedPart(page text.Page, now state.Record, all func() ([]byte, error)) (*toolcall.Result, error) {
	if page.First == 0 {
		return r.served(page, now, state.Sum{}), nil
	}
	old, _ := r.call.Session.Files.Get(r.target.Path)
	part := state.Part{Span: page.Shown, Sum: sha256.Sum256(page.Raw)}
	if old.Proves(now.Stamp) && old.Parts != nil {
		if r.repeated(part.Sum) {
			return unchanged(r.target), nil
		}
		old.Settled, old.Index = now.Settled, now.Index
		now = old
	}
	now.Parts = state.WithPart(old.Parts, part)
	now.Shown = state.ShownBy(now.Parts)
	size := now.Stamp.Size
	if now.Hash == (state.Sum{}) && size <= state.InMemory && len(now.Shown.Missing(size)) == 0 {
		raw, err := all()
		if err != nil {
			return nil, err
		}
		now = joined(now, raw)
	}
	return r.served(page, now, part.Sum), nil
}

// joined makes one part of those that are all of a file together, as far as they
// stand: from then on the file can be compared as a whole.
func joined(rec state.Record, raw []byte) state.Record {
	rec.Parts, _, _ = state.Standing(bytes.NewReader(raw), rec.Parts, nil)
	rec.Shown = state.ShownBy(rec.Parts)
	if size := rec.Stamp.Size; int64(len(raw)) == size && len(rec.Shown.Missing(size)) == 0 {
		rec.Parts = state.PartsIn(raw, rec.Shown)
		rec.Hash = state.WholeSum(rec.Parts, size)
	}
	return rec
}

// unreadable words what a scan could not read.
func (r *reading) unreadable(err error) error {
	if err == text.ErrBinary {
		return refusal.Binary(r.target.Asked, false)
	}
	return err
}

// written says how a text is written where that is not UTF-8 with line feeds.
func written(enc text.Encoding, eol text.EOL) string {
	charset, endings := enc.Name(), eol.Name()
	switch {
	case enc.IsUTF8() && endings == "":
		return ""
	case enc.IsUTF8():
		return fmt.Sprintf("(Line endings: %s. Edits keep them.)", endings)
	case endings == "":
		return fmt.Sprintf("(Encoding: %s. Edits keep it.)", charset)
	}
	return fmt.Sprintf("(Encoding: %s. Line endings: %s. Edits keep both.)", charset, endings)
}

// served notes what is shown and builds the answer. sum is of the bytes it shows, of a
// file that is not compared as a whole.
func (r *reading) served(page text.Page, rec state.Record, sum state.Sum) *toolcall.Result {
	if page.First == 0 {
		return toolcall.TextResult(r.target.Note(), r.want.behind(page.Total))
	}
	rec.Origin = state.ByRead
	rec.Shown = rec.Shown.Add(page.Shown)
	result := toolcall.TextResult(string(page.Body), r.target.Note(), written(rec.Enc, r.eol), page.Notice, r.onward(page))
	result.Shown = []toolcall.Shown{{Path: r.target.Path, Record: rec, View: r.want.view(), Sum: sum}}
	result.Meta = meta(rec)
	if page.Total >= 0 {
		result.Meta["fsmcp/lines"] = page.Total
	}
	return result
}

// onward says what follows the page, if anything does.
func (r *reading) onward(page text.Page) string {
	p := part{first: page.First, last: page.Last, total: page.Total, more: page.More}
	if page.Cut {
		p.nextColumn = page.NextColumn
	}
	if page.Total >= 0 {
		p.of = fmt.Sprintf(" of %d", page.Total)
	}
	return r.want.onward(p)
}

// fit takes the wanted page from a source and brings it within what the client
// passes on; what exceeds the token limit is refused with a call that fits.
func (r *reading) fit(src source) (text.Page, error) {
	room, bound := r.budget.Room(), r.budget.Bound()
	w := r.want
	if w.column == 0 {
		w.limit = min(w.limit, r.budget.Lines())
	}
	count := func(page text.Page) int { return r.budget.Tokens(page.Body, r.target.Asked.Ext()) }
	page, err := src(w, room)
	if err != nil || page.First == 0 && !page.More { // behind the end
		return page, err
	}
	if page.First > 0 {
		n := count(page)
		if n > r.budget.Most && w.column == 0 {
			next, _ := r.budget.ReadCall(page.First, page)
			return page, refusal.TooManyTokens(n, r.budget.Most, next, r.tool.grep)
		}
		if n <= bound {
			return page, nil
		}
	}
	if w.column == 0 || page.First == 0 {
		if w.limit = r.budget.LinesWithin(page, bound); w.limit > 0 {
			return src(w, room)
		}
		w.limit, w.column = defaultColumns, 1 // not even one line fits
		if page, err = src(w, room); err != nil {
			return page, err
		}
	}
	for n := count(page); n > bound; n = count(page) { // a page of columns shrinks until it fits
		room = max(int(int64(len(page.Body))*int64(bound)/int64(n)*95/100), 16)
		if page, err = src(w, room); err != nil || len(page.Body) <= 64 {
			return page, err
		}
	}
	return page, nil
}
