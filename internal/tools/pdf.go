package tools

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/pagewords"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Pages reads PDFs outside this process. The errors are *media.PagesError,
// *media.OutlineError, *media.DamageError, media.ErrLocked, media.ErrNoPDF,
// *media.BreakdownError, the context's and the file's own.
type Pages interface {
	PDF(ctx context.Context, file io.ReaderAt, size int64, q media.PDFRequest, report media.Progress) (media.PDFResult, error)
}

// Room of an answer with pages: the whole answer with pictures in base64, and its text.
const (
	pdfRoom  = 2_621_440
	pdfText  = 200_000
	pageRest = 300 // of an answer for what stands around a page
)

// pdf answers Read of a PDF: a head line, and of each page its text and picture.
func (r *reading) pdf(ctx context.Context, content *io.SectionReader) toolcall.Outcome {
	r.ignore("a PDF", "offset", "limit", "column", "cell_id", "region")
	name, client := r.target.Name(), r.call.Client
	if content.Size() > media.MaxPDF {
		return toolcall.Failed(refusal.New(refusal.TooLongPDF, name, phrase.Above(content.Size(), media.MaxPDF)))
	}
	q := r.tool.pdfRequest(client)
	q.Pages = r.want.pages
	read := func(q media.PDFRequest) (media.PDFResult, error) {
		return r.tool.pages.PDF(ctx, content, content.Size(), q, media.Progress(r.call.Progress))
	}
	res, err := read(q)
	a := pagewords.PagesAnswer{PicturesLast: client.PicturesLast}
	if client.Pictures == toolcall.NoPictures {
		a.NoPictures = noPictures
	}
	if long := (*media.PagesError)(nil); q.Pages == "" && errors.As(err, &long) && !r.tool.refuses() {
		a.Partial, a.Outline = long.Count > media.MostPages, outlineOf(err)
		q = beginningOf(q, long.Count)
		if a.NoPictures == "" && q.Pictures == 0 {
			a.NoPictures = textAlone
		}
		res, err = read(q)
	}
	if err != nil {
		return toolcall.Failed(refusal.PDF(name, err))
	}
	a.Asked, a.Result = q, res
	out := toolcall.Outcome{Answer: shownPages(r.target, content.Size(), a)}
	if res.Document != nil || len(res.Pages) == res.Count {
		out.File.Extent = reminders.AsPictures
	}
	return out
}

// textAlone says why the pages of a document that is read without pages have no pictures.
const textAlone = `of a long document Read without pages shows the text; pages="3" shows one page with its picture`

// Pages that Read without pages shows of a document that has more than media.WholePages: all
// as text, or, of one with more than media.MostPages, the first ones.
const firstPages = 5

// beginningOf asks for the beginning of a long document.
func beginningOf(q media.PDFRequest, count int) media.PDFRequest {
	if count > media.MostPages {
		q.Pages = fmt.Sprintf("1-%d", firstPages)
		return q
	}
	q.Pages, q.Pictures, q.Choose = fmt.Sprintf("1-%d", count), 0, false
	return q
}

// outlineOf is the outline that an error carries, in words.
func outlineOf(err error) string {
	if outline := (*media.OutlineError)(nil); errors.As(err, &outline) {
		return refusal.Outline(outline)
	}
	return ""
}

// pdfRequest asks for as much of a PDF as the settings want and the client passes on.
func (r *reader) pdfRequest(client toolcall.ClientLimits) media.PDFRequest {
	style := r.preferences().pdfStyle(client)
	q := media.PDFRequest{Pictures: client.MostPictures(media.PagePictures), DrawFor: r.drawFor}
	if style.Pictures == PicturesNever {
		q.Pictures = 0
	}
	q.Choose = style.Pictures == PicturesAuto && q.Pictures > 0
	q.Room = toolcall.AtMost(pdfRoom, client.Answer) - toolcall.AnswerRest - media.MostPages*pageRest
	q.Text = toolcall.AtMost(pdfText, client.Chars)
	q.Text = toolcall.AtMost(q.Text, 3*client.Tokens) // characters; words of a page have four to a token
	q.Text = max(q.Text-toolcall.AnswerRest-media.MostPages*pageRest/2, toolcall.AnswerRest)
	if style.Document {
		q.Document = media.WholeDocument
		if c := client.Answer; c > 0 { // base64 is four thirds
			q.Document = max(min(q.Document, (c-toolcall.AnswerRest)/4*3), 1)
		}
	}
	return q
}

// shownPages is the answer with pages, or with a document of them.
func shownPages(t *toolcall.Target, size int64, a pagewords.PagesAnswer) toolcall.Answer {
	res := a.Result
	shown := a.Pages()
	out := toolcall.Answer{
		Head:  fmt.Sprintf("PDF file read: %s (%s), %s %s of %d", t.Name(), phrase.Bytes(size), phrase.Plural(len(shown), "page", "pages"), media.Spoken(shown), res.Count),
		Notes: []string{misnamed(t, media.PDF), a.Document(), a.Remarks(), t.Note(), a.Contents()},
		Facts: toolcall.Facts{Pages: res.Count, OriginalSize: size},
	}
	if res.Document != nil {
		out.Media = []toolcall.Block{{Data: res.Document, MIME: media.PDF.MIME(), Path: t.Asked.String()}}
		return out
	}
	for _, p := range res.Pages {
		out.Media = append(out.Media, toolcall.Block{Text: a.Page(p)})
		if p.Picture != nil {
			out.Media = append(out.Media, toolcall.Block{Data: p.Picture, MIME: media.JPEG.MIME()})
		}
	}
	return out
}
