package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/tokens"
)

// countFor is how long a Read may go on counting a big file's lines.
const countFor = 200 * time.Millisecond

// want is what part of a text a Read asks for.
type want struct {
	first, limit int
	column       int // 0: whole lines
	plain        bool
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
	w := want{first: 1, limit: defaultLines, plain: a.Offset == nil && a.Limit == nil, cell: a.CellID, region: a.Region, pages: a.Pages}
	if a.Offset != nil {
		w.first = max(1, *a.Offset)
	}
	if a.Limit != nil {
		w.limit = *a.Limit
	}
	if a.Column != nil {
		w.column = *a.Column
	}
	switch {
	case a.Offset != nil && *a.Offset < 0:
		return w, badRange("offset is the number of the first line, counted from 1; %d is negative.", *a.Offset)
	case a.Limit != nil && *a.Limit <= 0:
		return w, badRange("limit is how many lines to read and must be at least 1; %d is not.", *a.Limit)
	case a.Column != nil && *a.Column <= 0:
		return w, badRange("column is the number of the first character, counted from 1; %d is not one.", *a.Column)
	case a.Column != nil && a.CellID == "" && (a.Offset == nil || w.limit != 1):
		return w, refuse(slugBadArgument, "column pages through one long line: give offset (the line) and limit: 1 with it.")
	}
	return w, nil
}

func badRange(format string, a ...any) error {
	return &refusal{slug: slugBadArgument, code: 7, text: fmt.Sprintf(format, a...)}
}

// read answers Read.
func (h *House) read(ctx context.Context, call Call, a *ReadArgs) (*Result, error) {
	w, err := a.want()
	if err != nil {
		return nil, err
	}
	s, err := h.enter(call, perm.Read, a.FilePath)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	switch {
	case s.Path == "/dev/null":
		return textResult(s.note(), emptyReminder), nil
	case s.Kind != fsys.Regular:
		call.toldGone(s.Path)
	}
	switch {
	case s.Kind == fsys.Missing:
		return nil, h.missing(s)
	case s.Kind == fsys.Directory:
		return nil, h.directory(s)
	case s.Kind == fsys.Special:
		return nil, special(s.Asked)
	}
	done, err := call.Session.files.Turn(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	defer done()
	if h.unread(call.Session, s, w) {
		return unchanged(s), nil
	}
	f, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := reading{House: h, spot: s, call: call, want: w, file: f, meter: h.meter(ctx, call, s)}
	return r.answer(ctx)
}

// unread tells whether the answer may be a stub without a look at the file:
// its stamp proves that it is unchanged.
func (h *House) unread(session *Session, s *spot, w want) bool {
	if w.region != "" || w.pages != "" { // what a text does not have
		return false
	}
	rec, ok := session.files.Get(s.Path)
	return ok && h.Preferences().Dedup && rec.Proves(s.Stamp) && session.files.Stub(s.Path, w.view())
}

// The reminders of the reference, word for word.
const emptyReminder = "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>"

func shortReminder(offset, lines int) string {
	return fmt.Sprintf("<system-reminder>Warning: the file exists but is shorter than the provided offset (%d). The file has %d lines.</system-reminder>", offset, lines)
}

// behind says that nothing is at the wanted place of a text of so many lines.
// The number is not known (-1) only where the line was found.
func (r *reading) behind(lines int) string {
	first, column := r.want.first, r.want.column
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
	*House
	spot *spot
	call Call
	want want
	file *fsys.File

	meter *meter
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
	kind, err := r.kind(stamp.Size)
	switch {
	case err != nil:
		return nil, err
	case kind != media.PDF && r.want.pages != "":
		return nil, refuse(slugBadArgument, "pages names pages of a PDF; %s is none. Leave it out.", r.spot.name())
	case kind.IsImage():
		return r.steady(stamp, func() (*Result, error) { return r.picture(ctx, kind, stamp.Size) })
	case kind == media.PDF:
		return r.steady(stamp, func() (*Result, error) { return r.pdf(ctx, stamp.Size) })
	case r.want.region != "":
		return nil, refuse(slugBadArgument, "region is a part of an image; %s is none. Leave it out.", r.spot.name())
	}
	if isNotebook(r.spot) {
		return r.notebook(ctx, stamp)
	}
	if r.want.cell != "" {
		return nil, refuse(slugBadArgument, "cell_id names a cell of a Jupyter notebook (.ipynb); %s is none. Leave it out.", r.spot.name())
	}
	if r.want.plain && stamp.Size > plainBytes {
		return nil, r.tooLarge(ctx, stamp.Size)
	}
	leave, err := r.admit(ctx, stamp.Size)
	if err != nil {
		return nil, err
	}
	defer leave()
	if stamp.Size <= heldBytes {
		return r.held(ctx)
	}
	return r.scanned(ctx, stamp)
}

// steady shows what is decoded elsewhere, of a file that held still meanwhile. Half
// of one picture and half of another may well decode; and a file that is only being
// written is not damaged. (A file that is renamed or linked has the bytes it had.)
func (r *reading) steady(before fsys.Stamp, show func() (*Result, error)) (*Result, error) {
	res, err := show()
	if after, broken := r.file.Stamp(); broken == nil && (after.Size != before.Size || after.Mtime != before.Mtime) {
		return nil, fsys.ErrUnstable
	}
	return res, err
}

// empty answers for a file of no bytes.
func (r *reading) empty(stamp fsys.Stamp) (*Result, error) {
	switch ext := r.spot.Asked.Ext(); ext {
	case "png", "jpg", "jpeg", "gif", "webp", "bmp", "ico", "tiff", "tif":
		return nil, &refusal{slug: slugBrokenFile, code: 5, text: "Empty image files cannot be processed. Path: " + r.spot.name() + "\nIt has no bytes: have it made anew, or name another file."}
	case "pdf":
		return nil, refuse(slugBrokenFile, "PDF file is empty: %s\nIt has no bytes: have it made anew, or name another file.", r.spot.name())
	}
	rec := state.Record{Stamp: stamp, Settled: stamp.Settled(r.Now()), Hash: sha256.Sum256(nil), Content: []byte{}}
	r.call.whenSent(func() { r.call.Session.files.Put(r.spot.Path, rec) })
	return textResult(r.spot.note(), emptyReminder), nil
}

// shownEmpty answers for a file that holds a byte order mark alone.
func (r *reading) shownEmpty(c *held) *Result {
	rec := c.stamped(state.Record{Hash: c.hash(), Content: c.content(), Shown: state.Ranges{}.Add(state.Span{End: c.stamp.Size})})
	r.call.whenSent(func() { r.call.Session.files.Put(c.path, rec) })
	return textResult(r.spot.note(), emptyReminder)
}

// kind tells what the file is by its first bytes.
func (r *reading) kind(size int64) (media.Kind, error) {
	head := make([]byte, min(size, media.HeadSize))
	n, err := r.file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return media.None, err
	}
	return media.Sniff(head[:n], r.spot.Asked.Ext()), nil
}

