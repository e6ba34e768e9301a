package tools

import (
	"context"
	"io"
	"math"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/tokens"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Limits of Read.
const (
	// defaultColumns bounds the characters of a Read with column and without limit.
	defaultColumns = 4000
	// DefaultMaxTokens bounds the text of one Read.
	DefaultMaxTokens = 25_000
	// defaultMaxBytes is the size of a text above which a Read of all of it is too long.
	defaultMaxBytes = 256 << 10
	// readInMemory is the size up to which Read holds a file in memory; larger ones are
	// scanned in constant memory.
	readInMemory = 8 << 20
)

// reader answers Read.
type reader struct {
	Opener toolcall.Opener
	Loader toolcall.Loader
	Budget toolcall.Budget
	// exact asks a provider for a count, see Options.
	exact        func(ctx context.Context, b []byte) (n int, ok bool)
	maxFileBytes int64
	grep         bool // the caller has Grep
	preferences  func() Preferences
	pictures     pictureReader
	pages        Pages
	documents    Documents
	drawFor      time.Duration // bounds the drawing of an answer's pages; 0: nothing does
}

// reading is one Read under way.
type reading struct {
	tool   *reader
	target *toolcall.Target
	call   toolcall.Call
	args   *ReadArgs
	want   want
	budget toolcall.Budget
	// overlong says that the text is longer than one answer: it shows the beginning.
	overlong bool
}

func (r *reader) run(ctx context.Context, call toolcall.Call, a *ReadArgs) toolcall.Outcome {
	w, err := a.want()
	if err != nil {
		return toolcall.Failed(err)
	}
	s, out := r.Opener.Open(call, perm.Read)
	if out.Err != nil {
		return out
	}
	defer s.Close()
	one := r.reading(s, call, a, w)
	switch {
	case s.Path == "/dev/null":
		out.Answer = toolcall.Answer{Notes: []string{s.Note(), emptyReminder}}
	case s.Kind == fsys.Missing:
		out = toolcall.Refused(r.Opener.Missing(s), toolcall.Shown{Path: s.Path, How: toolcall.Gone})
	case s.Kind == fsys.Directory:
		out = one.folder(ctx)
	case s.Kind != fsys.Regular:
		out = toolcall.Refused(r.Opener.Irregular(s), toolcall.Shown{Path: s.Path, How: toolcall.Gone})
	default:
		out = one.regular(ctx)
	}
	out.SetFile(s)
	return out
}

// reading begins a Read of a target.
func (r *reader) reading(s *toolcall.Target, call toolcall.Call, a *ReadArgs, w want) *reading {
	one := &reading{tool: r, target: s, call: call, args: a, want: w, budget: r.Budget.ForClient(call.Client)}
	if w.large {
		one.budget = lifted(one.budget, call.Client)
	}
	return one
}

// regular answers with a regular file.
func (r *reading) regular(ctx context.Context) toolcall.Outcome {
	done, err := r.call.Session.Files.Lock(ctx, r.target.Path)
	if err != nil {
		return toolcall.Failed(err)
	}
	defer done()
	f, err := r.target.Open()
	if err != nil {
		return toolcall.Failed(err)
	}
	defer f.Close()
	stamp, err := f.Stamp()
	if err != nil {
		return toolcall.Failed(err)
	}
	r.budget.Counter = r.tool.tokenCounter(ctx, r.call, r.target)
	return r.answer(ctx, f, stamp)
}

// tokenCounter returns the counter for the answer to one Read. Text that the user was asked
// for, now or earlier, never leaves the machine.
func (r *reader) tokenCounter(ctx context.Context, call toolcall.Call, s *toolcall.Target) *tokens.Calibrated {
	m := &tokens.Calibrated{Local: r.Budget.Counter}
	asked := call.Consent != nil || call.Session.Grants.Granted(s.Op, s.Path) || r.Opener.Access.Policy().Asks(perm.Read, s.Names)
	if r.exact != nil && !asked {
		m.Exact = func(b []byte) (int, bool) { return r.exact(ctx, b) }
	}
	return m
}

// answer answers with an open file, by its kind.
func (r *reading) answer(ctx context.Context, f *fsys.File, stamp fsys.Stamp) toolcall.Outcome {
	if stamp.Size == 0 {
		return r.empty(stamp)
	}
	content := io.NewSectionReader(f, 0, stamp.Size)
	kind, err := kindOf(f, stamp.Size, r.target.Asked.Ext())
	switch {
	case err != nil:
		return toolcall.Failed(err)
	case kind.IsImage():
		out := r.picture(ctx, content, kind)
		return steady(f, stamp, out)
	case kind == media.PDF:
		out := r.pdf(ctx, content)
		return steady(f, stamp, out)
	case kind == media.Office:
		return steady(f, stamp, r.office(ctx, f, stamp.Size))
	case toolcall.IsNotebook(r.target):
		return r.notebook(ctx, f, stamp)
	}
	leave, err := r.beginText(ctx, content)
	if err != nil {
		return toolcall.Failed(err)
	}
	defer leave()
	if stamp.Size > readInMemory {
		return r.scanned(ctx, f, stamp)
	}
	c, err := r.tool.Loader.Load(r.call.Session, r.target, f)
	if err != nil {
		return toolcall.Failed(err)
	}
	return r.memoryText(c)
}

// kindOf tells what a file of a size is by its first bytes and its extension.
func kindOf(f *fsys.File, size int64, ext string) (media.Kind, error) {
	head := make([]byte, min(size, media.HeadSize))
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return media.None, err
	}
	return media.Sniff(head[:n], ext), nil
}

