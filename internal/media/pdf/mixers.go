package pdf

import (
	"image"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// Bounds of where it is looked for what mixes.
const (
	mostElements = 3000 // elements of a page, and in all of its forms
	mostNested   = 8    // forms in forms
)

// mixer is an element that mixes with what lies below it. What it needs of that,
// PDFium draws anew of the page's elements, and what was laid is not among them.
type mixer struct {
	index int
	at    image.Rectangle
}

// mixers are those of a page. ok: all of them are known.
func (d *document) mixers(number int, f frame) (out []mixer, ok bool) {
	page := d.page(number)
	notes, err := d.in.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: page})
	if err != nil || notes.Count > mostElements || notes.Count > 0 && d.marked(page, notes.Count) {
		return nil, false
	}
	n, err := d.in.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil || n.Count > mostElements {
		return nil, false
	}
	left := mostElements
	for i := range n.Count {
		p, err := d.in.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			return nil, false
		}
		if d.mixes(p.PageObject, mostNested, &left) {
			out = append(out, mixer{i, d.bounds(p.PageObject, f)})
		}
	}
	return out, true
}

// mixes tells whether an element, or one in it, may mix with what lies below it.
func (d *document) mixes(ref references.FPDF_PAGEOBJECT, deep int, left *int) bool {
	if *left--; *left < 0 || !d.opaque(ref) {
		return true
	}
	n, err := d.in.FPDFFormObj_CountObjects(&requests.FPDFFormObj_CountObjects{PageObject: ref})
	if err != nil { // it is no form
		return false
	}
	if deep == 0 {
		return true
	}
	for i := range n.Count {
		p, err := d.in.FPDFFormObj_GetObject(&requests.FPDFFormObj_GetObject{PageObject: ref, Index: uint64(i)})
		if err != nil || d.mixes(p.PageObject, deep-1, left) {
			return true
		}
	}
	return false
}

// plain tells whether an element mixes with nothing and is shown in any case.
func (d *document) plain(ref references.FPDF_PAGEOBJECT) bool {
	if !d.opaque(ref) {
		return false
	}
	n, err := d.in.FPDFPageObj_CountMarks(&requests.FPDFPageObj_CountMarks{PageObject: ref})
	if err != nil {
		return false
	}
	for i := range n.Count {
		mark, err := d.in.FPDFPageObj_GetMark(&requests.FPDFPageObj_GetMark{PageObject: ref, Index: uint64(i)})
		if err != nil {
			return false
		}
		name, err := d.in.FPDFPageObjMark_GetName(&requests.FPDFPageObjMark_GetName{PageObjectMark: mark.Mark})
		if err != nil || name.Name == "OC" { // it belongs to a layer, which may be hidden
			return false
		}
	}
	return true
}

// opaque tells whether an element itself covers what lies below it.
func (d *document) opaque(ref references.FPDF_PAGEOBJECT) bool {
	mixed, err := d.in.FPDFPageObj_HasTransparency(&requests.FPDFPageObj_HasTransparency{PageObject: ref})
	return err == nil && !mixed.HasTransparency
}
