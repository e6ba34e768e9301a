package pdf

import (
	"math"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/requests"
)

// maxAngles bounds the characters of a page whose angle is read.
const maxAngles = 64

// turnUpright rotates a page whose text mostly runs up or down the page, as in wide tables:
// PDFium takes all lines of such text for one, and mixes their characters. It does the same
// with columns of vertical writing; with the right side of the page up, these columns are
// lines. back undoes the rotation; nil: the page was not rotated.
func (d *document) turnUpright(number int, p *pageText) (back func()) {
	upright, ok := p.rotation()
	if !ok {
		return nil
	}
	was, err := d.in.FPDFPage_GetRotation(&requests.FPDFPage_GetRotation{Page: d.page(number)})
	if err != nil || was.PageRotation == upright {
		return nil
	}
	rotate := func(to enums.FPDF_PAGE_ROTATION) {
		d.in.FPDFPage_SetRotation(&requests.FPDFPage_SetRotation{Page: d.page(number), Rotate: to})
	}
	rotate(upright)
	return func() { rotate(was.PageRotation) }
}

// rotation returns the rotation of the page that makes most of its characters upright, or,
// for columns of vertical writing, makes the first column the top line. ok is false if the
// characters have no common angle.
func (p *pageText) rotation() (turns enums.FPDF_PAGE_ROTATION, ok bool) {
	var ways [4]int
	asked, below := 0, 0
	for i := 0; i < len(p.chars); i += 1 + len(p.chars)/maxAngles {
		if p.chars[i] <= ' ' {
			continue
		}
		a, err := p.in.FPDFText_GetCharAngle(&requests.FPDFText_GetCharAngle{TextPage: p.ref, Index: i})
		if err != nil {
			continue
		}
		asked++
		quarters := float64(a.CharAngle) / (math.Pi / 2) // clockwise
		if near := math.Round(quarters); math.Abs(quarters-near) < 0.1 {
			ways[(4-int(near)%4)%4]++
		}
		if p.directlyAbove(i, i+1) {
			below++
		}
	}
	if 2*below > asked {
		return enums.FPDF_PAGE_ROTATION_270_CW, true
	}
	for way, n := range ways {
		if 2*n > asked {
			return enums.FPDF_PAGE_ROTATION(way), true
		}
	}
	return 0, false
}

// directlyAbove reports whether a character is directly above the next one.
func (p *pageText) directlyAbove(i, k int) bool {
	if k >= len(p.chars) || p.chars[k] <= ' ' {
		return false
	}
	a, ok := p.wide(i)
	b, known := p.wide(k)
	middle, high := (b.left+b.right)/2, a.top-a.bottom
	return ok && known && a.left < middle && middle < a.right && b.top < a.bottom+0.3*high && b.top > a.bottom-high
}
