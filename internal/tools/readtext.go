package tools

import (
	"context"
	"fmt"
	"io"
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
func (r *reading) memoryText(c *state.KnownFile) toolcall.Outcome {
	if c.HasText() && r.repeated(state.Sum{}) {
		return r.unchanged()
	}
	if c.Doc == nil {
		if err := toolcall.Decode(r.target, c); err != nil {
			return toolcall.Failed(err)
		}
	}
	if c.Doc.Text == "" { // a byte order mark and nothing else
		return r.shownEmpty(c.Recorded(span.Set{}.Add(span.Span{End: c.Stamp.Size})))
	}
	r.want.first = r.want.from(c.Doc.Lines())
	page, err := r.fit(func(w want, room int) (text.Page, error) {
		if w.column > 0 {
			return c.Doc.ColumnPage(w.first, w.column, w.limit, room), nil
		}
		return c.Doc.Page(w.first, w.limit, room), nil
	})
	if err != nil {
		return toolcall.Failed(err)
	}
	rec := c.Compare(nothing).Record
	if rec.Text == nil {
		return r.servedPart(page, rec, c.Doc.EOL, state.Memory(c.Raw))
	}
	return r.served(page, c.WithShown(rec, span.Set{}.Add(page.Shown)), c.Doc.EOL, state.Sum{})
}

// nothing is passed if a Read compares no part that was shown before: each part is compared
// later, when an Edit needs it.
var nothing = []span.Span{}

// scanned answers from a file that is too big to be held.
func (r *reading) scanned(ctx context.Context, f *fsys.File, stamp fsys.Stamp) toolcall.Outcome {
	rec, _ := r.call.Session.Files.Get(r.target.Path)
	rec = rec.At(stamp, stamp.Settled(r.tool.Loader.Now()))
	if rec.Index == nil {
		var err error
		if rec.Index, err = text.NewScan(ctx, f, stamp.Size); err != nil {
			return toolcall.Failed(r.unreadable(err))
		}
	}
	scan := rec.Index
	rec.Enc = scan.Enc()
	if r.want.first < 0 {
		var err error
		if r.want.first, err = scan.Tail(ctx, f, -r.want.first, countFor); err != nil {
			return toolcall.Failed(r.unreadable(err))
		}
	}
	page, err := r.fit(func(w want, room int) (text.Page, error) {
		if w.column > 0 {
			return scan.ColumnPage(ctx, f, w.first, w.column, w.limit, room)
		}
		return scan.Page(ctx, f, w.first, w.limit, room, countFor)
	})
	if err != nil {
		return toolcall.Failed(r.unreadable(err))
	}
	if after, err := f.Stamp(); err != nil || !after.Same(stamp) {
		rec.Settled = false // it changed while it was read: the index may be of neither state
	}
	return r.servedPart(page, rec, scan.EOL(), f)
}

// servedPart answers with a page of a file whose text no record keeps. rec is its record
// without the page. Parts of an older state stay as they are: each proves its own bytes
// alone, until they are all of the file. The page is recorded by the very bytes that it
// shows, whatever becomes of the file meanwhile.
func (r *reading) servedPart(page text.Page, rec state.Record, eol text.EOL, content io.ReaderAt) toolcall.Outcome {
	if page.First == 0 {
		return r.served(page, rec, eol, state.Sum{})
	}
	old, _ := r.call.Session.Files.Get(r.target.Path)
	parts := state.PartsOf(page.Raw, page.Shown.Start)
	same := old.Text == nil && old.Proves(rec.Stamp)
	if same && r.repeated(state.SumOf(parts)) {
		return r.unchanged()
	}
	rec = rec.With(parts)
	if rec.InFull() && !(same && old.InFull()) {
		now, err := state.Compare(content, rec.Stamp.Size, rec, nil)
		if err != nil {
			return toolcall.Failed(err)
		}
		rec = now.Record
	}
	return r.served(page, rec, eol, state.SumOf(parts))
}

// unreadable words what a scan could not read.
func (r *reading) unreadable(err error) error {
	if err == text.ErrBinary {
		return refusal.Binary(r.target.Asked, false)
	}
	return err
}

// written says how a text is written if that is not UTF-8 with line feeds.
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

// served is the answer with a page of a text. rec is the record with what the page shows, and
// sum is of the bytes that it shows; zero if the record's text proves them.
func (r *reading) served(page text.Page, rec state.Record, eol text.EOL, sum state.Sum) toolcall.Outcome {
	if page.First == 0 {
		return r.noteOnly(r.want.pastEnd(page.Total))
	}
	counted, end := "", ""
	if page.First < 0 {
		counted = relative
	}
	if page.Unended && r.target.Path != "" { // the clipboard has no path
		end = unended
	}
	return toolcall.Outcome{
		Answer: toolcall.Answer{
			Body:  string(page.Body),
			Notes: []string{r.target.Note(), written(rec.Enc, eol), page.Notice, counted, end, r.onward(page)},
			Facts: toolcall.Facts{Size: new(rec.Stamp.Size), Lines: max(page.Total, 0)},
		},
		Effects: toolcall.Effects{Shown: []toolcall.Shown{{Path: r.target.Path, Record: rec, View: r.want.view(), Sum: sum}}},
	}
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
	return r.rest(p)
}

// fit takes the wanted page from a source and brings it within what the client
// passes on. What exceeds the token limit is cut to what fits, or, by the settings, refused
// with a call that fits.
func (r *reading) fit(src source) (text.Page, error) {
	room, bound := r.bounds()
	w := r.want
	if w.column == 0 {
		w.limit = min(w.limit, r.budget.Lines())
	}
	count := func(page text.Page) int { return r.budget.Tokens(page.Body, r.target.Asked.Ext()) }
	page, err := src(w, room)
	if err != nil || page.First == 0 && !page.More { // behind the end
		return page, err
	}
	if page.First != 0 {
		n := count(page)
		if n > r.budget.Most && w.column == 0 {
			if r.tool.refuses() {
				next, _ := r.budget.ReadCall(page.First, page)
				return page, refusal.New(refusal.TooManyTokens, n, r.budget.Most, refusal.WithGrep(r.tool.grep), next)
			}
			r.overlong = true
			room, bound = r.bounds()
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
