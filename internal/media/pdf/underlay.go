package pdf

import (
	"image"
	"image/draw"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// Bounds of what is looked for to be laid under a page.
const (
	firstElements = 100     // elements of a page that are looked at: to look takes time, too
	leastLaid     = 1 << 14 // pixels of the page below which PDFium is quick enough
	mostEnlarged  = 8       // times its pixels from which PDFium shows a picture's pixels as squares
)

// underlay lays pictures that touch nothing but paper on it, and takes them off
// the page: what covers, scans and photographs mostly are. PDFium, as WebAssembly,
// takes three times as long to decode and to resize them. Whatever else shows a
// picture than plain samples in an upright rectangle is left to PDFium. some tells
// whether the page has changed.
func (d *document) underlay(number int, on *sheet) (some bool) {
	elements := d.elements(number)
	if len(elements) == 0 {
		return false
	}
	frame, ok := d.frame(number, on.rect())
	if !ok {
		return false
	}
	mixers, ok := d.mixers(number, frame)
	if !ok || d.transferred() {
		return false
	}
	beside := neighbours{mixers: mixers}
	for i, e := range elements {
		if e.kind == enums.FPDF_PAGEOBJ_IMAGE {
			beside.index = i
			if d.lay(number, e.ref, frame, beside, on) {
				some = true
				continue
			}
		}
		beside.below = append(beside.below, d.shownIn(e.ref, frame))
	}
	return some
}

// element is one thing that a page shows.
type element struct {
	ref  references.FPDF_PAGEOBJECT
	kind enums.FPDF_PAGEOBJ
}

// elements are the first ones of a page, up to the last picture among them.
func (d *document) elements(number int) (out []element) {
	page := d.page(number)
	n, err := d.in.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil {
		return nil
	}
	last := 0
	for i := range min(n.Count, firstElements) {
		p, err := d.in.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			break
		}
		kind, err := d.in.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: p.PageObject})
		if err != nil {
			break
		}
		out = append(out, element{p.PageObject, kind.Type})
		if kind.Type == enums.FPDF_PAGEOBJ_IMAGE {
			last = len(out)
		}
	}
	return out[:last]
}

// neighbours are what a picture must not touch to be laid: what shows something
// below it, and what mixes with it from above.
type neighbours struct {
	below  []image.Rectangle
	mixers []mixer
	index  int // of the picture among the page's elements
}

func (n neighbours) touch(at image.Rectangle) bool {
	for _, b := range n.below {
		if b.Overlaps(at) {
			return true
		}
	}
	for _, m := range n.mixers {
		if m.index > n.index && m.at.Overlaps(at) {
			return true
		}
	}
	return false
}

// lay lays one picture on the paper and takes it off the page, if it is a plain one
// and away from others.
func (d *document) lay(number int, ref references.FPDF_PAGEOBJECT, f frame, beside neighbours, on *sheet) bool {
	place, ok := d.upright(ref)
	if !ok {
		return false
	}
	at := f.pixels(place)
	if at.Dx()*at.Dy() < leastLaid || at.Dx() > 2*on.w || at.Dy() > 2*on.h || !at.Overlaps(on.rect()) {
		return false
	}
	clip, ok := d.clip(ref, f)
	if !ok || !d.plain(ref) || beside.touch(at) {
		return false
	}
	s, ok := d.stored(number, ref)
	if !ok || s.coarse(at) || s.mask != nil && s.mask.coarse(at) {
		return false
	}
	if on.lay(s, at, clip) != nil {
		return false
	}
	if _, err := d.in.FPDFPage_RemoveObject(&requests.FPDFPage_RemoveObject{Page: d.page(number), PageObject: ref}); err != nil {
		return false
	}
	d.in.FPDFPageObj_Destroy(&requests.FPDFPageObj_Destroy{PageObject: ref})
	return true
}

// coarse tells whether PDFium shows a picture's pixels as squares in a place.
func (s stored) coarse(at image.Rectangle) bool {
	return at.Dx()*at.Dy() >= mostEnlarged*s.width*s.height
}

// lay lays a picture in a place, as far as a clip shows it.
func (s *sheet) lay(p stored, at, clip image.Rectangle) error {
	img, err := p.fitted(at.Dx(), at.Dy())
	if err != nil {
		return err
	}
	var mask image.Image
	if p.mask != nil {
		if mask, err = p.mask.opacity(at.Dx(), at.Dy()); err != nil {
			return err
		}
	}
	paper, err := s.pixels()
	if err != nil {
		return err
	}
	seen := at.Intersect(clip)
	if from := seen.Min.Sub(at.Min); mask == nil {
		draw.Draw(paper, seen, img, from, draw.Src)
	} else {
		draw.DrawMask(paper, seen, img, from, mask, from, draw.Over)
	}
	return nil
}
