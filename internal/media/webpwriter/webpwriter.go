// Package webpwriter writes WebP. It is a room of its own because the tables
// that its library fills at the start of a program cost every program that
// links it half a megabyte and a fifth of a millisecond: the server does not.
package webpwriter

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"

	"github.com/deepteams/webp"
)

// quickFrom is the number of pixels from which a picture is written with less care
// for its last bytes: the time doubles with it, and several may have to be tried.
const (
	quickFrom   = 1_000_000
	quickMethod = 2 // of 0 to 6
)

// Encode writes a lossy WebP, with alpha where the picture has some; quality
// goes to 100.
func Encode(img *image.NRGBA, quality int) ([]byte, error) {
	if img.Opaque() {
		return encoded(img, options(img.Rect, float32(quality)))
	}
	// The library packs alpha in a way that no reader takes. Its lossless pictures are
	// sound, and packed alpha is one of these: so it is made of one.
	o := options(img.Rect, float32(quality))
	o.AlphaCompression, o.AlphaFiltering = 0, 0
	file, err := encoded(img, o)
	if err != nil {
		return nil, err
	}
	alpha, err := packedAlpha(img)
	if err != nil {
		return nil, err
	}
	return withAlpha(file, alpha)
}

func options(r image.Rectangle, quality float32) *webp.EncoderOptions {
	o := webp.DefaultOptions()
	o.Quality = quality
	if r.Dx()*r.Dy() >= quickFrom {
		o.Method = quickMethod
	}
	return o
}

func encoded(img image.Image, o *webp.EncoderOptions) ([]byte, error) {
	var out bytes.Buffer
	if err := webp.Encode(&out, img, o); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// packedAlpha is the body of an ALPH chunk: a byte that says how it is packed, and a
// lossless picture whose green is alpha, without the five bytes that say its size.
func packedAlpha(img *image.NRGBA) ([]byte, error) {
	greens := image.NewNRGBA(image.Rect(0, 0, img.Rect.Dx(), img.Rect.Dy()))
	for y := range greens.Rect.Dy() {
		for x := range greens.Rect.Dx() {
			greens.SetNRGBA(x, y, color.NRGBA{G: img.NRGBAAt(img.Rect.Min.X+x, img.Rect.Min.Y+y).A, A: 255})
		}
	}
	o := options(greens.Rect, 50) // here the effort, of 100
	o.Lossless = true
	file, err := encoded(greens, o)
	if err != nil {
		return nil, err
	}
	body, ok := chunk(file, "VP8L")
	const header, losslessly = 5, 1
	if !ok || len(body) < header {
		return nil, errors.New("webpwriter: the library wrote no lossless picture")
	}
	return append([]byte{losslessly}, body[header:]...), nil
}

// withAlpha puts another alpha into a WebP that has some.
func withAlpha(file, alpha []byte) ([]byte, error) {
	head, there := chunk(file, "VP8X")
	colours, ok := chunk(file, "VP8 ")
	if !there || !ok {
		return nil, errors.New("webpwriter: the library wrote no picture with alpha")
	}
	out := []byte("RIFF\x00\x00\x00\x00WEBP")
	for _, c := range []struct {
		name string
		body []byte
	}{{"VP8X", head}, {"ALPH", alpha}, {"VP8 ", colours}} {
		out = append(out, c.name...)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(c.body)))
		out = append(out, c.body...)
		if len(c.body)%2 != 0 {
			out = append(out, 0)
		}
	}
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8))
	return out, nil
}

// chunk is the body of a file's first chunk of that name.
func chunk(file []byte, name string) ([]byte, bool) {
	for rest := file[min(12, len(file)):]; len(rest) >= 8; {
		n := int(binary.LittleEndian.Uint32(rest[4:]))
		if n+8 > len(rest) {
			break
		}
		if string(rest[:4]) == name {
			return rest[8 : 8+n], true
		}
		rest = rest[min(8+n+n%2, len(rest)):]
	}
	return nil, false
}