// suggestFrom is how much of a large file is looked at to name a call that fits.
const suggestFrom = 1 << 20

// tooLarge refuses a plain read and names one that fits, by the file's beginning.
func (r *reading) tooLarge(ctx context.Context, size int64) error {
	scan, err := text.NewScan(ctx, r.file, min(size, suggestFrom))
	if err != nil {
		return r.unreadable(err)
	}
	page, err := scan.Page(ctx, r.file, 1, defaultLines, r.MaxTokens*8, 0)
	if err != nil {
		return r.unreadable(err)
	}
	next := r.fitting(page, r.MaxTokens)
	return refuse(slugTooLarge, "File content (%s) exceeds maximum allowed size (256KB). Please use offset and limit parameters to read specific portions of the file, or search for specific content. A call that fits: Read %s.",
		amount(size), next)
}

// held answers from memory.
func (r *reading) held(ctx context.Context) (*Result, error) {
	c, err := r.hold(r.call, r.spot, r.file)
	if err != nil {
		return nil, err
	}
	return r.heldText(ctx, c)
}

// known is the record of a file, if it is of the bytes that are there.
func (r *reading) known(c *held) (state.Record, bool) {
	rec, ok := r.call.Session.files.Get(c.path)
	return rec, ok && c.unchanged(rec)
}

// heldText answers with lines of a text in memory.
func (r *reading) heldText(ctx context.Context, c *held) (*Result, error) {
	rec, ok := r.known(c)
	if ok && r.Preferences().Dedup && r.call.Session.files.Stub(c.path, r.want.view()) {
		return unchanged(r.spot), nil
	}
	if c.doc.Text == "" { // a byte order mark and nothing else
		return r.shownEmpty(c), nil
	}
	page, err := r.fit(ctx, document{c.doc})
	if err != nil {
		return nil, err
	}
	if !ok {
		rec = state.Record{Hash: c.hash()}
	}
	rec.Content = c.content()
	return r.served(page, c.stamped(rec), c.doc.Enc, hex.EncodeToString(rec.Hash[:])), nil
}

