package raster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/draw"
	"image/gif"
	"image/png"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"github.com/fsmcp/fsmcp/internal/media"
)

// decode decodes every kind but JPEG, to the size that the header says.
func decode(kind media.Kind, data []byte, whole image.Rectangle) (image.Image, error) {
	switch kind {
	case media.PNG:
		if err := media.Check(kind, data); err != nil {
			return nil, err // the library accepts a file without its end
		}
		return png.Decode(bytes.NewReader(data))
	case media.GIF:
		return firstFrame(data, whole)
	case media.WebP:
		return decodeWebP(data, whole)
	case media.BMP:
		return decodeBMP(data)
	case media.ICO:
		return largestIcon(data)
	case media.TIFF:
		return decodeTIFF(data)
	}
	return nil, media.RareError("no decoder for it is built in")
}

// decodeBMP decodes a BMP. One of 32 bits that is transparent everywhere is opaque:
// most programs leave the fourth byte at 0 and mean no alpha by it.
func decodeBMP(data []byte) (image.Image, error) {
	img, err := bmp.Decode(bytes.NewReader(data))
	if errors.Is(err, bmp.ErrUnsupported) {
		return nil, media.RareError("its header or the packing of its pixels is of a rare form")
	}
	if m, ok := img.(*image.NRGBA); ok && err == nil && transparent(m) {
		for i := 3; i < len(m.Pix); i += 4 {
			m.Pix[i] = 255
		}
	}
	return img, err
}

// transparent reports whether nothing of a picture would be seen.
func transparent(m *image.NRGBA) bool {
	for i := 3; i < len(m.Pix); i += 4 {
		if m.Pix[i] != 0 {
			return false
		}
	}
	return true
}

// firstFrame lays a GIF's first frame on its canvas.
func firstFrame(data []byte, whole image.Rectangle) (image.Image, error) {
	if err := media.Check(media.GIF, data); err != nil {
		return nil, err
	}
	img, err := gif.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return onCanvas(img, img.Bounds(), whole), nil
}

// onCanvas lays a frame on a transparent canvas, unless it fills all of that.
func onCanvas(frame image.Image, at, whole image.Rectangle) image.Image {
	if at == whole {
		return frame
	}
	canvas := image.NewRGBA(whole)
	draw.Draw(canvas, at, frame, frame.Bounds().Min, draw.Src)
	return canvas
}

// decodeWebP decodes a WebP, or the first frame of an animation.
func decodeWebP(data []byte, whole image.Rectangle) (image.Image, error) {
	if err := media.Check(media.WebP, data); err != nil {
		return nil, err
	}
	still, x, y := firstStill(data)
	img, err := webp.Decode(bytes.NewReader(still))
	if err != nil {
		return nil, err
	}
	switch m := img.(type) {
	case *image.YCbCr:
		img = fromVideo(m, nil, 0)
	case *image.NYCbCrA:
		img = fromVideo(&m.YCbCr, m.A, m.AStride)
	}
	at := image.Rect(x, y, x+img.Bounds().Dx(), y+img.Bounds().Dy())
	if !at.In(whole) {
		return nil, errors.New("its first frame is larger than its canvas")
	}
	return onCanvas(img, at, whole), nil
}

// firstStill returns a WebP of the first frame of an animation, and its place;
// any other file as it is.
func firstStill(data []byte) (still []byte, x, y int) {
	for name, body := range media.RIFFChunks(data) {
		if name != "ANMF" || len(body) <= 16 {
			continue
		}
		at := func(i int) int { return int(body[i]) | int(body[i+1])<<8 | int(body[i+2])<<16 }
		var header []byte
		if string(body[16:min(20, len(body))]) == "ALPH" {
			header = append([]byte("VP8X\x0a\x00\x00\x00\x10\x00\x00\x00"), body[6:12]...) // with alpha
		}
		still = append([]byte("RIFF\x00\x00\x00\x00WEBP"), append(header, body[16:]...)...)
		binary.LittleEndian.PutUint32(still[4:], uint32(len(still)-8))
		return still, 2 * at(0), 2 * at(3)
	}
	return data, 0, 0
}

// fromVideo makes colours of WebP's planes, whose samples have the range of
// video: 16 to 235.
func fromVideo(m *image.YCbCr, alpha []uint8, alphaStride int) image.Image {
	b := m.Bounds()
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	for y := range b.Dy() {
		row := out.Pix[y*out.Stride:][:4*b.Dx()]
		for x := range b.Dx() {
			yy := 76309 * (int32(m.Y[m.YOffset(b.Min.X+x, b.Min.Y+y)]) - 16)
			c := m.COffset(b.Min.X+x, b.Min.Y+y)
			u, v := int32(m.Cb[c])-128, int32(m.Cr[c])-128
			p := row[4*x : 4*x+4 : 4*x+4]
			p[0] = clamp((yy + 104597*v + 1<<15) >> 16)
			p[1] = clamp((yy - 25675*u - 53279*v + 1<<15) >> 16)
			p[2] = clamp((yy + 132201*u + 1<<15) >> 16)
			p[3] = 255
			if alpha != nil {
				p[3] = alpha[y*alphaStride+x]
			}
		}
	}
	return out
}

// clamp brings a number into a byte.
func clamp(v int32) uint8 { return uint8(min(max(v, 0), 255)) }

// The numbers of a TIFF's layout that matter here.
const (
	tiffFax3        = 3
	tiffFax4        = 4
	tiffBlackIsZero = 1
	tiffReversed    = 2
	tiffApart       = 2
	tiffFilledEnds  = 4
)

// decodeTIFF decodes the first page. The library ignores some tags, and would decode pages with
// these to another picture.
func decodeTIFF(data []byte) (image.Image, error) {
	l := media.LayoutOf(data)
	fax := l.Compression == tiffFax3 || l.Compression == tiffFax4
	switch {
	case l.Planes == tiffApart && l.Samples > 1:
		return nil, media.RareError("its colours are stored apart from one another")
	case l.BitOrder == tiffReversed && !fax:
		return nil, media.RareError("the bits of its bytes are stored in reverse order")
	case l.Compression == tiffFax3 && l.FaxOptions&tiffFilledEnds != 0:
		return nil, media.RareError("its lines are packed as by a fax machine, with filling before their ends")
	}
	img, err := tiff.Decode(bytes.NewReader(data))
	if m, ok := img.(*image.Gray); ok && fax && l.Photometric == tiffBlackIsZero {
		for i := range m.Pix { // the library takes 0 for white, which is black here
			m.Pix[i] = ^m.Pix[i]
		}
	}
	return img, err
}
