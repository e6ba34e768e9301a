// Package pdf reads PDFs: page count, text in reading order and pictures of
// pages by PDFium as WebAssembly, smaller PDFs by pdfcpu. It runs in a worker
// alone. JavaScript, launch actions and attachments are never run or followed;
// attachments are named.
//
// It sees no file system but the system's folders of fonts, read-only, and the
// folder in which PDFium lies compiled.
package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

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
func (r *Reader) Read(data []byte, q media.PDFRequest, told func(done, total int64, what string)) (res media.PDFResult, err error) {
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

func damaged(what string) error { return &media.DamageError{Kind: media.PDF, What: what} }

// document is one under way.
type document struct {
	pool pdfium.Pool
	in   pdfium.Pdfium
	ref  references.FPDF_DOCUMENT
	data []byte

	number int // of the page that is open; 0: none
	opened references.FPDF_PAGE

	passes *bool // whether colours pass through functions; nil: not looked for yet

	second *document // the same once more, in a PDFium of its own; nil: none yet
}

func (d *document) read(q media.PDFRequest, told func(done, total int64, what string)) (media.PDFResult, error) {
	n, err := d.in.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: d.ref})
	if err != nil || n.PageCount <= 0 {
		return media.PDFResult{}, damaged("it has no pages")
	}
	res := media.PDFResult{Count: n.PageCount}
	if res.Set, err = media.ParsePages(q.Pages, res.Count); err != nil {
		var pages *media.PagesError
		if errors.As(err, &pages) {
			return res, &media.OutlineError{PagesError: *pages, Outline: d.outline()}
		}
		return res, err
	}
	res.Attachments = d.attachments()
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
func (d *document) pages(res *media.PDFResult, q media.PDFRequest, told func(done, total int64, what string)) error {
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
			return damaged(fmt.Sprintf("page %d cannot be read", number))
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

// tidy makes plain lines of what PDFium says: one newline each, no blanks behind,
// a word that a hyphen divides at the end of its line put together, as poppler does.
func tidy(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0002", "", "\ufffe", "", "\x00", "").Replace(s)
	var out strings.Builder
	blank := 0
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, " \t\n")
		if blank++; line != "" {
			blank = 0
		}
		if blank < 2 {
			out.WriteString(line)
			out.WriteByte('\n')
		}
	}
	return strings.Trim(out.String(), "\n")
}

// head is the beginning of a text, cut between characters.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:max(n, 0)], "")
}

// Bounds of what is listed of a document. An outline may run in a circle.
const (
	maxEntries     = 2000
	maxChapters    = 60
	maxAttachments = 20
	maxTitle       = 200
)

// outline is the first level, as far as it is sound. (The library's own way to an
// entry's page asks for something else, and the one that lists all entries with
// their pages goes round in a circle where the outline does: it is used where the
// outline has an end.)
func (d *document) outline() []media.Chapter {
	left := maxEntries
	titles, whole := d.entries(nil, &left)
	if whole {
		if all, err := d.in.GetBookmarks(&requests.GetBookmarks{Document: d.ref}); err == nil && len(all.Bookmarks) == len(titles) {
			for i, b := range all.Bookmarks {
				if b.DestInfo != nil && b.DestInfo.PageIndex >= 0 {
					titles[i].Page = b.DestInfo.PageIndex + 1
				}
			}
		}
	}
	return titles[:min(len(titles), maxChapters)]
}

// entries are those below an entry, or the first level. whole tells whether
// there is an end to all that is below them.
func (d *document) entries(of *references.FPDF_BOOKMARK, left *int) (out []media.Chapter, whole bool) {
	first, err := d.in.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: d.ref, Bookmark: of})
	if err != nil {
		return nil, false
	}
	for at := first.Bookmark; at != nil; {
		if *left--; *left < 0 {
			return out, false
		}
		title, err := d.in.FPDFBookmark_GetTitle(&requests.FPDFBookmark_GetTitle{Bookmark: *at})
		if err != nil {
			return out, false
		}
		out = append(out, media.Chapter{Title: head(strings.Join(strings.Fields(title.Title), " "), maxTitle)})
		if _, end := d.entries(at, left); !end {
			return out, false
		}
		next, err := d.in.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: d.ref, Bookmark: *at})
		if err != nil {
			return out, false
		}
		at = next.Bookmark
	}
	return out, true
}

func (d *document) attachments() (names []string) {
	n, err := d.in.FPDFDoc_GetAttachmentCount(&requests.FPDFDoc_GetAttachmentCount{Document: d.ref})
	if err != nil {
		return nil
	}
	for i := range min(n.AttachmentCount, maxAttachments) {
		a, err := d.in.FPDFDoc_GetAttachment(&requests.FPDFDoc_GetAttachment{Document: d.ref, Index: i})
		if err != nil {
			continue
		}
		name, err := d.in.FPDFAttachment_GetName(&requests.FPDFAttachment_GetName{Attachment: a.Attachment})
		if err == nil {
			names = append(names, head(name.Name, maxTitle))
		}
	}
	return names
}

// cut is a PDF of the pages alone, or the whole where they are all of them; nil
// where it cannot be cut.
func (d *document) cut(pages []int, count int) []byte {
	out := d.data
	if len(pages) < count || d.encrypted() { // who is handed a locked one may not open it
		var b bytes.Buffer
		var words []string
		for _, p := range pages {
			words = append(words, strconv.Itoa(p))
		}
		conf := model.NewDefaultConfiguration()
		conf.ValidationMode = model.ValidationRelaxed
		if trim(&b, d.data, words, conf) != nil {
			return nil
		}
		out = b.Bytes()
	}
	return out
}

// encrypted tells whether a document is, though it opens without a password.
func (d *document) encrypted() bool {
	r, err := d.in.FPDF_GetSecurityHandlerRevision(&requests.FPDF_GetSecurityHandlerRevision{Document: d.ref})
	return err == nil && r.SecurityHandlerRevision >= 0
}

// trim has pdfcpu cut, which panics over some files.
func trim(out *bytes.Buffer, data []byte, pages []string, conf *model.Configuration) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return api.Trim(bytes.NewReader(data), out, pages, conf)
}

// Close lets go of PDFium.
func (r *Reader) Close() {
	r.forget()
	if r.pool != nil {
		r.pool.Close()
	}
}