// scanned answers from a file that is too big to be held.
func (r *reading) scanned(ctx context.Context, stamp fsys.Stamp) (*Result, error) {
	files := r.call.Session.files
	rec, ok := files.Get(r.spot.Path)
	settled := stamp.Settled(r.Now())
	same := ok && rec.Proves(stamp)
	scan := rec.Index
	if !same || scan == nil {
		var err error
		if scan, err = text.NewScan(ctx, r.file, stamp.Size); err != nil {
			return nil, r.unreadable(err)
		}
	}
	page, err := r.fit(ctx, scanning{scan, r.file})
	if err != nil {
		return nil, r.unreadable(err)
	}
	hash := ""
	if stamp.Size <= state.WholeHash {
		if rec, err = r.digested(ctx, rec, ok, same, scan); err != nil {
			return nil, err
		}
		hash = hex.EncodeToString(rec.Hash[:])
	} else {
		if rec, err = r.parted(rec, ok, same, page.Shown); err != nil {
			return nil, err
		}
	}
	if after, err := r.file.Stamp(); err != nil || !settled || !after.Same(stamp) {
		settled = false // it may have changed while it was read: only bytes prove anything
		if err := r.still(ctx, page, scan); err != nil {
			return nil, err
		}
	}
	rec.Stamp, rec.Settled, rec.Index, rec.Enc = stamp, settled, scan, scan.Enc()
	return r.served(page, rec, scan.Enc(), hash), nil
}

// still makes sure that the file was hashed with the bytes that the page shows:
// they were there before, and they must be there afterwards.
func (r *reading) still(ctx context.Context, page text.Page, scan *text.Scan) error {
	again, err := r.fit(ctx, scanning{scan, r.file})
	if err != nil {
		return r.unreadable(err)
	}
	if again.Shown != page.Shown || !bytes.Equal(again.Body, page.Body) {
		return fsys.ErrUnstable
	}
	return nil
}

// digested brings the record of a file up to state.WholeHash to the bytes that
// are there.
func (r *reading) digested(ctx context.Context, rec state.Record, ok, same bool, scan *text.Scan) (state.Record, error) {
	if same {
		return rec, nil
	}
	sum, err := scan.Digest(ctx, r.file)
	if err != nil {
		return rec, err
	}
	if ok && rec.Hash == sum {
		return rec, nil
	}
	return state.Record{Hash: sum}, nil
}

// parted adds what is shown now to the record of a file above state.WholeHash.
// Parts of an older state stay: the gate compares each with the file.
func (r *reading) parted(rec state.Record, ok, same bool, shown text.Span) (state.Record, error) {
	if !ok {
		rec = state.Record{}
	}
	if !same {
		parts, err := holding(r.file, rec.Parts)
		if err != nil {
			return rec, err
		}
		rec = state.Record{Parts: parts}
		for _, p := range parts {
			rec.Shown = rec.Shown.Add(p.Span)
		}
	}
	part, err := partOf(r.file, state.Span(shown))
	if err != nil {
		return rec, err
	}
	rec.Parts = withPart(rec.Parts, part)
	return rec, nil
}

// unreadable words what a scan could not read.
func (r *reading) unreadable(err error) error {
	if err == text.ErrBinary {
		return binary(r.spot)
	}
	return err
}

// served notes what is shown and builds the answer.
func (r *reading) served(page text.Page, rec state.Record, enc text.Encoding, hash string) *Result {
	if page.First == 0 {
		return textResult(r.spot.note(), r.behind(page.Total))
	}
	rec.Origin = state.ByRead
	rec.Shown = rec.Shown.Add(state.Span(page.Shown))
	files, path := r.call.Session.files, r.spot.Path
	r.call.whenSent(func() {
		files.Put(path, rec)
		files.Served(path, r.want.view())
	})

	charset := ""
	if enc.Name() != "utf-8" {
		charset = fmt.Sprintf("(Encoding: %s. Edits keep it.)", enc.Name())
	}
	result := textResult(string(page.Body), r.spot.note(), charset, page.Notice, r.onward(page))
	result.Meta = map[string]any{"fsmcp/size": rec.Stamp.Size}
	if hash != "" {
		result.Meta["fsmcp/hash"] = hash
	}
	if page.Total >= 0 {
		result.Meta["fsmcp/lines"] = page.Total
	}
	return result
}

