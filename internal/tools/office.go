package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"time"

	"github.com/fsmcp/fsmcp/internal/documents"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Documents gives the text and pictures of Office documents, which another process reads.
type Documents interface {
	Text(ctx context.Context, f *fsys.File, pdf bool) (*media.Document, error)
	Pictures(ctx context.Context, f io.ReaderAt, size int64, parts []string) ([][]byte, error)
}

// officeView is the part of a document that a Read asks for.
type officeView struct {
	doc      *media.Document
	sections []int // indices
	first    []int // the line of the view at which each begins
	text     pieces
}

// office answers Read of what may be an Office document: lines of its text, and the pictures that
// stand in them. No line counts as shown: the file is not text.
func (r *reading) office(ctx context.Context, f *fsys.File, size int64) toolcall.Outcome {
	doc, err := r.tool.documents.Text(ctx, f, false)
	if err != nil {
		return toolcall.Failed(officeRefusal(r.target, size, err))
	}
	r.ignore("an Office document", "cell_id", "region")
	if r.want.column > 0 && r.args.Offset == nil {
		return toolcall.Failed(refusal.New(refusal.ColumnWithoutOffset))
	}
	names := make([]string, len(doc.Sections))
	for i, s := range doc.Sections {
		names[i] = s.Name
	}
	v := officeView{doc: doc}
	if doc.Kind == media.TextDocument {
		r.ignore("a text document", "pages")
		r.want.pages = ""
	}
	if v.sections, err = media.ParseSections(r.want.pages, names); err != nil {
		return toolcall.Failed(refusal.Sections(r.target.Name(), doc.Kind, names, err))
	}
	v.write()
	if v.text.size() == 0 {
		return r.noteOnly(fmt.Sprintf("Office document read: %s (%s, %s). It has no text.", r.target.Name(), doc.Format, phrase.Bytes(size)))
	}
	page, err := r.viewPage(ctx, &v)
	if err != nil {
		return toolcall.Failed(err)
	}
	if page.First == 0 {
		return r.noteOnly(r.want.pastEnd(page.Total))
	}
	return r.officePage(ctx, f, size, &v, page)
}

// countView bounds the time that the lines of a view are counted for: they are in memory.
const countView = 10 * time.Second

// viewPage takes the wanted page from a view, without a copy of the document's text.
func (r *reading) viewPage(ctx context.Context, v *officeView) (text.Page, error) {
	lines, err := text.NewScan(ctx, &v.text, v.text.size())
	if err == nil && r.want.first < 0 {
		r.want.first, err = lines.Tail(ctx, &v.text, -r.want.first, countView)
	}
	if err != nil {
		return text.Page{}, err
	}
	return r.fit(func(w want, room int) (text.Page, error) {
		if w.column > 0 {
			return lines.ColumnPage(ctx, &v.text, w.first, w.column, w.limit, room)
		}
		return lines.Page(ctx, &v.text, w.first, w.limit, room, countView)
	})
}

// officePage answers with a page of the lines of a document.
func (r *reading) officePage(ctx context.Context, f *fsys.File, size int64, v *officeView, page text.Page) toolcall.Outcome {
	p := part{first: page.First, last: page.Last, total: page.Total, more: page.More, of: fmt.Sprintf(" of %d", page.Total)}
	if page.Cut {
		p.nextColumn = page.NextColumn
	}
	if r.want.pages != "" {
		p.call = fmt.Sprintf("pages=%q, ", r.want.pages)
	}
	blocks, left := r.officePictures(ctx, f, size, v, page)
	cut := ""
	if v.doc.Cut != "" {
		cut = fmt.Sprintf("(The end of this document is missing: %s.)", v.doc.Cut)
	}
	out := toolcall.Outcome{Answer: toolcall.Answer{
		Head:  fmt.Sprintf("Office document read: %s (%s, %s)%s", r.target.Name(), v.doc.Format, phrase.Bytes(size), v.spoken()),
		Body:  string(page.Body),
		Notes: []string{r.target.Note(), page.Notice, cut, left, r.rest(p)},
		Media: blocks,
		Facts: toolcall.Facts{OriginalSize: size, Lines: max(page.Total, 0)},
	}}
	if page.First == 1 && !page.More && !page.Cut && len(v.sections) == len(v.doc.Sections) {
		out.File.Extent = reminders.AsPictures
	}
	return out
}

// officeRefusal words why a file that may be an Office document is not read.
func officeRefusal(t *toolcall.Target, size int64, err error) error {
	named := refusal.NamesOffice(t.Asked)
	switch {
	case errors.Is(err, media.ErrNotOffice), !named && (errors.Is(err, documents.ErrTooLarge) || errors.Is(err, media.ErrNoPDF)):
		return refusal.Binary(t.Asked, false)
	case errors.Is(err, documents.ErrTooLarge):
		return refusal.New(refusal.TooLongOffice, t.Name(), phrase.Above(size, media.MaxOffice))
	}
	return refusal.Office(t.Name(), err)
}

