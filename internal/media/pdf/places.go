package pdf

import (
	"image"
	"math"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// frame leads from a page's points to the pixels of its picture.
type frame struct {
	left, top, perX, perY float64
}

// frame is that of a page that is not turned.
func (d *document) frame(number int, pixels image.Rectangle) (f frame, ok bool) {
	page := d.page(number)
	turned, err := d.in.FPDFPage_GetRotation(&requests.FPDFPage_GetRotation{Page: page})
	if err != nil || turned.PageRotation != enums.FPDF_PAGE_ROTATION_NONE {
		return f, false
	}
	box, err := d.in.FPDF_GetPageBoundingBox(&requests.FPDF_GetPageBoundingBox{Page: page})
	if err != nil {
		return f, false
	}
	w, h := float64(box.Rect.Right-box.Rect.Left), float64(box.Rect.Top-box.Rect.Bottom)
	if !(w > 0 && h > 0) {
		return f, false
	}
	return frame{float64(box.Rect.Left), float64(box.Rect.Top), float64(pixels.Dx()) / w, float64(pixels.Dy()) / h}, true
}

// pixels are all those that a place touches, as PDFium counts them.
func (f frame) pixels(b box) image.Rectangle {
	const hair = 1e-3 // what sums of floats are beside a whole number
	first := func(v float64) int { return int(math.Floor(max(min(v, beyond), -beyond) + hair)) }
	last := func(v float64) int { return int(math.Ceil(max(min(v, beyond), -beyond) - hair)) }
	return image.Rect(
		first((b.left-f.left)*f.perX), first((f.top-b.top)*f.perY),
		last((b.right-f.left)*f.perX), last((f.top-b.bottom)*f.perY))
}

// beyond is further away than any page reaches; what is further still is no whole number.
const beyond = 1 << 30

// everywhere is a place that all others lie in.
func everywhere() image.Rectangle {
	return image.Rect(math.MinInt32, math.MinInt32, math.MaxInt32, math.MaxInt32)
}

// upright is where a picture stands that is neither turned nor mirrored.
func (d *document) upright(ref references.FPDF_PAGEOBJECT) (b box, ok bool) {
	m, err := d.in.FPDFPageObj_GetMatrix(&requests.FPDFPageObj_GetMatrix{PageObject: ref})
	if err != nil || m.Matrix.B != 0 || m.Matrix.C != 0 || !(m.Matrix.A > 0 && m.Matrix.D > 0) {
		return b, false
	}
	left, bottom := float64(m.Matrix.E), float64(m.Matrix.F)
	return box{left, left + float64(m.Matrix.A), bottom, bottom + float64(m.Matrix.D)}, true
}

// clip is the part of the picture of a page that an element may touch. ok: it is a
// rectangle.
func (d *document) clip(ref references.FPDF_PAGEOBJECT, f frame) (at image.Rectangle, ok bool) {
	at = everywhere()
	clip, err := d.in.FPDFPageObj_GetClipPath(&requests.FPDFPageObj_GetClipPath{PageObject: ref})
	if err != nil {
		return at, false
	}
	paths, err := d.in.FPDFClipPath_CountPaths(&requests.FPDFClipPath_CountPaths{ClipPath: clip.ClipPath})
	if err != nil { // there is none
		return at, true
	}
	for i := range paths.Count {
		b, ok := d.rectangle(clip.ClipPath, i)
		if !ok {
			return at, false
		}
		at = at.Intersect(f.pixels(b))
	}
	return at, true
}

// rectangle is what a path of a clip encloses, if its corners are those of an
// upright rectangle, in order.
func (d *document) rectangle(clip references.FPDF_CLIPPATH, path int) (b box, ok bool) {
	n, err := d.in.FPDFClipPath_CountPathSegments(&requests.FPDFClipPath_CountPathSegments{ClipPath: clip, PathIndex: path})
	if err != nil || n.Count < 4 || n.Count > 5 {
		return b, false
	}
	var x, y [5]float64
	for i := range n.Count {
		s, err := d.in.FPDFClipPath_GetPathSegment(&requests.FPDFClipPath_GetPathSegment{ClipPath: clip, PathIndex: path, SegmentIndex: i})
		if err != nil {
			return b, false
		}
		kind, err := d.in.FPDFPathSegment_GetType(&requests.FPDFPathSegment_GetType{PathSegment: s.PathSegment})
		if err != nil || kind.Type == enums.FPDF_SEGMENT_BEZIERTO || (kind.Type == enums.FPDF_SEGMENT_MOVETO) != (i == 0) {
			return b, false
		}
		p, err := d.in.FPDFPathSegment_GetPoint(&requests.FPDFPathSegment_GetPoint{PathSegment: s.PathSegment})
		if err != nil {
			return b, false
		}
		x[i], y[i] = float64(p.X), float64(p.Y)
	}
	if n.Count == 5 && (x[4] != x[0] || y[4] != y[0]) {
		return b, false
	}
	level := y[0] == y[1] && x[1] == x[2] && y[2] == y[3] && x[3] == x[0]
	steep := x[0] == x[1] && y[1] == y[2] && x[2] == x[3] && y[3] == y[0]
	return box{min(x[0], x[2]), max(x[0], x[2]), min(y[0], y[2]), max(y[0], y[2])}, level || steep
}

// shownIn is where an element may show anything or hide what follows, as text does
// that clips.
func (d *document) shownIn(ref references.FPDF_PAGEOBJECT, f frame) image.Rectangle {
	mode, err := d.in.FPDFTextObj_GetTextRenderMode(&requests.FPDFTextObj_GetTextRenderMode{PageObject: ref})
	switch {
	case err != nil: // it is no text
	case mode.TextRenderMode == enums.FPDF_TEXTRENDERMODE_INVISIBLE: // as under scans
		return image.Rectangle{}
	case mode.TextRenderMode >= enums.FPDF_TEXTRENDERMODE_FILL_CLIP: // nobody tells whom
		return everywhere()
	}
	return d.bounds(ref, f)
}

// bounds is where an element stands, and a pixel around it.
func (d *document) bounds(ref references.FPDF_PAGEOBJECT, f frame) image.Rectangle {
	b, err := d.in.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: ref})
	if err != nil {
		return everywhere()
	}
	return f.pixels(box{float64(b.Left), float64(b.Right), float64(b.Bottom), float64(b.Top)}).Inset(-1)
}
