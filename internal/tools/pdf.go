package tools

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/text"
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
func (r *reading) pdf(ctx context.Context, size int64) (*Result, error) {
	name := r.target.name()
	switch {
	case size > media.MaxPDF:
		return nil, refusal.TooLongPDF(name, size)
	case r.tool.pages == nil:
		return nil, refusal.PDF(name, media.ErrNoPDF)
	}
	style := r.tool.preferences().pdfStyle(r.call.Client)
	q := media.PDFRequest{Pages: r.want.pages, Pictures: media.PagePictures, Choose: style.Pictures == PicturesAuto, Room: pdfRoom, Text: pdfText, DrawFor: media.DrawFor}
	if style.Pictures == PicturesNever {
		q.Pictures = 0
	}
	if c := r.call.Client.Answer; c > 0 {
		q.Room = min(q.Room, c)
	}
	if c := r.call.Client.Chars; c > 0 {
		q.Text = min(q.Text, c)
	}
	if c := r.call.Client.Tokens; c > 0 {
		q.Text = min(q.Text, 3*c) // characters; words of a page have four to a token
	}
	if style.Document {
		q.Document = media.WholeDocument
		if c := r.call.Client.Answer; c > 0 { // base64 is four thirds
			q.Document = max(min(q.Document, (c-answerRest)/4*3), 1)
		}
	}
	q.Room, q.Text = q.Room-answerRest-media.MostPages*pageRest, max(q.Text-answerRest-media.MostPages*pageRest/2, answerRest)
	res, err := r.tool.pages.PDF(ctx, r.file, size, q, r.call.Progress)
	if err != nil {
		return nil, refusal.PDF(name, err)
	}
	if res.Document != nil || len(res.Pages) == res.Count {
		r.call.account.extent = reminders.AsPictures
	}
	return shownPages(r.target, size, q, res), nil
}

// shownPages is the answer with pages.
func shownPages(t *target, size int64, q media.PDFRequest, res media.PDFResult) *Result {
	shown := res.Set.Pages
	if res.Behind > 0 {
		shown = shown[:len(res.Pages)]
	}
	head := fmt.Sprintf("PDF file read: %s (%s), %s %s of %d", t.name(), phrase.Bytes(size), phrase.Plural(len(shown), "page", "pages"), media.Spoken(shown), res.Count)
	out := &Result{Meta: map[string]any{"fsmcp/pages": res.Count, "fsmcp/originalSize": size}}
	if res.Document != nil {
		attached := fmt.Sprintf("(The document follows as a PDF of %d %s. Where you cannot see it, have the user set pdf.mode to pages.)", len(shown), phrase.Plural(len(shown), "page", "pages"))
		out.Blocks = []Block{
			{Text: textResult(head, t.misnamed(media.PDF), attached, remarks(q, res), t.note()).Blocks[0].Text},
			{Data: res.Document, MIME: media.PDF.MIME(), Path: t.Asked.String()},
		}
		return out
	}
	out.Blocks = []Block{{Text: textResult(head, t.misnamed(media.PDF), unattached(q, res), remarks(q, res), t.note()).Blocks[0].Text}}
	for _, p := range res.Pages {
		body := text.EscapeFrame(p.Text)
		if body == "" {
			body = "(no text on this page)"
		}
		if p.Cut > 0 {
			body += fmt.Sprintf("\n(%d more bytes of this page's text have no room in an answer. The picture may show them; else have the text extracted by another program.)", p.Cut)
		}
		out.Blocks = append(out.Blocks, Block{Text: fmt.Sprintf("--- page %d of %d ---\n%s", p.Number, res.Count, body)})
		if p.Picture != nil {
			out.Blocks = append(out.Blocks, Block{Data: p.Picture, MIME: media.JPEG.MIME()})
		}
	}
	return out
}

// unattached says why pages come instead of the document that was asked for.
func unattached(q media.PDFRequest, res media.PDFResult) string {
	switch {
	case q.Document == 0:
		return ""
	case res.TooLarge:
		return fmt.Sprintf("(As a document this would have more than the %.1f MB that are handed on; its pages follow instead.)", float64(q.Document)/(1<<20))
	}
	return "(These pages cannot be cut out as a document; they follow one by one instead.)"
}

// remarks say what a reader of the pages has to know, the next call among it.
func remarks(q media.PDFRequest, res media.PDFResult) string {
	var out []string
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	if res.Set.Clipped {
		add("(The document ends with page %d.)", res.Count)
	}
	var bare, plain, coarse []int
	for _, p := range res.Pages {
		switch {
		case p.Plain:
			plain = append(plain, p.Number)
		case p.Picture == nil:
			bare = append(bare, p.Number)
		case p.Coarse:
			coarse = append(coarse, p.Number)
		}
	}
	if len(plain) > 0 {
		add("(%s %s text alone, without %s. Read pages=\"%d\" shows one page with its picture.)",
			phrase.Plural(len(plain), "Page", "Pages")+" "+media.Spoken(plain), phrase.Plural(len(plain), "is", "are"), phrase.Plural(len(plain), "a picture", "pictures"), plain[0])
	}
	if len(coarse) > 0 {
		add("(%s: one answer has no room for finer pictures.)", phrase.Plural(len(coarse), "Page ", "Pages ")+media.Spoken(coarse)+phrase.Plural(len(coarse), " is shown coarser", " are shown coarser"))
	}
	switch drawn := len(res.Pages) - len(bare) - len(plain); {
	case len(bare) == 0:
	case q.Pictures == 0:
		add("(Pages come as text alone: the setting pdf.images is never.)")
	case res.OutOfTime:
		add("(%s as text alone: the pictures of other pages took all the time there is. Read pages=%q shows more.)", come(bare), media.Spoken(bare[:min(len(bare), media.PagePictures)]))
	case drawn == 0:
		add("(%s as text alone: no picture of a page fits into one answer to this client.)", come(bare))
	default:
		add("(%s as text alone: one answer has room for %d page %s. Read pages=%q shows more.)", come(bare), drawn, phrase.Plural(drawn, "picture", "pictures"), media.Spoken(bare[:min(len(bare), media.PagePictures)]))
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
			names[i] = fsys.InSentence(n)
		}
		more := ""
		if res.MoreAttached > 0 {
			more = fmt.Sprintf(" (and %d more)", res.MoreAttached)
		}
		add("(Attached files, which are not opened: %s%s.)", strings.Join(names, ", "), more)
	}
	return strings.Join(out, "\n")
}

// come are pages and their verb.
func come(pages []int) string {
	return phrase.Plural(len(pages), "Page ", "Pages ") + media.Spoken(pages) + phrase.Plural(len(pages), " comes", " come")
}
