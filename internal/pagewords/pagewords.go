// Package pagewords words the answer to a Read of a PDF: facts on its pages in, sentences
// out. It does not read the PDF and does not build content blocks.
package pagewords

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/text"
)

// PagesAnswer holds the facts of an answer with pages.
type PagesAnswer struct {
	Asked  media.PDFRequest
	Result media.PDFResult
	// NoPictures says why the client gets no picture; "" if it gets some.
	NoPictures string
	// PicturesLast: the model gets the pictures behind the text of all pages.
	PicturesLast bool
	// Partial says that the caller named no pages, and only the beginning was asked for;
	// Outline is then that of the document, in one line.
	Partial bool
	Outline string
}

// Pages returns the numbers of the pages in the answer.
func (a PagesAnswer) Pages() []int {
	if a.Result.Behind > 0 {
		return a.Result.Set.Pages[:len(a.Result.Pages)]
	}
	return a.Result.Set.Pages
}

const noText = "(no text on this page)"

// Page returns the text of one page in its frame.
func (a PagesAnswer) Page(p media.PDFPage) string {
	body := text.EscapeFrame(p.Text)
	if body == "" {
		body = noText
	}
	if p.Cut > 0 {
		body += fmt.Sprintf("\n(%d more bytes of this page's text have no room in an answer. The picture may show them; else have the text extracted by another program.)", p.Cut)
	}
	return fmt.Sprintf("--- page %d of %d ---\n%s", p.Number, a.Result.Count, body)
}

// Document says that the document follows, or, if it was asked for, why its pages follow instead.
func (a PagesAnswer) Document() string {
	q, res := a.Asked, a.Result
	switch n := len(a.Pages()); {
	case res.Document != nil:
		return fmt.Sprintf("(The document follows as a PDF of %d %s. Where you cannot see it, have the user set pdf.mode to pages.)", n, phrase.Plural(n, "page", "pages"))
	case q.Document == 0:
		return ""
	case res.TooLarge:
		return fmt.Sprintf("(As a document this would have more than the %.1f MB that are handed on; its pages follow instead.)", float64(q.Document)/(1<<20))
	}
	return "(These pages cannot be cut out as a document; they follow one by one instead.)"
}

// Contents says which part of a long document is shown if the caller named no pages, with its
// outline and the next call; "" if all of it is.
func (a PagesAnswer) Contents() string {
	shown, count := a.Pages(), a.Result.Count
	if !a.Partial || len(shown) == 0 {
		return ""
	}
	last := shown[len(shown)-1]
	outline := ""
	if a.Outline != "" {
		outline = "(Outline: " + a.Outline + ")\n"
	}
	return outline + fmt.Sprintf("(PARTIAL: pages 1-%d of %d. Next: Read pages=\"%d-%d\".)", last, count, last+1, min(last+media.MostPages, count))
}

// Remarks says what a reader of the pages has to know, the next call among it.
func (a PagesAnswer) Remarks() string {
	q, res := a.Asked, a.Result
	var out []string
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	if res.Set.Clipped {
		add("(The document ends with page %d.)", res.Count)
	}
	var bare, plain, coarse, drawn []int
	for _, p := range res.Pages {
		if p.Picture != nil {
			drawn = append(drawn, p.Number)
		}
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
	if a.PicturesLast && len(drawn) > 0 && len(res.Pages) > 1 {
		add("(The pictures follow the text of all pages, in this order: %s %s.)", phrase.Plural(len(drawn), "page", "pages"), media.Spoken(drawn))
	}
	switch {
	case len(bare) == 0:
	case a.NoPictures != "":
		add("(Pages come as text alone: %s.)", a.NoPictures)
	case q.Pictures == 0:
		add("(Pages come as text alone: the setting pdf.images is never.)")
	case res.OutOfTime:
		add("(%s as text alone: the pictures of other pages took all the time there is. Read pages=%q shows more.)", come(bare), media.Spoken(bare[:min(len(bare), media.PagePictures)]))
	case len(drawn) == 0:
		add("(%s as text alone: no picture of a page fits into one answer to this client.)", come(bare))
	default:
		add("(%s as text alone: one answer has room for %d page %s. Read pages=%q shows more.)", come(bare), len(drawn), phrase.Plural(len(drawn), "picture", "pictures"), media.Spoken(bare[:min(len(bare), media.PagePictures)]))
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
	if n := a.escaped(); n != "" {
		out = append(out, n)
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

// escaped says which pages have text that Page shows with a backslash before it, "" if none
// has.
func (a PagesAnswer) escaped() string {
	var odd text.Oddities
	for _, p := range a.Result.Pages {
		odd.AddEscaped(text.Imitations([]byte(p.Text)), p.Number)
	}
	return odd.Notice("page ", "pages ", strconv.Itoa)
}

// come are pages and their verb.
func come(pages []int) string {
	return phrase.Plural(len(pages), "Page ", "Pages ") + media.Spoken(pages) + phrase.Plural(len(pages), " comes", " come")
}
