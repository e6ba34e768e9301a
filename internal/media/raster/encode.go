package raster

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"sync/atomic"

	"github.com/ericpauley/go-quantize/quantize"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/quickjpeg"
)

// bounded is a file being written, of at most so many bytes; 0, nil: any.
type bounded struct {
	bytes.Buffer
	most *atomic.Int64
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.most != nil {
		if most := int(b.most.Load()); most > 0 && b.Len()+len(p) > most {
			return 0, media.ErrLonger
		}
	}
	return b.Buffer.Write(p)
}

// quickFrom is the number of pixels above which a PNG is packed quickly: a photograph
// of 3 megapixels takes a sixth of the time for a fifth more bytes, and a screen is
// 6 % longer.
const quickFrom = 1_000_000

// levels are those compressions by the numbers of zlib. Of the quick ones, level 3 makes a
// screen of 3 megapixels 3 % smaller than level 1, in a tenth more time.
var levels = map[png.CompressionLevel]int{png.BestSpeed: 3, png.DefaultCompression: 6}

// Render implements media.Picture.
func (p *picture) Render(s media.PictureEncoding) ([]byte, error) {
	img, err := p.scaled(s.Width, s.Height)
	if err != nil {
		return nil, err
	}
	level := png.DefaultCompression
	if s.Width*s.Height > quickFrom {
		level = png.BestSpeed
	}
	if s.As == media.JPEG && !p.opaque {
		img = onWhite(img)
	}
	if p.library != nil && s.Colours == 0 {
		out, err := p.library.Encode(img, s, levels[level])
		if !errors.Is(err, errors.ErrUnsupported) {
			return out, err
		}
	}
	if s.As == media.JPEG {
		return encodeJPEG(img, s.Quality, s.Most)
	}
	switch _, ycc := img.(*image.YCbCr); {
	case s.Colours > 0:
		img = reduced(img, s.Colours)
	case ycc:
		img = asRGBA(img)
	}
	out := &bounded{most: s.Most}
	err = (&png.Encoder{CompressionLevel: level}).Encode(out, img)
	return out.Bytes(), err
}

// encodeJPEG makes a JPEG. The halves of a large picture are encoded at once, and joined by a
// restart marker: a picture of 2.7 megapixels takes 11 ms in place of 20.
func encodeJPEG(img image.Image, quality int, most *atomic.Int64) ([]byte, error) {
	encode := func(img image.Image) ([]byte, error) {
		out := &bounded{most: most}
		err := quickjpeg.Encode(out, img, quality)
		return out.Bytes(), err
	}
	upper, lower, interval := halves(img)
	if interval == 0 {
		return encode(img)
	}
	var below []byte
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		below, failed = encode(lower)
	}()
	above, err := encode(upper)
	<-done
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	out := joinedJPEG(above, below, img.Bounds().Dy(), interval)
	if most != nil && most.Load() > 0 && len(out) > int(most.Load()) {
		return nil, media.ErrLonger
	}
	return out, nil
}

// halvedFrom is the number of pixels from which the halves of a JPEG are encoded at once.
const halvedFrom = 1 << 18

// halves splits a picture between two rows of a JPEG's units, and returns how many units the
// upper half has; 0: it is not split.
func halves(img image.Image) (upper, lower image.Image, units int) {
	b := img.Bounds()
	m, ok := img.(interface {
		SubImage(image.Rectangle) image.Image
	})
	if !ok || b.Dx()*b.Dy() < halvedFrom {
		return nil, nil, 0
	}
	unit := 16 // of colours, at half their resolution
	if _, gray := img.(*image.Gray); gray {
		unit = 8
	}
	rows := ((b.Dy()+unit-1)/unit + 1) / 2 // no less than the lower half has
	units = rows * ((b.Dx() + unit - 1) / unit)
	if rows*unit >= b.Dy() || units > 0xffff {
		return nil, nil, 0
	}
	middle := b.Min.Y + rows*unit
	return m.SubImage(image.Rect(b.Min.X, b.Min.Y, b.Max.X, middle)), m.SubImage(image.Rect(b.Min.X, middle, b.Max.X, b.Max.Y)), units
}

// joinedJPEG joins two JPEGs of the same encoder, one above the other, of the same width
// and with the same tables. height is that of both, interval the units of the upper one.
func joinedJPEG(upper, lower []byte, height, interval int) []byte {
	header := func(b []byte) (size, scan, data int) { // where SOF0, SOS and the data begin
		for at := 2; ; {
			end := at + 2 + int(binary.BigEndian.Uint16(b[at+2:]))
			switch b[at+1] {
			case 0xc0:
				size = at
			case 0xda:
				return size, at, end
			}
			at = end
		}
	}
	size, scan, _ := header(upper)
	_, _, data := header(lower)
	out := make([]byte, 0, len(upper)+len(lower)-data+8)
	out = append(out, upper[:scan]...)
	binary.BigEndian.PutUint16(out[size+5:], uint16(height))
	out = append(out, 0xff, 0xdd, 0, 4, byte(interval>>8), byte(interval))
	out = append(out, upper[scan:len(upper)-2]...)
	out = append(out, 0xff, 0xd0)
	return append(out, lower[data:]...)
}

// asRGBA copies a picture, its corner at (0, 0).
func asRGBA(img image.Image) *image.RGBA {
	b := img.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(out, out.Rect, img, b.Min, draw.Src)
	return out
}

// onWhite lays a picture on white, for formats without transparency.
func onWhite(img image.Image) *image.RGBA {
	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Over)
	return out
}

// reduced reduces a picture to so many colours, without dithering, which would blur text.
func reduced(img image.Image, colours int) *image.Paletted {
	q := quantize.MedianCutQuantizer{Aggregation: quantize.Mean}
	out := image.NewPaletted(img.Bounds(), q.Quantize(make(color.Palette, 0, colours), img))
	nearest := map[color.RGBA]uint8{}
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			c := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
			index, known := nearest[c]
			if !known {
				index = uint8(out.Palette.Index(c))
				nearest[c] = index
			}
			out.Pix[y*out.Stride+x] = index
		}
	}
	return out
}
