package pdf

import (
	"image"
	"image/draw"
	"math"
	"slices"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/fsmcp/fsmcp/internal/media/goengine"
)

// Bounds of what is looked for to be laid under a page.
const (
	firstElements = 100     // elements of a page that are looked at: to look takes time, too
	mostElements  = 3000    // elements that may lie over them
	mostNested    = 8       // forms in forms
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
	var kept []image.Rectangle // where what lies below the next one shows something
	for i, e := range elements {
		others := slices.Clone(kept)
		for _, m := range mixers {
			if m.index > i {
				others = append(others, m.at)
			}
		}
		if e.kind == enums.FPDF_PAGEOBJ_IMAGE && d.lay(number, e.ref, frame, others, on) {
			some = true
			continue
		}
		kept = append(kept, d.shownIn(e.ref, frame))
	}
	return some
}

// transferred is found out once a document.
func (d *document) transferred() bool {
	if d.passes == nil {
		passes := transferred(d.data)
		d.passes = &passes
	}
	return *d.passes
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

// lay lays one picture on the paper, if it is a plain one and away from others.
func (d *document) lay(number int, ref references.FPDF_PAGEOBJECT, f frame, others []image.Rectangle, on *sheet) bool {
	place, ok := d.upright(ref)
	if !ok {
		return false
	}
	at := f.pixels(place)
	if at.Dx()*at.Dy() < leastLaid || at.Dx() > 2*on.w || at.Dy() > 2*on.h || !at.Overlaps(on.rect()) {
		return false
	}
	clip, ok := d.clip(ref, f)
	if !ok || !d.plain(ref) {
		return false
	}
	for _, other := range others {
		if other.Overlaps(at) {
			return false
		}
	}
	s, ok := d.stored(number, ref)
	if !ok || s.coarse(at) || s.mask != nil && s.mask.coarse(at) {
		return false
	}
	img, err := s.fitted(at.Dx(), at.Dy())
	if err != nil {
		return false
	}
	var mask image.Image
	if s.mask != nil {
		if mask, err = s.mask.opacity(at.Dx(), at.Dy()); err != nil {
			return false
		}
	}
	paper, err := on.pixels()
	if err != nil {
		return false
	}
	seen := at.Intersect(clip)
	if from := seen.Min.Sub(at.Min); mask == nil {
		draw.Draw(paper, seen, img, from, draw.Src)
	} else {
		draw.DrawMask(paper, seen, img, from, mask, from, draw.Over)
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

// upright is where a picture stands that is neither turned nor mirrored.
func (d *document) upright(ref references.FPDF_PAGEOBJECT) (b box, ok bool) {
	m, err := d.in.FPDFPageObj_GetMatrix(&requests.FPDFPageObj_GetMatrix{PageObject: ref})
	if err != nil || m.Matrix.B != 0 || m.Matrix.C != 0 || !(m.Matrix.A > 0 && m.Matrix.D > 0) {
		return b, false
	}
	left, bottom := float64(m.Matrix.E), float64(m.Matrix.F)
	return box{left, left + float64(m.Matrix.A), bottom, bottom + float64(m.Matrix.D)}, true
}

// everywhere clips nothing.
var everywhere = image.Rect(math.MinInt32, math.MinInt32, math.MaxInt32, math.MaxInt32)

// clip is the part of the picture of a page that an element may touch. ok: it is a
// rectangle.
func (d *document) clip(ref references.FPDF_PAGEOBJECT, f frame) (at image.Rectangle, ok bool) {
	at = everywhere
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

// shownIn is where an element may show anything or hide what follows, as text does
// that clips.
func (d *document) shownIn(ref references.FPDF_PAGEOBJECT, f frame) image.Rectangle {
	mode, err := d.in.FPDFTextObj_GetTextRenderMode(&requests.FPDFTextObj_GetTextRenderMode{PageObject: ref})
	switch {
	case err != nil: // it is no text
	case mode.TextRenderMode == enums.FPDF_TEXTRENDERMODE_INVISIBLE: // as under scans
		return image.Rectangle{}
	case mode.TextRenderMode >= enums.FPDF_TEXTRENDERMODE_FILL_CLIP: // nobody tells whom
		return everywhere
	}
	return d.bounds(ref, f)
}

// bounds is where an element stands, and a pixel around it.
func (d *document) bounds(ref references.FPDF_PAGEOBJECT, f frame) image.Rectangle {
	b, err := d.in.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: ref})
	if err != nil {
		return everywhere
	}
	return f.pixels(box{float64(b.Left), float64(b.Right), float64(b.Bottom), float64(b.Top)}).Inset(-1)
}

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

// stored is a picture of a page as its file holds it, if that says all.
func (d *document) stored(number int, ref references.FPDF_PAGEOBJECT) (s stored, ok bool) {
	facts, err := d.in.FPDFImageObj_GetImageMetadata(&requests.FPDFImageObj_GetImageMetadata{ImageObject: ref, Page: d.page(number)})
	if err != nil {
		return s, false
	}
	samples := 0
	switch facts.ImageMetadata.Colorspace {
	case enums.FPDF_COLORSPACE_DEVICEGRAY:
		samples = 1
	case enums.FPDF_COLORSPACE_DEVICERGB:
		samples = 3
	case enums.FPDF_COLORSPACE_ICCBASED:
		icc, err := d.in.FPDFImageObj_GetIccProfileDataDecoded(&requests.FPDFImageObj_GetIccProfileDataDecoded{ImageObject: ref, Page: d.page(number)})
		if err == nil && goengine.IsSRGB(icc.Data) {
			samples = 3
		}
	}
	if samples == 0 {
		return s, false
	}
	raw, err := d.in.FPDFImageObj_GetImageDataRaw(&requests.FPDFImageObj_GetImageDataRaw{ImageObject: ref})
	if err != nil {
		return s, false
	}
	s, ok = storedIn(d.data, raw.Data, samples)
	return s, ok && s.width == int(facts.ImageMetadata.Width) && s.height == int(facts.ImageMetadata.Height)
}
