package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// countFor bounds the time that a Read goes on counting a big file's lines.
const countFor = 200 * time.Millisecond

// want is the part of a text that a Read asks for.
type want struct {
	first, limit int // limit counts characters where there is a column
	column       int // 0: whole lines
	plain        bool
	bounded      bool   // the caller has given the limit
	cell         string // of a notebook
	region       string // of a picture, as given
	pages        string // of a PDF, as given
}

// view is the want as the key of the unchanged answer.
func (w want) view() state.View {
	return state.View{Offset: w.first, Limit: w.limit, Column: w.column, Cell: w.cell}
}

// want checks the arguments and fills in what they leave out.
func (a *ReadArgs) want() (want, error) {
	w := want{first: 1, limit: defaultLines, plain: a.Offset == nil && a.Limit == nil, bounded: a.Limit != nil, cell: a.CellID, region: a.Region, pages: a.Pages}
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

// ignore drops the arguments that the kind of the file has no use for, and notes
// which of them were given: models fill in whatever a tool offers.
func (r *reading) ignore(kind string, useless ...string) {
	a := r.args
	var given []string
	for _, name := range useless {
		ok := false
		switch name {
		case "offset":
			ok = a.Offset != nil
		case "limit":
			ok = a.Limit != nil
		case "column":
			ok = a.Column != nil
		case "cell_id":
			ok, r.want.cell = a.CellID != "", ""
		case "region":
			ok, r.want.region = a.Region != "", ""
		case "pages":
			ok, r.want.pages = a.Pages != "", ""
		}
		if ok {
			given = append(given, name)
		}
	}
	if len(given) > 0 {
		r.target.remarks = append(r.target.remarks, fmt.Sprintf("(Ignored, because the file is %s: %s.)", kind, strings.Join(given, ", ")))
	}
}

// reader answers Read.
type reader struct {
	opener opener
	loader loader
	budget budget
	// exact asks a provider for a count, see Options.
	exact        func(ctx context.Context, b []byte) (n int, ok bool)
	maxFileBytes int64
	preferences  func() Preferences
	pictures     pictureReader
	pages        Pages
}

func (r *reader) run(ctx context.Context, call Call, a *ReadArgs) (*Result, error) {
	w, err := a.want()
	if err != nil {
		return nil, err
	}
	s, err := r.opener.open(call, perm.Read)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	switch {
	case s.Path == "/dev/null":
		return textResult(s.note(), emptyReminder), nil
	case s.Kind != fsys.Regular:
		err := r.opener.irregular(s)
		if s.Kind == fsys.Missing {
			err = r.opener.missing(s)
		}
		return nil, &showingError{err, Shown{Path: s.Path, State: &fileState{gone: true}}}
	}
	done, err := call.Session.files.Lock(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	defer done()
	f, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := r.budget.of(call.Client)
	b.counter = r.tokenCounter(ctx, call, s)
	one := reading{tool: r, target: s, call: call, args: a, want: w, file: f, budget: b}
	return one.answer(ctx)
}

// tokenCounter returns the counter for the answer to one Read. Text that the user was asked
// for, now or earlier, never leaves the machine.
func (r *reader) tokenCounter(ctx context.Context, call Call, s *target) *tokenCounter {
	m := &tokenCounter{local: r.budget.counter}
	asked := call.Consent != nil || call.Session.grants.Granted(s.Op, s.Path) || r.opener.access.Policy().AskedFor(perm.Read, s.Names)
	if r.exact != nil && !asked {
		m.exact = func(b []byte) (int, bool) { return r.exact(ctx, b) }
	}
	return m
}

// The reminders of the reference, word for word.
const emptyReminder = "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>"

func shortReminder(offset, lines int) string {
	return fmt.Sprintf("<system-reminder>Warning: the file exists but is shorter than the provided offset (%d). The file has %d lines.</system-reminder>", offset, lines)
}

// behind says that nothing is at the wanted place of a text of so many lines.
// The number is not known (-1) only where the line was found.
func (w want) behind(lines int) string {
	first, column := w.first, w.column
	switch {
	case column == 0 || lines >= 0 && lines < first:
		return shortReminder(first, lines)
	case lines < 0:
		return fmt.Sprintf("<system-reminder>Warning: line %d ends before the provided column (%d).</system-reminder>", first, column)
	}
	return fmt.Sprintf("<system-reminder>Warning: line %d ends before the provided column (%d). The file has %d lines.</system-reminder>", first, column, lines)
}

// reading is one Read under way.
type reading struct {
	tool   *reader
	target *target
	call   Call
	args   *ReadArgs
	want   want
	file   *fsys.File
	eol    text.EOL // of the text, once that is known
	budget budget
}

// source serves pages of a text: a document in memory, or a scan of the file.
type source interface {
	page(ctx context.Context, w want, room int) (text.Page, error)
}

func (r *reading) answer(ctx context.Context) (*Result, error) {
	stamp, err := r.file.Stamp()
	if err != nil {
		return nil, err
	}
	if stamp.Size == 0 {
		return r.empty(stamp)
	}
	kind, err := kindOf(r.file, stamp.Size, r.target.Asked.Ext())
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
	case isNotebook(r.target):
		r.ignore("a notebook", "region", "pages")
		return r.notebook(ctx, stamp)
	}
	r.ignore("a text", "cell_id", "region", "pages")
	if r.want.column > 0 && r.args.Offset == nil {
		return nil, refusal.ColumnWithoutOffset()
	}
	if r.want.plain && stamp.Size > r.tool.maxFileBytes {
		return nil, r.tooLarge(ctx, stamp.Size)
	}
	leave, err := r.tool.loader.admit(ctx, stamp.Size)
	if err != nil {
		return nil, err
	}
	defer leave()
	if stamp.Size <= readInMemory {
		return r.fromMemory(ctx)
	}
	return r.scanned(ctx, stamp)
}

// steady returns the outcome of decoding a file elsewhere, if that held still meanwhile.
// Half of one picture and half of another may well decode; and a file that is only being
// written is not damaged. (A file that is renamed or linked has the bytes it had.)
func (r *reading) steady(before fsys.Stamp, result *Result, err error) (*Result, error) {
	if after, broken := r.file.Stamp(); broken == nil && (after.Size != before.Size || after.Mtime != before.Mtime) {
		return nil, fsys.ErrUnstable
	}
	return result, err
}

// empty answers for a file of no bytes.
func (r *reading) empty(stamp fsys.Stamp) (*Result, error) {
	switch ext := r.target.Asked.Ext(); ext {
	case "png", "jpg", "jpeg", "gif", "webp", "bmp", "ico", "tiff", "tif":
		return nil, refusal.EmptyImage(r.target.name())
	case "pdf":
		return nil, refusal.EmptyPDF(r.target.name())
	}
	return r.shownEmpty(state.Record{Stamp: stamp, Settled: stamp.Settled(r.tool.loader.now()), Content: []byte{}}), nil
}

// shownEmpty answers for a file without text.
func (r *reading) shownEmpty(rec state.Record) *Result {
	result := textResult(r.target.note(), emptyReminder)
	result.Shown = []Shown{{Path: r.target.Path, Record: rec}}
	return result
}

// suggestFrom bounds the bytes of a large file that are looked at to name a call that
// fits.
const suggestFrom = 1 << 20

// tooLarge refuses a plain read and names one that fits, by the file's beginning.
func (r *reading) tooLarge(ctx context.Context, size int64) error {
	scan, err := text.NewScan(ctx, r.file, min(size, suggestFrom))
	if err != nil {
		return r.unreadable(err)
	}
	page, err := scan.Page(ctx, r.file, 1, defaultLines, min(r.budget.room(), r.budget.most*8), 0)
	if err != nil {
		return r.unreadable(err)
	}
	next, _ := r.budget.readCall(1, page)
	return refusal.TooLargeToRead(size, r.tool.maxFileBytes, next)
}

// fromMemory answers from memory.
func (r *reading) fromMemory(ctx context.Context) (*Result, error) {
	c, err := r.tool.loader.load(r.call.Session, r.target, r.file)
	if err != nil {
		return nil, err
	}
	return r.memoryText(ctx, c)
}

// memoryText answers with lines of a text in memory.
func (r *reading) memoryText(ctx context.Context, c *state.File) (*Result, error) {
	same := !c.ByParts() && c.Unchanged()
	if same && r.repeated(state.Sum{}) {
		return unchanged(r.target), nil
	}
	if c.Doc == nil {
		if err := decode(r.target, c); err != nil {
			return nil, err
		}
	}
	if c.Doc.Text == "" { // a byte order mark and nothing else
		return r.shownEmpty(c.Recorded(span.Set{}.Add(span.Span{End: c.Stamp.Size}), state.ByRead)), nil
	}
	page, err := r.fit(ctx, document{c.Doc})
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

// repeated reports whether the answer can be that nothing changed since the same was
// served before. sum is of the bytes to be shown, of a file that is not compared as a
// whole.
func (r *reading) repeated(sum state.Sum) bool {
	return r.tool.preferences().Dedup && r.call.Session.files.Stub(r.target.Path, r.want.view(), sum)
}

// scanned answers from a file that is too big to be held.
func (r *reading) scanned(ctx context.Context, stamp fsys.Stamp) (*Result, error) {
	rec, _ := r.call.Session.files.Get(r.target.Path)
	settled := stamp.Settled(r.tool.loader.now())
	scan := rec.Index
	if scan == nil || !rec.Proves(stamp) {
		var err error
		if scan, err = text.NewScan(ctx, r.file, stamp.Size); err != nil {
			return nil, r.unreadable(err)
		}
	}
	page, err := r.fit(ctx, scanning{scan, r.file})
	if err != nil {
		return nil, r.unreadable(err)
	}
	if after, err := r.file.Stamp(); err != nil || !after.Same(stamp) {
		settled = false // it changed while it was read: the index may be of neither state
	}
	r.eol = scan.EOL()
	now := state.Record{Stamp: stamp, Settled: settled, Index: scan, Enc: scan.Enc()}
	return r.servedPart(page, now, func() ([]byte, error) {
		raw, _, err := r.file.ReadAll(changeInMemory)
		return raw, err
	})
}

// servedPart answers with a page of a file that is compared by its shown parts only.
// now is its record without what was shown before; all reads the whole file. Parts of
// an older state stay as they are: each proves its own bytes alone. The page is
// recorded by the very bytes that it shows, whatever becomes of the file meanwhile.
func (r *reading) servedPart(page text.Page, now state.Record, all func() ([]byte, error)) (*Result, error) {
	if page.First == 0 {
		return r.served(page, now, state.Sum{}), nil
	}
	old, _ := r.call.Session.files.Get(r.target.Path)
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
	if now.Hash == (state.Sum{}) && size <= changeInMemory && len(now.Shown.Missing(size)) == 0 {
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
		return refusal.Binary(r.target.Asked)
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
func (r *reading) served(page text.Page, rec state.Record, sum state.Sum) *Result {
	if page.First == 0 {
		return textResult(r.target.note(), r.want.behind(page.Total))
	}
	rec.Origin = state.ByRead
	rec.Shown = rec.Shown.Add(page.Shown)
	result := textResult(string(page.Body), r.target.note(), written(rec.Enc, r.eol), page.Notice, r.onward(page))
	result.Shown = []Shown{{Path: r.target.Path, Record: rec, View: r.want.view(), Sum: sum}}
	result.Meta = meta(rec)
	if page.Total >= 0 {
		result.Meta["fsmcp/lines"] = page.Total
	}
	return result
}

// meta are the facts of a file for programs: its hash where that is known anyway.
func meta(rec state.Record) map[string]any {
	m := map[string]any{"fsmcp/size": rec.Stamp.Size}
	if rec.Hash != (state.Sum{}) {
		m["fsmcp/hash"] = hex.EncodeToString(rec.Hash[:])
	}
	return m
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

// part is the extent of the text that an answer shows.
type part struct {
	first, last, total int    // lines; the total is -1 where it is not known
	of                 string // the total in words
	nextColumn         int    // where the rest of the last line begins; 0: all of it is shown
	more               bool   // something follows
	call               string // the arguments that name the text beside the file
}

// onward says what follows a part: with the call that shows it, unless the caller has
// drawn the line there itself.
func (w want) onward(p part) string {
	left := w.left(p)
	switch {
	case p.nextColumn > 0 && left <= 0:
		return fmt.Sprintf("(Line %d%s goes on at column %d.)", p.last, p.of, p.nextColumn)
	case p.nextColumn > 0:
		limit := ""
		if w.bounded && w.column > 0 {
			limit = fmt.Sprintf(", limit=%d", left)
		}
		return fmt.Sprintf("(Line %d%s goes on. Next: Read %soffset=%d, column=%d%s.)", p.last, p.of, p.call, p.last, p.nextColumn, limit)
	case p.more && left <= 0:
		return fmt.Sprintf("(Lines %d-%d%s are shown.)", p.first, p.last, p.of)
	case p.more:
		limit := min(left, defaultLines)
		if p.total >= 0 {
			limit = min(limit, p.total-p.last)
		}
		return fmt.Sprintf("(Lines %d-%d%s are shown. Next: Read %soffset=%d, limit=%d.)", p.first, p.last, p.of, p.call, p.last+1, limit)
	}
	return ""
}

// left returns the lines or characters that a part lacks of what the caller wanted.
func (w want) left(p part) int {
	switch {
	case !w.bounded, w.column == 0 && p.nextColumn > 0:
		return math.MaxInt
	case w.column == 0:
		return w.limit - (p.last - p.first + 1)
	case p.nextColumn > 0:
		return w.limit - (p.nextColumn - w.column)
	}
	return 0
}

// fit takes the wanted page from a source and brings it within what the client
// passes on; what exceeds the token limit is refused with a call that fits.
func (r *reading) fit(ctx context.Context, src source) (text.Page, error) {
	room, bound := r.budget.room(), r.budget.bound()
	w := r.want
	page, err := src.page(ctx, w, room)
	if err != nil {
		return page, err
	}
	if page.First == 0 && !page.More {
		return page, nil // behind the end
	}
	if page.First == 0 { // not even one line fits
		w.limit, w.column = defaultColumns, 1
		if page, err = src.page(ctx, w, room); err != nil {
			return page, err
		}
	}
	count := r.budget.tokens(page.Body, r.target.Asked.Ext())
	if count > r.budget.most && w.column == 0 {
		next, _ := r.budget.readCall(page.First, page)
		return page, refusal.TooManyTokens(count, r.budget.most, next)
	}
	if count <= bound {
		return page, nil
	}
	if w.column == 0 {
		if k := r.budget.linesWithin(page, bound); k > 0 {
			w.limit = k
			return src.page(ctx, w, room)
		}
		w.limit, w.column = defaultColumns, 1
		if page, err = src.page(ctx, w, room); err != nil {
			return page, err
		}
		count = r.budget.tokens(page.Body, r.target.Asked.Ext())
	}
	for count > bound { // a page of columns shrinks until it fits
		room = max(int(int64(len(page.Body))*int64(bound)/int64(count)*95/100), 16)
		if page, err = src.page(ctx, w, room); err != nil {
			return page, err
		}
		if len(page.Body) <= 64 {
			break
		}
		count = r.budget.tokens(page.Body, r.target.Asked.Ext())
	}
	return page, nil
}

// document serves pages from memory.
type document struct{ doc *text.Doc }

func (d document) page(_ context.Context, w want, room int) (text.Page, error) {
	if w.column > 0 {
		return d.doc.ColumnPage(w.first, w.column, w.limit, room), nil
	}
	return d.doc.Page(w.first, w.limit, room), nil
}

// scanning serves pages from the file itself.
type scanning struct {
	scan *text.Scan
	file io.ReaderAt
}

func (s scanning) page(ctx context.Context, w want, room int) (text.Page, error) {
	if w.column > 0 {
		return s.scan.ColumnPage(ctx, s.file, w.first, w.column, w.limit, room)
	}
	return s.scan.Page(ctx, s.file, w.first, w.limit, room, countFor)
}

// textResult is an answer of one text block: the given parts, one below the
// other, empty ones left out.
func textResult(parts ...string) *Result {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	if len(kept) == 1 {
		return &Result{Blocks: []Block{{Text: kept[0]}}}
	}
	return &Result{Blocks: []Block{{Text: strings.Join(kept, "\n")}}}
}
