package tools

import (
	"context"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Limits of Read (source: the specification of the tools, "Read").
const (
	// defaultColumns bounds the characters of a Read with column and without limit.
	defaultColumns = 4000
	// DefaultMaxTokens bounds the text of one Read.
	DefaultMaxTokens = 25_000
	// readInMemory is the size up to which Read holds a file in memory; larger ones are
	// scanned in constant memory.
	readInMemory = 8 << 20
)

// want checks the arguments and fills in what they leave out.
func (a *ReadArgs) want() (want, error) {
	w := want{first: 1, limit: toolcall.DefaultLines, plain: a.Offset == nil && a.Limit == nil, bounded: a.Limit != nil, cell: a.CellID, region: a.Region, pages: a.Pages}
	if a.Offset != nil {
		w.first = max(1, *a.Offset)
	}
	if a.Column != nil {
		w.column, w.limit = *a.Column, defaultColumns
	}
	if a.Limit != nil {
		w.limit = *a.Limit
	}
	switch {
	case a.Offset != nil && *a.Offset < 0:
		return w, refusal.BadOffset(*a.Offset)
	case a.Limit != nil && *a.Limit <= 0:
		return w, refusal.BadLimit(*a.Limit)
	case a.Column != nil && *a.Column <= 0:
		return w, refusal.BadColumn(*a.Column)
	}
	return w, nil
}

func (r *reader) run(ctx context.Context, call toolcall.Call, a *ReadArgs) (*toolcall.Result, error) {
	w, err := a.want()
	if err != nil {
		return nil, err
	}
	s, err := r.opener.Open(call, perm.Read)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	switch {
	case s.Path == "/dev/null":
		return toolcall.TextResult(s.Note(), emptyReminder), nil
	case s.Kind != fsys.Regular:
		err := r.opener.Irregular(s)
		if s.Kind == fsys.Missing {
			err = r.opener.Missing(s)
		}
		return nil, toolcall.ShowingGone(err, s.Path)
	}
	done, err := call.Session.Files.Lock(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	defer done()
	f, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := r.budget.Of(call.Client)
	b.Counter = r.tokenCounter(ctx, call, s)
	one := reading{tool: r, target: s, call: call, args: a, want: w, file: f, content: f, budget: b}
	return one.answer(ctx)
}

func (r *reading) answer(ctx context.Context) (*toolcall.Result, error) {
	stamp, err := r.file.Stamp()
	if err != nil {
		return nil, err
	}
	if stamp.Size == 0 {
		return r.empty(stamp)
	}
	kind, err := toolcall.KindOf(r.file, stamp.Size, r.target.Asked.Ext())
	switch {
	case err != nil:
		return nil, err
	case kind.IsImage():
		r.ignore("an image", "offset", "limit", "column", "cell_id", "pages")
		result, err := r.picture(ctx, kind, stamp.Size)
		return r.steady(stamp, result, err)
	case kind == media.PDF:
		r.ignore("a PDF", "offset", "limit", "column", "cell_id", "region")
		result, err := r.pdf(ctx, stamp.Size)
		return r.steady(stamp, result, err)
	case toolcall.IsNotebook(r.target):
		r.ignore("a notebook", "region", "pages")
		return r.notebook(ctx, stamp)
	}
	return r.text(ctx, stamp.Size, func() (*toolcall.Result, error) {
		if stamp.Size > readInMemory {
			return r.scanned(ctx, stamp)
		}
		c, err := r.tool.loader.Load(r.call.Session, r.target, r.file)
		if err != nil {
			return nil, err
		}
		return r.memoryText(ctx, c)
	})
}

// text serves a text of a size, unless the arguments do not suit it.
func (r *reading) text(ctx context.Context, size int64, serve func() (*toolcall.Result, error)) (*toolcall.Result, error) {
	r.ignore("a text", "cell_id", "region", "pages")
	if r.want.column > 0 && r.args.Offset == nil {
		return nil, refusal.ColumnWithoutOffset
	}
	if r.want.plain && size > r.tool.maxFileBytes {
		return nil, r.tooLarge(ctx, size)
	}
	leave, err := r.tool.loader.Admit(ctx, size)
	if err != nil {
		return nil, err
	}
	defer leave()
	return serve()
}

// empty answers for a file of no bytes.
func (r *reading) empty(stamp fsys.Stamp) (*toolcall.Result, error) {
	switch ext := r.target.Asked.Ext(); ext {
	case "png", "jpg", "jpeg", "gif", "webp", "bmp", "ico", "tiff", "tif":
		return nil, refusal.EmptyImage(r.target.Name())
	case "pdf":
		return nil, refusal.EmptyPDF(r.target.Name())
	}
	return r.shownEmpty(state.Record{Stamp: stamp, Settled: stamp.Settled(r.tool.loader.Now()), Text: []byte{}}), nil
}

// suggestFrom bounds the bytes of a large file that are looked at to name a call that
// fits.
const suggestFrom = 1 << 20

// tooLarge refuses a plain read and names one that fits, by the file's beginning.
func (r *reading) tooLarge(ctx context.Context, size int64) error {
	scan, err := text.NewScan(ctx, r.content, min(size, suggestFrom))
	if err != nil {
		return r.unreadable(err)
	}
	page, err := scan.Page(ctx, r.content, 1, toolcall.DefaultLines, min(r.budget.Room(), r.budget.Most*8), 0)
	if err != nil {
		return r.unreadable(err)
	}
	next, _ := r.budget.ReadCall(1, page)
	return refusal.TooLargeToRead(size, r.tool.maxFileBytes, next, r.tool.grep)
}
