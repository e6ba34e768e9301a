// Package webpwriter writes WebP. It is a room of its own because the tables
// that its library fills at the start of a program cost every program that
// links it half a megabyte and a fifth of a millisecond: the server does not.
package webpwriter

import (
	"bytes"
	"image"

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
	o := webp.DefaultOptions()
	o.Quality = float32(quality)
	if img.Rect.Dx()*img.Rect.Dy() >= quickFrom {
		o.Method = quickMethod
	}
	var out bytes.Buffer
	if err := webp.Encode(&out, img, o); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
