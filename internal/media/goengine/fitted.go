package goengine

import (
	"bytes"
	"errors"
	"image"

	"github.com/fsmcp/fsmcp/internal/media"
)

// FittedJPEG decodes a JPEG and makes it w pixels wide and h high: an *image.Gray,
// *image.YCbCr or *image.RGBA. What the file says of its colours' profile and of
// which side is up does not count: whoever shows it knows better. One of another
// size than said, and one in colours of ink, is an error, as is a damaged one.
func FittedJPEG(data []byte, width, height, w, h int) (image.Image, error) {
	f, err := media.Inspect(media.JPEG, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	if f.Orientation >= 5 { // facts are of the upright picture
		f.Width, f.Height = f.Height, f.Width
	}
	if f.Width != width || f.Height != height {
		return nil, errors.New("goengine: the JPEG is of another size")
	}
	p := &picture{orientation: 1, part: image.Rect(0, 0, width, height)}
	if err := p.openJPEG(data, max(w, h)); err != nil {
		return nil, err
	}
	if p.model == cmyk || p.model == ycck {
		return nil, errors.New("goengine: the colours are those of ink")
	}
	return p.made(w, h), nil
}

// FittedRows does so with rows of samples that zlib packed: one sample a pixel, an
// *image.Gray, or three, an *image.RGBA. filtered: each row has one of PNG's
// filters.
func FittedRows(packed []byte, width, height, samples int, filtered bool, w, h int) (image.Image, error) {
	r, opaque, err := readRows(packed, width, height, samples, filtered)
	if err != nil {
		return nil, err
	}
	p := &picture{orientation: 1, part: image.Rect(0, 0, width, height)}
	p.hold(r, samples == 1, opaque)
	return p.made(w, h), nil
}

// IsSRGB tells whether an ICC profile is that of sRGB, or as good as it.
func IsSRGB(icc []byte) bool {
	if len(icc) < 132 || len(icc) > mostProfile || string(icc[16:20]) != "RGB " {
		return false
	}
	p := parseProfile(icc)
	return p != nil && p.changesNothing()
}
