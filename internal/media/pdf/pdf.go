// Package pdf reads PDFs: page count, text in reading order and pictures of
// pages by PDFium as WebAssembly, smaller PDFs by pdfcpu. It runs in a worker
// alone. JavaScript, launch actions and attachments are never run or followed;
// attachments are named.
//
// It sees no file system but the system's folders of fonts, read-only, and the
// folder in which PDFium lies compiled.
package pdf

import (
	"errors"
	"fmt"
	"slices"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/pdfcpu/pdfcpu/pkg/api"

	"github.com/fsmcp/fsmcp/internal/media"
)

// Reader reads PDFs, one at a time.
type Reader struct {
	cache    compiled
	patience patience // with others who compile
	pool     pdfium.Pool
	kept     *document // the one that was read last, still open; nil: none
}

// New makes a reader that keeps compiled code in a folder, which it makes; empty:
// nowhere. It compiles nothing yet.
func New(cache string) *Reader {
	api.DisableConfigDir()
	return &Reader{cache: compiled(cache), patience: ordinary()}
}

// Read reads pages of a document. The error is a *media.PagesError, an
// *media.OutlineError, a *media.DamageError or media.ErrLocked.
func (r *Reader) Read(data []byte, q media.PDFRequest, told media.Progress) (res media.PDFResult, err error) {
	if err := r.Warm(told); err != nil {
		return media.PDFResult{}, err
	}
	d, err := r.open(data)
	if err != nil {
		return media.PDFResult{}, err
	}
	defer func() {
		var choose *media.OutlineError
		r.close(d, err == nil || errors.As(err, &choose)) // pages are chosen, and then asked for
	}()
	return d.read(q, told)
}

// Close lets go of PDFium.
func (r *Reader) Close() {
	r.forget()
	if r.pool != nil {
		r.pool.Close()
	}
}

func damaged(what string) error { return &media.DamageError{Kind: media.PDF, What: what} }

// document is one under way.
type document struct {
	pool pdfium.Pool
	in   pdfium.Pdfium
	ref  references.FPDF_DOCUMENT
	data []byte

	pinned map[int][]string // files attached to the pages whose text was read

	number int // of the page that is open; 0: none
	opened references.FPDF_PAGE

	passes *bool // whether colours pass through functions; nil: not looked for yet

	second *document // the same once more, in a PDFium of its own; nil: none yet
}

func (d *document) read(q media.PDFRequest, told media.Progress) (media.PDFResult, error) {
	n, err := d.in.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: d.ref})
	if err != nil || n.PageCount <= 0 {
		return media.PDFResult{}, damaged("it has no pages")
	}
	res := media.PDFResult{Count: n.PageCount}
	if res.Set, err = media.ParsePages(q.Pages, res.Count); err != nil {
		var pages *media.PagesError
		if errors.As(err, &pages) {
			chapters, more := d.outline()
			return res, &media.OutlineError{PagesError: *pages, Outline: chapters, More: more}
		}
		return res, err
	}
	res.Attachments, res.MoreAttached = d.attachments()
	if q.Document > 0 {
		document := d.cut(res.Set.Pages, res.Count)
		if res.TooLarge = len(document) > q.Document; document != nil && !res.TooLarge {
			res.Document = document
			return res, nil
		}
	}
	return res, d.pages(&res, q, told)
}

// pages reads the texts first, as they matter most, and then draws pictures
// while there is room. Where all pages are drawn in any case, that begins at once.
func (d *document) pages(res *media.PDFResult, q media.PDFRequest, told media.Progress) error {
	total := int64(2 * len(res.Set.Pages))
	done := int64(-1)
	tell := func(what string, number int) {
		done++
		told(done, total, fmt.Sprintf(what+" page %d", number))
	}
	all := len(res.Set.Pages) <= q.Pictures
	var g *gallery
	if all {
		g = d.newGallery(slices.Clone(res.Set.Pages))
		defer g.leave()
	}
	text, sent := 0, 0
	for _, number := range res.Set.Pages {
		tell("reading", number)
		words, err := d.text(number)
		if err != nil {
			why := fmt.Sprintf("page %d cannot be read", number)
			if res.Count > 1 {
				why += "; name others in pages"
			}
			return damaged(why)
		}
		for _, name := range d.pinned[number] {
			switch {
			case slices.Contains(res.Attachments, name):
			case len(res.Attachments) < maxAttachments:
				res.Attachments = append(res.Attachments, name)
			default:
				res.MoreAttached++
			}
		}
		if len(res.Pages) > 0 && text+len(words) > q.Text {
			res.Behind = number
			break
		}
		first := head(words, q.Text)
		text += len(first)
		sent += media.JSONLen(first)
		res.Pages = append(res.Pages, media.PDFPage{Number: number, Text: first, Cut: len(words) - len(first)})
		if all && g.claim(number) { // now that it is open
			tell("drawing", number)
			g.draw(d, number)
		}
	}
	if all {
		g.only(res.Pages)
	} else {
		g = d.newGallery(numbersOf(res.Pages, d.drawn(res.Pages, q)))
		defer g.leave()
	}
	g.finish(d, func(number int) { tell("drawing", number) })
	return d.hang(res.Pages, g.made, q, q.Room-sent)
}

// hang adds pictures to pages while there is room for them.
func (d *document) hang(pages []media.PDFPage, made map[int]drawing, q media.PDFRequest, room int) error {
	need := 0
	for _, m := range made {
		need += media.Base64Len(len(m.picture))
	}
	order := make([]int, len(pages))
	for i := range order {
		order[i] = i
	}
	if need > room { // else it is all the same who comes first
		order = d.drawn(pages, q)
	}
	for _, i := range order {
		m := made[pages[i].Number]
		if m.err != nil {
			return m.err
		}
		if size := media.Base64Len(len(m.picture)); size <= room {
			pages[i].Picture = m.picture
			room -= size
		}
	}
	return nil
}

func numbersOf(pages []media.PDFPage, places []int) (numbers []int) {
	for _, i := range places {
		numbers = append(numbers, pages[i].Number)
	}
	return numbers
}

// page is an open page. One is open at a time; where it cannot be opened, whoever
// asks it something is told.
func (d *document) page(number int) requests.Page {
	if number != d.number {
		d.leave()
		p, err := d.in.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: d.ref, Index: number - 1})
		if err != nil {
			return requests.Page{}
		}
		d.number, d.opened = number, p.Page
	}
	return requests.Page{ByReference: &d.opened}
}

// leave closes the page that is open.
func (d *document) leave() {
	if d.number != 0 {
		d.in.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: d.opened})
		d.number = 0
	}
}
