package media

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
)

// Limits of a picture that is handed to a model as it is (source: the
// specification of media, "Images").
const (
	MaxSide  = 2000      // pixels
	MaxBytes = 3_932_160 // of the encoded picture
	// MaxImageTokens bounds ceil(len(base64) / 8).
	MaxImageTokens = 83_334
)

// Size reads the dimensions of a PNG or JPEG from its header; nothing is
// decoded.
func Size(kind Kind, b []byte) (width, height int, err error) {
	var c image.Config
	switch kind {
	case PNG:
		c, err = png.DecodeConfig(bytes.NewReader(b))
	case JPEG:
		c, err = jpeg.DecodeConfig(bytes.NewReader(b))
	default:
		err = image.ErrFormat
	}
	return c.Width, c.Height, err
}

// Base64Len is the length of n bytes in base64.
func Base64Len(n int) int { return (n + 2) / 3 * 4 }

// Fits tells whether a picture of that size in pixels and bytes can be handed
// on as it is.
func Fits(width, height, bytes int) bool {
	return width <= MaxSide && height <= MaxSide && bytes <= MaxBytes && (Base64Len(bytes)+7)/8 <= MaxImageTokens
}
