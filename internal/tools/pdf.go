package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
)

// Pages reads PDFs outside this process. The errors are *media.PagesError,
// *media.OutlineError, *media.DamageError, media.ErrLocked, media.ErrNoPDF,
// *media.BreakdownError, the context's and the file's own.
type Pages interface {
	PDF(ctx context.Context, file io.ReaderAt, size int64, q media.PDFRequest, told func(done, total int64, what string)) (media.PDFResult, error)
}

// Room of an answer with pages (source: the specification of media, "PDFs").
const (
	pdfRoom  = 2_621_440
	pdfText  = 200_000
	pageRest = 300 // of an answer for what stands around a page
)

// pdf answers Read of a PDF: a head line, and of each page its text and picture.
func (r *reading) pdf(ctx context.Context, size int64) (*Result, error) {
	name := r.spot.name()
	switch {
	case !r.want.plain || r.want.column > 0 || r.want.cell != "" || r.want.region != "":
		return nil, refuse(slugBadArgument, "%s is a PDF: offset, limit, column, cell_id and region are for other kinds of files. Leave them out; pages names pages, such as \"1-5\".", name)
	case size > media.MaxPDF:
		return nil, refuse(slugTooLarge, "PDF file exceeds maximum allowed size of 32MB. %s has %s; have it divided, or its text extracted, by another program.", name, amount(size))
	case r.Pages == nil:
		return nil, pdfError(name, media.ErrNoPDF)
	}
	q := media.PDFRequest{Pages: r.want.pages, Pictures: media.PagePictures, Room: pdfRoom, Text: pdfText, Document: r.PDFDocument}
	if c := r.call.Client.Answer; c > 0 {
		q.Room = min(q.Room, c)
	}
	if c := r.call.Client.Chars; c > 0 {
		q.Text = min(q.Text, c)
	}
	if c := r.call.Client.Tokens; c > 0 {
		q.Text = min(q.Text, 3*c) // characters; words of a page have four to a token
	}
	q.Room, q.Text = q.Room-answerRest-media.MostPages*pageRest, max(q.Text-answerRest-media.MostPages*pageRest/2, answerRest)
	res, err := r.Pages.PDF(ctx, r.file, size, q, r.call.Progress)
	if err != nil {
		return nil, pdfError(name, err)
	}
	return r.shownPages(size, res), nil
}

// shownPages is the answer with pages.
func (r *reading) shownPages(size int64, res media.PDFResult) *Result {
	shown := res.Set.Pages
	if res.Behind > 0 {
		shown = shown[:len(res.Pages)]
	}
	head := fmt.Sprintf("PDF file read: %s (%s), pages %s of %d", r.spot.name(), amount(size), media.Spoken(shown), res.Count)
	out := &Result{Meta: map[string]any{"fsmcp/pages": res.Count, "fsmcp/originalSize": size}}
	if res.Document != nil {
		out.Blocks = []Block{
			{Text: textResult(head, remarks(res), r.spot.note()).Blocks[0].Text},
			{Data: res.Document, MIME: media.PDF.MIME()},
		}
		return out
	}
	whole := ""
	if r.PDFDocument {
		whole = "(The PDF is too large to be handed on as a document; its pages follow instead.)"
	}
	out.Blocks = []Block{{Text: textResult(head, whole, remarks(res), r.spot.note()).Blocks[0].Text}}
	for _, p := range res.Pages {
		text := p.Text
		if text == "" {
			text = "(no text on this page)"
		}
		out.Blocks = append(out.Blocks, Block{Text: fmt.Sprintf("--- page %d of %d ---\n%s", p.Number, res.Count, text)})
		if p.Picture != nil {
			out.Blocks = append(out.Blocks, Block{Data: p.Picture, MIME: media.JPEG.MIME()})
		}
	}
	return out
}

// remarks say what a reader of the pages has to know, the next call among it.
func remarks(res media.PDFResult) string {
	var out []string
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	if res.Set.Clipped {
		add("(The document ends with page %d.)", res.Count)
	}
	var bare []int
	for _, p := range res.Pages {
		if p.Picture == nil {
			bare = append(bare, p.Number)
		}
	}
	if len(bare) > 0 {
		add("(Pages %s come as text alone: one answer has room for %d page pictures. Read pages=%q shows them.)", media.Spoken(bare), len(res.Pages)-len(bare), media.Spoken(bare[:min(len(bare), media.PagePictures)]))
	}
	if res.Behind > 0 {
		var left []int
		for _, p := range res.Set.Pages {
			if p >= res.Behind {
				left = append(left, p)
			}
		}
		add("(One answer has no room for more text. Next: Read pages=%q.)", media.Spoken(left))
	} else if res.Set.Next > 0 {
		add("(Next: Read pages=\"%d-\".)", res.Set.Next)
	}
	if len(res.Attachments) > 0 {
		names := make([]string, len(res.Attachments))
		for i, n := range res.Attachments {
			names[i] = fsys.Printable(n)
		}
		add("(Attached files, which are not opened: %s.)", strings.Join(names, ", "))
	}
	return strings.Join(out, "\n")
}

// pdfError finds the words for a PDF that is not read.
func pdfError(name string, err error) error {
	var outline *media.OutlineError
	var pages *media.PagesError
	var damage *media.DamageError
	var lost *media.BreakdownError
	switch {
	case errors.As(err, &outline), errors.As(err, &pages):
		if outline != nil {
			pages = &outline.PagesError
		}
		text := fmt.Sprintf("The PDF %s was not read: %s. It has %d pages; a call shows at most %d of them.", name, pages.Reason, pages.Count, media.MostPages)
		if outline != nil && len(outline.Outline) > 0 {
			text += " Outline: " + chapters(outline.Outline)
		}
		return badRange("%s", text)
	case errors.Is(err, media.ErrLocked):
		return refuse(slugBrokenFile, "The PDF %s is encrypted with a password and cannot be read. Ask the user for an unlocked copy.", name)
	case errors.As(err, &damage):
		return refuse(slugBrokenFile, "The PDF %s cannot be read: it is damaged (%s).", name, strings.TrimSuffix(damage.What, "."))
	case errors.Is(err, media.ErrNoPDF):
		return refuse(slugBinary, "%s is a PDF. PDFs are read by the program fsmcp-media, which does not lie beside fsmcp here; have the user install it (make build makes both), or extract the text by another program.", name)
	case errors.As(err, &lost):
		return breakdown("The PDF "+name, lost.Why)
	}
	return err
}

func chapters(all []media.Chapter) string {
	var out []string
	for _, c := range all {
		title := fsys.Printable(c.Title)
		if c.Page > 0 {
			title += fmt.Sprintf(" (page %d)", c.Page)
		}
		out = append(out, title)
	}
	return strings.Join(out, "; ")
}