// write puts the view together: the sections that were asked for, each with its frame.
func (v *officeView) write() {
	at, line := 0, 1
	offsets := make([]int, len(v.doc.Sections))
	for i, s := range v.doc.Sections {
		offsets[i] = at
		at += s.Size
	}
	for _, i := range v.sections {
		s := v.doc.Sections[i]
		if frame := v.frame(i); frame != "" {
			v.text.add(frame + "\n")
			line++
		}
		v.first = append(v.first, line)
		v.text.add(text.EscapeFrame(v.doc.Body[offsets[i] : offsets[i]+s.Size]))
		line += s.Lines
	}
}

// pieces are a text that is not in one place.
type pieces struct {
	texts []string
	ends  []int64 // offsets
}

func (p *pieces) size() int64 {
	if len(p.ends) == 0 {
		return 0
	}
	return p.ends[len(p.ends)-1]
}

func (p *pieces) add(s string) {
	p.ends = append(p.ends, p.size()+int64(len(s)))
	p.texts = append(p.texts, s)
}

// ReadAt reads bytes of the text, as an io.ReaderAt does.
func (p *pieces) ReadAt(b []byte, at int64) (n int, err error) {
	for i := sort.Search(len(p.ends), func(i int) bool { return p.ends[i] > at }); i < len(p.ends) && n < len(b); i++ {
		from := at + int64(n) - (p.ends[i] - int64(len(p.texts[i])))
		n += copy(b[n:], p.texts[i][from:])
	}
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}

// frame is the line above a sheet or slide.
func (v *officeView) frame(i int) string {
	s, frame := v.doc.Sections[i], ""
	switch v.doc.Kind {
	case media.Spreadsheet:
		frame = fmt.Sprintf("--- sheet %s (%d x %d) ---", s.Name, s.Rows, s.Columns)
	case media.Presentation:
		frame = fmt.Sprintf("--- slide %d of %d ---", i+1, len(v.doc.Sections))
	default:
		return ""
	}
	if s.Hidden {
		frame += " [hidden]"
	}
	if s.HiddenColumns != "" {
		frame += " [hidden columns: " + s.HiddenColumns + "]"
	}
	return frame
}

// spoken says which sections the view has.
func (v *officeView) spoken() string {
	n, of := len(v.sections), len(v.doc.Sections)
	one, many := "slide", "slides"
	switch v.doc.Kind {
	case media.TextDocument:
		return ""
	case media.Spreadsheet:
		one, many = "sheet", "sheets"
	}
	if n == of {
		return fmt.Sprintf(", %d %s", n, phrase.Plural(n, one, many))
	}
	numbers := make([]int, n)
	for i, s := range v.sections {
		numbers[i] = s + 1
	}
	return fmt.Sprintf(", %s %s of %d", phrase.Plural(n, one, many), media.Spoken(numbers), of)
}

// officePictures returns blocks of the pictures that stand in a page, under the budgets of the
// pictures of PDF pages, and says which are left out.
func (r *reading) officePictures(ctx context.Context, f *fsys.File, size int64, v *officeView, page text.Page) (blocks []toolcall.Block, left string) {
	var lines []int
	var parts []string
	for _, p := range v.doc.Pictures {
		at := slices.Index(v.sections, p.Section)
		if at < 0 {
			continue
		}
		if line := v.first[at] + p.Line - 1; line >= page.First && line <= page.Last {
			lines, parts = append(lines, line), append(parts, p.Part)
		}
	}
	client := r.call.Client
	most := client.MostPictures(media.PagePictures)
	switch {
	case len(parts) == 0:
		return nil, ""
	case client.Pictures == toolcall.NoPictures || most == 0:
		return nil, fmt.Sprintf("(Pictures are not shown: %s.)", noPictures)
	case r.tool.preferences().pdfStyle(client).Pictures == PicturesNever:
		return nil, "(Pictures are not shown: the setting pdf.images is never.)"
	}
	wanted := min(len(parts), most)
	data, err := r.tool.documents.Pictures(ctx, f, size, parts[:wanted])
	if err != nil {
		return nil, "(The pictures of this document could not be read.)"
	}
	room := toolcall.AtMost(pdfRoom, client.Answer) - toolcall.AnswerRest - len(page.Body)
	shown := 0
	for i, d := range data {
		picture, err := r.tool.pictures.part(ctx, r.call, d)
		if err != nil {
			blocks = append(blocks, toolcall.Block{Text: fmt.Sprintf("(The picture of line %d is left out: %s.)", lines[i], unshown(err))})
			continue
		}
		if room -= media.Base64Len(len(picture.Data)); room < 0 {
			break
		}
		blocks = append(blocks, toolcall.Block{Text: fmt.Sprintf("(The picture of line %d:)", lines[i])}, toolcall.Block{Data: picture.Data, MIME: picture.As.MIME()})
		shown = i + 1
	}
	if shown < len(parts) && len(parts) > most || room < 0 {
		left = fmt.Sprintf("(One answer has no room for more pictures. Next: Read offset=%d shows those from line %[1]d on.)", lines[min(shown, len(lines)-1)])
	}
	return blocks, left
}
