package raster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/png"

	"github.com/kovidgoyal/imaging"
	"golang.org/x/image/bmp"

	"github.com/fsmcp/fsmcp/internal/media"
)

var errShort = errors.New("it ends in the middle of its data")

// largestIcon decodes the largest icon of a file.
func largestIcon(data []byte) (image.Image, error) {
	best, err := media.LargestIcon(data)
	switch {
	case err != nil:
		return nil, err
	case best == nil:
		return nil, errors.New("it holds no icon")
	case bytes.HasPrefix(best, []byte("\x89PNG")):
		return png.Decode(bytes.NewReader(best))
	}
	return icon(best)
}

// Sizes of the headers of a BMP.
const (
	bmpFileHeader = 14
	bmpInfo       = 40
	bmpInfo4      = 108 // with masks: the library reads alpha of no older one
)

// icon decodes a bitmap without a file header. A mask follows the bitmap: one bit a pixel, set if
// the pixel is transparent. The mask counts if the pixels have no alpha, and may be missing if
// they have 32 bits.
func icon(data []byte) (image.Image, error) {
	le := binary.LittleEndian
	if len(data) < bmpInfo || le.Uint32(data) < bmpInfo || uint64(le.Uint32(data)) > uint64(len(data)) {
		return nil, errShort
	}
	w, h, bits := int(int32(le.Uint32(data[4:]))), int(int32(le.Uint32(data[8:])))/2, int(le.Uint16(data[14:]))
	if le.Uint32(data) != bmpInfo || le.Uint32(data[16:]) != 0 || bits == 16 {
		return nil, media.RareError("the bitmap of its icon is of a rare form")
	}
	palette := 0
	if bits <= 8 {
		if palette = int(le.Uint32(data[32:])); palette == 0 {
			palette = 1 << bits
		}
	}
	pixels := bmpInfo + 4*palette
	end := pixels + (w*bits+31)/32*4*h
	if w <= 0 || h <= 0 || palette > 256 || end > len(data) {
		return nil, errShort
	}
	img, err := bmp.Decode(bytes.NewReader(asBMP(data[:end], h, pixels, bits == 32)))
	if err != nil {
		return nil, err
	}
	out := imaging.Clone(img)
	if !transparent(out) && !out.Opaque() {
		return out, nil
	}
	mask, stride := data[end:], (w+31)/32*4
	masked := len(mask) >= stride*h
	if !masked && bits != 32 {
		return nil, errShort
	}
	for y := range h {
		for x := range w {
			px := out.Pix[y*out.Stride+4*x:][:4]
			if px[3] = 255; masked && mask[(h-1-y)*stride+x/8]>>(7-x%8)&1 != 0 {
				clear(px)
			}
		}
	}
	return out, nil
}

// asBMP makes a file of a bitmap of that height whose pixels begin at a place.
func asBMP(bitmap []byte, height, pixels int, alpha bool) []byte {
	le := binary.LittleEndian
	header := bytes.Clone(bitmap[:bmpInfo])
	le.PutUint32(header[8:], uint32(height))
	if alpha {
		le.PutUint32(header, bmpInfo4)
		le.PutUint32(header[16:], 3) // masks
		for _, m := range []uint32{0xff0000, 0xff00, 0xff, 0xff000000} {
			header = le.AppendUint32(header, m)
		}
		header = append(header, make([]byte, bmpInfo4-len(header))...)
	}
	out := append([]byte("BM"), make([]byte, bmpFileHeader-2)...)
	le.PutUint32(out[10:], uint32(len(out)+len(header)+pixels-bmpInfo))
	return append(append(out, header...), bitmap[bmpInfo:]...)
}
