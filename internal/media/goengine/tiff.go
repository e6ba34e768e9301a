package goengine

import (
	"bytes"
	"image"

	"github.com/fsmcp/fsmcp/internal/media"
	"golang.org/x/image/tiff"
)

// The numbers of a TIFF's layout that matter here.
const (
	tiffFax3        = 3
	tiffFax4        = 4
	tiffBlackIsZero = 1
	tiffReversed    = 2
	tiffApart       = 2
	tiffFilledEnds  = 4
)

// decodeTIFF decodes the first page. The library overlooks some of what a page says of
// itself, and what it makes of such a page is another picture.
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
		for i := range m.Pix { // a run of white is of bits that are 0, which here mean black
			m.Pix[i] = ^m.Pix[i]
		}
	}
	return img, err
}
