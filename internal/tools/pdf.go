package tools

import (
	"context"
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

// Room of an answer with pages (source: the specification of media, "PDFs").
const (
	pdfRoom  = 2_621_440
	pdfText  = 200_000
	pageRest = 300 // of an answer for what stands around a page
)

// pdf answers Read of a PDF: a head line, and of each page its text and picture.
func (r *reading) pdf(ctx context.Context, size int64) (*toolcall.Result, error) {
	name := r.target.Name()
	if size > media.MaxPDF {
		return nil, refusal.TooLongPDF(name, size)
	}
	style := r.tool.preferences().pdfStyle(r.call.Client)
	q := media.PDFRequest{Pages: r.want.pages, Pictures: media.PagePictures, Choose: style.Pictures == PicturesAuto, Room: pdfRoom, Text: pdfText, DrawFor: r.tool.drawFor}
	q.Pictures = r.call.Client.MostPictures(q.Pictures)
	if style.Pictures == PicturesNever {
		q.Pictures = 0
	}
	q.Choose = q.Choose && q.Pictures > 0
	q.Room = toolcall.AtMost(q.Room, r.call.Client.Answer)
	q.Text = toolcall.AtMost(q.Text, r.call.Client.Chars)
	q.Text = toolcall.AtMost(q.Text, 3*r.call.Client.Tokens) // characters; words of a page have four to a token
	if style.Document {
		q.Document = media.WholeDocument
		if c := r.call.Client.Answer; c > 0 { // base64 is four thirds
			q.Document = max(min(q.Document, (c-toolcall.AnswerRest)/4*3), 1)
		}
	}
	q.Room, q.Text = q.Room-toolcall.AnswerRest-media.MostPages*pageRest, max(q.Text-toolcall.AnswerRest-media.MostPages*pageRest/2, toolcall.AnswerRest)
	res, err := r.tool.pages.PDF(ctx, r.file, size, q, r.call.Progress)
	if err != nil {
		return nil, refusal.PDF(name, err)
	}
	if res.Document != nil || len(res.Pages) == res.Count {
		r.call.About.Extent = reminders.AsPictures
	}
	a := pagewords.Answer{Asked: q, Result: res, PicturesLast: r.call.Client.PicturesLast}
	if r.call.Client.Pictures == toolcall.NoPictures {
		a.NoPictures = noPictures
	}
	return shownPages(r.target, size, a), nil
}

// shownPages is the answer with pages, or with a document of them.
func shownPages(t *toolcall.Target, size int64, a pagewords.Answer) *toolcall.Result {
	res := a.Result
	shown := a.Pages()
	head := fmt.Sprintf("PDF file read: %s (%s), %s %s of %d", t.Name(), phrase.Bytes(size), phrase.Plural(len(shown), "page", "pages"), media.Spoken(shown), res.Count)
	out := &toolcall.Result{Meta: map[string]any{"fsmcp/pages": res.Count, "fsmcp/originalSize": size}}
	out.Blocks = toolcall.TextResult(head, misnamed(t, media.PDF), a.Document(), a.Remarks(), t.Note()).Blocks
	if res.Document != nil {
		out.Blocks = append(out.Blocks, toolcall.Block{Data: res.Document, MIME: media.PDF.MIME(), Path: t.Asked.String()})
		return out
	}
	for _, p := range res.Pages {
		out.Blocks = append(out.Blocks, toolcall.Block{Text: a.Page(p)})
		if p.Picture != nil {
			out.Blocks = append(out.Blocks, toolcall.Block{Data: p.Picture, MIME: media.JPEG.MIME()})
		}
	}
	return out
}
