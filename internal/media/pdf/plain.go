package pdf

import (
	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/fsmcp/fsmcp/internal/media"
)

// Bounds of looking at what a page is made of.
const (
	plainText   = 40   // characters that a page of text has at least
	plainLines  = 20   // drawn lines and boxes that a page of text may have: rules of a header, of footnotes
	plainPieces = 5000 // pieces of a page that are looked at
)

// drawn are the places of the pages that are drawn, in the order in which they
// get what room there is: where not all can, those that hold more than text
// first, for the text of the others comes anyway.
func (d *document) drawn(pages []media.PDFPage, q media.PDFRequest) []int {
	var plain, more []int
	choice := !q.InOrder && q.Pictures > 0 && len(pages) > 1
	for i, p := range pages {
		if choice && len(p.Text) >= plainText && d.textAlone(p.Number) {
			plain = append(plain, i)
		} else {
			more = append(more, i)
		}
	}
	return append(more, plain...)[:min(len(pages), q.Pictures)]
}

// textAlone tells whether a page shows nothing but text and a few lines. What
// cannot be looked at may be more.
func (d *document) textAlone(number int) bool {
	page := d.page(number)
	n, err := d.in.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil || n.Count > plainPieces {
		return false
	}
	notes, err := d.in.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: page})
	if err != nil || notes.Count > 0 && d.marked(page, notes.Count) {
		return false
	}
	lines := 0
	for i := range n.Count {
		piece, err := d.in.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			return false
		}
		kind, err := d.in.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: piece.PageObject})
		switch {
		case err != nil:
			return false
		case kind.Type == enums.FPDF_PAGEOBJ_TEXT:
		case kind.Type == enums.FPDF_PAGEOBJ_PATH && lines < plainLines:
			lines++
		default:
			return false
		}
	}
	return true
}

// marked tells whether something else than links was laid over a page.
func (d *document) marked(page requests.Page, count int) bool {
	for i := range count {
		note, err := d.in.FPDFPage_GetAnnot(&requests.FPDFPage_GetAnnot{Page: page, Index: i})
		if err != nil {
			return true
		}
		kind, err := d.in.FPDFAnnot_GetSubtype(&requests.FPDFAnnot_GetSubtype{Annotation: note.Annotation})
		d.in.FPDFPage_CloseAnnot(&requests.FPDFPage_CloseAnnot{Annotation: note.Annotation})
		if err != nil || kind.Subtype != enums.FPDF_ANNOT_SUBTYPE_LINK {
			return true
		}
	}
	return false
}
