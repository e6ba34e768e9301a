package pdf

import (
	"strings"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// Bounds of a page of text alone.
const (
	plainLines  = 20   // rules: of a header, of footnotes, of a small table
	plainWidth  = 3    // of a rule, in points
	plainPieces = 5000 // objects that are checked
)

// textAlone reports whether a page shows nothing but text of known characters and a few thin
// rules. It reports false if an object cannot be checked.
func (d *document) textAlone(number int, text string) bool {
	if text == "" || strings.ContainsRune(text, unknownChar) {
		return false
	}
	page := d.page(number)
	n, err := d.in.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil || n.Count > plainPieces || d.marked(page) {
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
		case kind.Type == enums.FPDF_PAGEOBJ_PATH && lines < plainLines && d.thin(piece.PageObject):
			lines++
		default:
			return false
		}
	}
	return d.mapped(page)
}

// thin reports whether a path is a level or upright rule.
func (h handle) thin(path references.FPDF_PAGEOBJECT) bool {
	b, err := h.in.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: path})
	return err == nil && min(b.Right-b.Left, b.Top-b.Bottom) <= plainWidth
}

// mapped reports whether the fonts of a page say what each of its characters means. PDFium
// reports others by their number in the font, which may look like a letter.
func (h handle) mapped(page requests.Page) bool {
	loaded, err := h.in.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return false
	}
	defer h.in.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: loaded.TextPage})
	n, err := h.in.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: loaded.TextPage})
	if err != nil {
		return false
	}
	for i := range n.Count {
		sign, err := h.in.FPDFText_HasUnicodeMapError(&requests.FPDFText_HasUnicodeMapError{TextPage: loaded.TextPage, Index: i})
		if err != nil || sign.HasUnicodeMapError {
			return false
		}
	}
	return true
}

// marked reports whether a page has annotations other than links.
func (h handle) marked(page requests.Page) (marked bool) {
	whole := h.eachAnnotation(page, func(kind enums.FPDF_ANNOTATION_SUBTYPE, _ references.FPDF_ANNOTATION) {
		marked = marked || kind != enums.FPDF_ANNOT_SUBTYPE_LINK
	})
	return marked || !whole
}
