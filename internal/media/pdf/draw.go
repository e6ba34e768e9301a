package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/quickjpeg"
)

// draw makes a JPEG of a page at the best size and quality.
func (d *document) draw(number int) ([]byte, error) {
	best := media.PageSizes()[0]
	best.Qualities = best.Qualities[:1]
	return d.drawn(number, best, math.MaxInt)
}

// smaller makes a JPEG of a page that takes at most so many characters in base64, or
// else the smallest there is.
func (d *document) smaller(number, most int) (picture []byte, err error) {
	sizes := media.PageSizes()
	sizes[0].Qualities = sizes[0].Qualities[1:]
	for _, size := range sizes {
		if picture, err = d.drawn(number, size, most); err != nil || media.Base64Len(len(picture)) <= most {
			break
		}
	}
	return picture, err
}

// encoded writes a JPEG. A page without colours is encoded in gray, in a third of the time.
func encoded(pixels *image.RGBA, quality int) ([]byte, error) {
	var b bytes.Buffer
	var img image.Image = pixels
	if gray := inGray(pixels); gray != nil {
		img = gray
	}
	err := quickjpeg.Encode(&b, img, quality)
	return b.Bytes(), err
}

// inGray returns a picture without colours in gray; nil: it has some.
func inGray(m *image.RGBA) *image.Gray {
	out := image.NewGray(m.Rect)
	for y := range m.Rect.Dy() {
		row, to := m.Pix[y*m.Stride:][:4*m.Rect.Dx()], out.Pix[y*out.Stride:]
		for x := 0; x < len(row); x += 4 {
			px := row[x : x+3 : x+3]
			if px[0] != px[1] || px[1] != px[2] {
				return nil
			}
			to[x/4] = px[0]
		}
	}
	return out
}

// drawn makes a JPEG of a page at a size, of the best quality that takes at most so many
// characters in base64, or else of the last. The bitmap is white before PDFium draws, since
// shadows and the like are blended with it.
func (d *document) drawn(number int, size media.PageSize, most int) (picture []byte, err error) {
	width, height, ok := d.size(number)
	if !ok && d.ignoreCropBox(number) {
		width, height, ok = d.size(number)
	}
	if !ok {
		return nil, damaged(fmt.Sprintf("page %d has no size", number))
	}
	scale := float64(size.Side) / max(width, height)
	on, err := newBitmap(d.in, whole(width*scale), whole(height*scale))
	var pixels *image.RGBA
	if err == nil {
		defer on.close()
		pixels, err = on.show(d.page(number))
	}
	if err != nil {
		return nil, damaged(fmt.Sprintf("page %d cannot be drawn", number))
	}
	for _, quality := range size.Qualities {
		if picture, err = encoded(pixels, quality); err != nil || media.Base64Len(len(picture)) <= most {
			break
		}
	}
	return picture, err
}

// size returns the size of a page as it is shown, in points; ok is false if it has none.
func (d *document) size(number int) (width, height float64, ok bool) {
	s, err := d.in.GetPageSize(&requests.GetPageSize{Page: d.page(number)})
	if err != nil {
		return 0, 0, false
	}
	return s.Width, s.Height, s.Width > 0 && s.Height > 0
}

// ignoreCropBox makes PDFium ignore a page's CropBox outside the MediaBox: it sets a huge CropBox,
// which PDFium clips to the MediaBox. That may be the document's, which PDFium does not
// report.
func (d *document) ignoreCropBox(number int) bool {
	const far = 1 << 20 // points
	_, err := d.in.FPDFPage_SetCropBox(&requests.FPDFPage_SetCropBox{Page: d.page(number), Left: -far, Bottom: -far, Right: far, Top: far})
	d.closePage() // the next call reads it again
	return err == nil
}

// whole rounds a length in pixels up.
func whole(length float64) int { return max(1, int(math.Ceil(length-0.01))) }

// bitmap is a picture in PDFium's memory, white at first.
type bitmap struct {
	in     pdfium.Pdfium
	bitmap references.FPDF_BITMAP
	w, h   int
}

func newBitmap(in pdfium.Pdfium, w, h int) (*bitmap, error) {
	made, err := in.FPDFBitmap_Create(&requests.FPDFBitmap_Create{Width: w, Height: h})
	if err != nil {
		return nil, err
	}
	s := &bitmap{in, made.Bitmap, w, h}
	if _, err := in.FPDFBitmap_FillRect(&requests.FPDFBitmap_FillRect{Bitmap: s.bitmap, Width: w, Height: h, Color: 0xffffffff}); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// show draws a page on the bitmap. The pixels are in PDFium's memory, and valid until the next
// call of PDFium, which may move it.
func (s *bitmap) show(page requests.Page) (*image.RGBA, error) {
	_, err := s.in.FPDF_RenderPageBitmap(&requests.FPDF_RenderPageBitmap{
		Bitmap: s.bitmap, Page: page, SizeX: s.w, SizeY: s.h, Flags: enums.FPDF_RENDER_FLAG_ANNOT | enums.FPDF_RENDER_FLAG_REVERSE_BYTE_ORDER,
	})
	if err != nil {
		return nil, err
	}
	p, err := s.in.FPDFBitmap_GetBuffer(&requests.FPDFBitmap_GetBuffer{Bitmap: s.bitmap})
	if err != nil {
		return nil, err
	}
	if len(p.Buffer) < 4*s.w*s.h {
		return nil, errors.New("pdf: the bitmap is of another size")
	}
	return &image.RGBA{Pix: p.Buffer, Stride: len(p.Buffer) / s.h, Rect: image.Rect(0, 0, s.w, s.h)}, nil
}

func (s *bitmap) close() {
	s.in.FPDFBitmap_Destroy(&requests.FPDFBitmap_Destroy{Bitmap: s.bitmap})
}
