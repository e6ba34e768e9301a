// Package pdf reads PDFs: page count, text in reading order and pictures of
// pages by PDFium as WebAssembly, smaller PDFs by pdfcpu. It runs in a worker
// alone. JavaScript, launch actions and attachments are never run or followed;
// attachments are named.
//
// PDFium alone draws. As WebAssembly it takes 0.9 s for a scanned page of 8.7
// megapixels; decoded by this module and laid under the page, such pictures took 0.35 s,
// for 1,500 lines that had to know what covers what.
//
// It sees no file system but the system's folders of fonts, read-only, and the
// folder in which PDFium lies compiled.
package pdf

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/pdfcpu/pdfcpu/pkg/api"

	"github.com/fsmcp/fsmcp/internal/media"
)

// Reader reads PDFs, one at a time.
type Reader struct {
	cache    compiled // by its name
	pinned   compiled // the same, by a name that leads nowhere else; "": not open yet
	folder   *os.File // which is open as long as that name is used
	timeouts timeouts // for other processes that compile
	pool     pdfium.Pool
	kept     *document // the last document, still open; nil: none
}

// New makes a reader that keeps compiled code in a folder; empty: nowhere. It compiles nothing
// yet.
func New(cache string) *Reader {
	api.DisableConfigDir()
	return &Reader{cache: compiled(cache), timeouts: compileTimeouts()}
}

// Read reads pages of a document. The error is a *media.PagesError, an
// *media.OutlineError, a *media.DamageError or media.ErrLocked.
func (r *Reader) Read(data []byte, q media.PDFRequest, progress media.Progress) (res media.PDFResult, err error) {
	if err := r.Warm(progress); err != nil {
		return media.PDFResult{}, err
	}
	d, err := r.open(data)
	if err != nil {
		return media.PDFResult{}, err
	}
	defer func() {
		r.close(d, err == nil || errors.As(err, new(*media.OutlineError))) // pages are chosen, and then asked for
	}()
	return d.read(q, progress)
}

// Close closes PDFium.
func (r *Reader) Close() {
	r.closeKept()
	if r.pool != nil {
		r.pool.Close()
	}
	if r.folder != nil {
		r.folder.Close()
	}
}

func damaged(what string) error { return &media.DamageError{Kind: media.PDF, What: what} }

// handle is a document that is open in PDFium.
type handle struct {
	in  pdfium.Pdfium
	ref references.FPDF_DOCUMENT
}

// document is a document that is read.
type document struct {
	handle
	pool pdfium.Pool
	data []byte

	attached map[int][]string // names of the files attached to each page whose text was read

	number int // of the page that is open; 0: none
	opened references.FPDF_PAGE

	second *document // the same document in a second PDFium; nil: none yet
}

func (d *document) read(q media.PDFRequest, progress media.Progress) (media.PDFResult, error) {
	n, err := d.in.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: d.ref})
	if err != nil || n.PageCount <= 0 {
		return media.PDFResult{}, damaged("it has no pages")
	}
	res := media.PDFResult{Count: n.PageCount}
	if res.Set, err = media.ParsePages(q.Pages, res.Count); err != nil {
		if pages, ok := errors.AsType[*media.PagesError](err); ok {
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
	return res, d.pages(&res, q, progress)
}

// pages reads the texts first, as they matter most. Pictures are drawn meanwhile and
// afterwards.
func (d *document) pages(res *media.PDFResult, q media.PDFRequest, progress media.Progress) error {
	choose := q.Choose && (len(res.Set.Pages) > 1 || q.Pages == "")
	total := int64(len(res.Set.Pages) + min(len(res.Set.Pages), q.Pictures))
	done := int64(-1)
	tell := func(what string, number int) {
		done++
		progress(done, total, fmt.Sprintf(what+" page %d", number))
	}
	g := d.newRenderQueue(q.DrawFor)
	defer g.stop()
	text, sent, wanted := 0, 0, 0
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
		d.nameAttached(res, number)
		if len(res.Pages) > 0 && text+len(words) > q.Text {
			res.Behind = number
			break
		}
		first := head(words, q.Text)
		text += len(first)
		sent += media.JSONLen(first)
		p := media.PDFPage{Number: number, Text: first, Cut: len(words) - len(first)}
		if p.Plain = choose && d.textAlone(number, words); !p.Plain && wanted < q.Pictures {
			wanted++
			g.add(d, number)
		}
		res.Pages = append(res.Pages, p)
	}
	g.finish(d, func(number int) { tell("drawing", number) })
	res.OutOfTime = len(g.todo) > 0
	return d.addPictures(res.Pages, g, q.Room-sent)
}

// nameAttached adds the files that are attached to a page to the attachments.
func (d *document) nameAttached(res *media.PDFResult, number int) {
	for _, name := range d.attached[number] {
		switch {
		case slices.Contains(res.Attachments, name):
		case len(res.Attachments) < maxAttachments:
			res.Attachments = append(res.Attachments, name)
		default:
			res.MoreAttached++
		}
	}
}

// addPictures adds pictures to pages while there is room. Pictures that take more than their
// share are made smaller, or left out if no time is left.
func (d *document) addPictures(pages []media.PDFPage, g *renderQueue, room int) error {
	var drawn []*media.PDFPage
	for i := range pages {
		if m, ok := g.drawn[pages[i].Number]; ok {
			if m.err != nil {
				return m.err
			}
			pages[i].Picture = m.picture
			drawn = append(drawn, &pages[i])
		}
	}
	// The largest first: one that is left out leaves its share to the others.
	slices.SortStableFunc(drawn, func(a, b *media.PDFPage) int { return len(b.Picture) - len(a.Picture) })
	var late []*media.PDFPage // with a picture that is larger than its share even at its smallest
	for i, p := range drawn {
		most := share(drawn[i:], room)
		if sent(p) > most && !g.late() {
			smaller, err := d.smaller(p.Number, most)
			if err != nil {
				return err
			}
			p.Picture, p.Coarse = smaller, true
		}
		if sent(p) <= most {
			room -= sent(p)
		} else {
			late = append(late, p)
		}
	}
	slices.SortFunc(late, func(a, b *media.PDFPage) int { return a.Number - b.Number })
	for _, p := range late {
		if sent(p) <= room {
			room -= sent(p)
		} else {
			p.Picture, p.Coarse = nil, false
		}
	}
	return nil
}

// sent returns the room that a page's picture takes.
func sent(p *media.PDFPage) int { return media.Base64Len(len(p.Picture)) }

// share returns the room that the first of some pages may take: what its picture needs, or as
// much as each of the others. Pages with larger pictures come first.
func share(pages []*media.PDFPage, room int) int {
	for n := len(pages); n > 0; n-- {
		each := max(room, 0) / n
		if sent(pages[n-1]) > each {
			return each
		}
		room -= sent(pages[n-1])
	}
	return math.MaxInt
}

// page returns an open page; one is open at a time. Calls on a page that cannot be opened
// return errors.
func (d *document) page(number int) requests.Page {
	if number != d.number {
		d.closePage()
		p, err := d.in.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: d.ref, Index: number - 1})
		if err != nil {
			return requests.Page{}
		}
		d.number, d.opened = number, p.Page
	}
	return requests.Page{ByReference: &d.opened}
}

// closePage closes the page that is open.
func (d *document) closePage() {
	if d.number != 0 {
		d.in.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: d.opened})
		d.number = 0
	}
}
