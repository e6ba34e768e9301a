package goengine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/png"
)

// largestIcon decodes the largest icon of a file, and of several of that size the one
// with the most colours.
func largestIcon(data []byte) (image.Image, error) {
	if len(data) < 6 {
		return nil, errBMPShort
	}
	var best []byte
	most, deepest := 0, 0
	for i := range int(binary.LittleEndian.Uint16(data[4:])) {
		entry := data[min(6+16*i, len(data)):]
		if len(entry) < 16 {
			return nil, errBMPShort
		}
		at := uint64(binary.LittleEndian.Uint32(entry[12:]))
		if at+24 > uint64(len(data)) {
			return nil, errBMPShort
		}
		pixels, depth := iconSize(data[at:])
		if pixels > most || pixels == most && depth > deepest {
			best, most, deepest = data[at:], pixels, depth
		}
	}
	switch {
	case best == nil:
		return nil, errors.New("it holds no icon")
	case isPNG(best):
		return png.Decode(bytes.NewReader(best))
	}
	return icon(best)
}

func isPNG(b []byte) bool { return bytes.HasPrefix(b, []byte("\x89PNG")) }

// iconSize is the number of an icon's pixels and their bits, as its own header says.
func iconSize(b []byte) (pixels, depth int) {
	if isPNG(b) {
		return int(binary.BigEndian.Uint32(b[16:])&0x7fffffff) * int(binary.BigEndian.Uint32(b[20:])&0x7fffffff), 32
	}
	le := binary.LittleEndian
	return int(int32(le.Uint32(b[4:]))) * (int(int32(le.Uint32(b[8:]))) / 2), int(le.Uint16(b[14:]))
}

// icon decodes a bitmap that has a mask below it: a bit for each pixel, set where it
// is not to be seen. Where pixels have an alpha of their own it says nothing new, and
// may be missing.
func icon(data []byte) (image.Image, error) {
	b, err := readBitmap(data)
	if err != nil {
		return nil, err
	}
	if b.height /= 2; b.height == 0 || b.packing != bmpPlain && b.packing != bmpMasks {
		return nil, errBMPHeader
	}
	if b.behind > len(data) {
		return nil, errBMPShort
	}
	pixels := data[b.behind:]
	img, err := b.picture(pixels)
	if err != nil {
		return nil, err
	}
	out := asNRGBA(img)
	if !out.Opaque() {
		return out, nil
	}
	mask := bitmap{width: b.width, height: b.height, topDown: b.topDown, bits: 1}
	bits := pixels[min(b.stride()*b.height, len(pixels)):]
	if len(bits) < mask.stride()*mask.height {
		if b.bits == 32 {
			return out, nil
		}
		return nil, errBMPShort
	}
	for y := range b.height {
		row := mask.row(bits, y)
		for x := range b.width {
			if row[x/8]>>(7-x%8)&1 != 0 {
				copy(out.Pix[y*out.Stride+4*x:][:4], []uint8{0, 0, 0, 0})
			}
		}
	}
	return out, nil
}

// asNRGBA is a decoded bitmap with four samples a pixel.
func asNRGBA(img image.Image) *image.NRGBA {
	if m, ok := img.(*image.NRGBA); ok {
		return m
	}
	m := img.(*image.Paletted)
	out := image.NewNRGBA(m.Rect)
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			out.Set(x, y, m.Palette[m.ColorIndexAt(x, y)])
		}
	}
	return out
}