// onward names the call that shows what follows, if anything does.
func (r *reading) onward(page text.Page) string {
	total := ""
	if page.Total >= 0 {
		total = fmt.Sprintf(" of %d", page.Total)
	}
	switch {
	case page.Cut:
		return fmt.Sprintf("(Line %d%s goes on. Next: Read offset=%d, limit=1, column=%d.)", page.Last, total, page.Last, page.NextColumn)
	case page.More:
		limit := max(r.want.limit, 1)
		if r.want.column > 0 {
			limit = defaultLines
		}
		if page.Total >= 0 {
			limit = min(limit, page.Total-page.Last)
		}
		return fmt.Sprintf("(Lines %d-%d%s are shown. Next: Read offset=%d, limit=%d.)", page.First, page.Last, total, page.Last+1, limit)
	}
	return ""
}

// fit takes the wanted page from a source and brings it within what the client
// passes on; what exceeds the token limit is refused with a call that fits.
func (r *reading) fit(ctx context.Context, src source) (text.Page, error) {
	room := answerBytes
	if c := r.call.Client.Chars; c > 0 {
		room = max(c-answerRest, 1<<10)
	}
	w := r.want
	page, err := src.page(ctx, w, room)
	if err != nil {
		return page, err
	}
	if page.First == 0 && !page.More {
		return page, nil // behind the end
	}
	if page.First == 0 { // not even one line fits
		w.limit, w.column = 1, 1
		if page, err = src.page(ctx, w, room); err != nil {
			return page, err
		}
	}
	count := r.tokens(page.Body)
	if count > r.MaxTokens && w.column == 0 {
		return page, refuse(slugTooManyTokens, "File content (%d tokens) exceeds maximum allowed tokens (%d). Please use offset and limit parameters to read specific portions of the file, or search for specific content. A call that fits: Read %s.",
			count, r.MaxTokens, r.fitting(page, r.MaxTokens))
	}
	bound := r.MaxTokens
	if c := r.call.Client.Tokens; c > 0 {
		bound = min(bound, c)
	}
	if count <= bound {
		return page, nil
	}
	if w.column == 0 {
		if k := r.linesWithin(page, bound); k > 0 {
			w.limit = k
			return src.page(ctx, w, room)
		}
		w.limit, w.column = 1, 1
	}
	for count > bound { // a page of columns shrinks until it fits
		room = max(int(int64(len(page.Body))*int64(bound)/int64(count)*95/100), 16)
		if page, err = src.page(ctx, w, room); err != nil {
			return page, err
		}
		if len(page.Body) <= 64 {
			break
		}
		count = r.tokens(page.Body)
	}
	return page, nil
}

// tokens counts in two stages: a rough estimate, and the careful counter only
// where that comes near the limit.
func (r *reading) tokens(body []byte) int {
	rough := tokens.Rough(len(body), r.spot.Asked.Ext())
	limit := r.MaxTokens
	if c := r.call.Client.Tokens; c > 0 {
		limit = min(limit, c)
	}
	if rough <= limit/4 {
		return rough
	}
	return r.meter.Count(body)
}

// linesWithin is how many lines of a page stay within a number of tokens.
func (r *reading) linesWithin(page text.Page, bound int) int {
	lo, hi := 0, len(page.Ends)
	for lo < hi { // the greatest k whose lines fit
		mid := (lo + hi + 1) / 2
		if r.meter.Count(page.Body[:page.Ends[mid-1]]) <= bound {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// fitting names a call on the same place that stays within the limits.
func (r *reading) fitting(page text.Page, bound int) string {
	first := max(page.First, r.want.first)
	if k := r.linesWithin(page, bound); k > 0 {
		return fmt.Sprintf("offset=%d, limit=%d", first, k)
	}
	return fmt.Sprintf("offset=%d, limit=1, column=1", first)
}

// document serves pages from memory.
type document struct{ doc *text.Doc }

func (d document) page(_ context.Context, w want, room int) (text.Page, error) {
	if w.column > 0 {
		return d.doc.ColumnPage(w.first, w.column, room), nil
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
		return s.scan.ColumnPage(ctx, s.file, w.first, w.column, room)
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