// beginText checks that the arguments suit a text, and waits for its turn.
func (r *reading) beginText(ctx context.Context, content *io.SectionReader) (leave func(), err error) {
	r.ignore("a text", "cell_id", "region", "pages")
	if r.want.column > 0 && r.args.Offset == nil {
		return nil, refusal.New(refusal.ColumnWithoutOffset)
	}
	if r.want.plain && content.Size() > r.tool.mostBytes(r.want.large) {
		if r.tool.refuses() {
			return nil, r.tooLarge(ctx, content)
		}
		r.overlong = true
	}
	return r.tool.Loader.Admit(ctx, content.Size())
}

// empty answers for a file of no bytes.
func (r *reading) empty(stamp fsys.Stamp) toolcall.Outcome {
	switch ext := r.target.Asked.Ext(); ext {
	case "png", "jpg", "jpeg", "gif", "webp", "bmp", "ico", "tiff", "tif":
		return toolcall.Failed(refusal.New(refusal.EmptyImage, r.target.Name()))
	case "pdf":
		return toolcall.Failed(refusal.New(refusal.EmptyPDF, r.target.Name()))
	}
	return r.shownEmpty(state.Record{Stamp: stamp, Settled: stamp.Settled(r.tool.Loader.Now()), Text: []byte{}})
}

// suggestFrom bounds the bytes of a large file that are looked at to name a call that
// fits.
const suggestFrom = 1 << 20

// tooLarge refuses a plain read and names one that fits, by the file's beginning.
func (r *reading) tooLarge(ctx context.Context, content *io.SectionReader) error {
	scan, err := text.NewScan(ctx, content, min(content.Size(), suggestFrom))
	if err != nil {
		return r.unreadable(err)
	}
	page, err := scan.Page(ctx, content, 1, toolcall.DefaultLines, min(r.budget.Room(), min(r.budget.Most, 1<<20)*8), 0)
	if err != nil {
		return r.unreadable(err)
	}
	next, _ := r.budget.ReadCall(1, page)
	return refusal.New(refusal.TooLargeToRead,
		phrase.Above(content.Size(), r.tool.maxFileBytes), phrase.Limit(r.tool.maxFileBytes), refusal.WithGrep(r.tool.grep), next)
}

// want checks the arguments and fills in what they leave out.
func (a *ReadArgs) want() (want, error) {
	w := want{first: 1, limit: toolcall.DefaultLines, large: a.Large, plain: a.Offset == nil && a.Limit == nil, bounded: a.Limit != nil, cell: a.CellID, region: a.Region, pages: a.Pages}
	if a.Offset != nil {
		if w.first = *a.Offset; w.first == 0 {
			w.first = 1
		}
	}
	w.asked = w.first
	if a.Column != nil {
		w.column, w.limit = *a.Column, defaultColumns
	}
	if a.Limit != nil {
		w.limit = *a.Limit
	} else if a.Large && w.plain {
		w.limit = math.MaxInt
	}
	switch {
	case a.Limit != nil && *a.Limit <= 0:
		return w, refusal.New(refusal.BadLimit, *a.Limit)
	case a.Column != nil && *a.Column <= 0:
		return w, refusal.New(refusal.BadColumn, *a.Column)
	}
	return w, nil
}
