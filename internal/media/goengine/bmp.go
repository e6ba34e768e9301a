package goengine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"math/bits"

	"github.com/fsmcp/fsmcp/internal/media"
)

// How a BMP's samples are packed.
const (
	bmpPlain      = 0
	bmpRunsOf8    = 1
	bmpRunsOf4    = 2
	bmpMasks      = 3
	bmpMasksAlpha = 6
)

// bitmap is what a BMP's headers say, and the bytes behind them.
type bitmap struct {
	width, height int
	topDown       bool
	bits          int // a pixel
	packing       uint32
	masks         [4]uint32 // red, green, blue and alpha
	palette       color.Palette
	behind        int // the first byte behind headers and palette
	data          []byte
}

var (
	errBMPShort  = errors.New("it ends in the middle of its data")
	errBMPHeader = errors.New("its header is damaged")
)

func decodeBMP(data []byte) (image.Image, error) {
	if len(data) < 18 {
		return nil, errBMPShort
	}
	b, err := readBitmap(data[14:])
	if err != nil {
		return nil, err
	}
	// Some writers do not say where the pixels begin: then they come right behind.
	if at := int(binary.LittleEndian.Uint32(data[10:])) - 14; at > 0 {
		b.behind = at
	}
	if b.behind > len(b.data) {
		return nil, errBMPShort
	}
	return b.picture(b.data[b.behind:])
}

// readBitmap reads the header that a BMP's own is followed by, and that an icon
// begins with.
func readBitmap(data []byte) (*bitmap, error) {
	le := binary.LittleEndian
	if len(data) < 12 {
		return nil, errBMPShort
	}
	size := int(le.Uint32(data))
	if size < 12 || size > len(data) {
		return nil, errBMPShort
	}
	b := &bitmap{data: data, behind: size}
	entry, used := 4, 0
	switch {
	case size == 12:
		b.width, b.height, b.bits = int(le.Uint16(data[4:])), int(le.Uint16(data[6:])), int(le.Uint16(data[10:]))
		entry = 3
	case size >= 40:
		b.width, b.height, b.bits = int(int32(le.Uint32(data[4:]))), int(int32(le.Uint32(data[8:]))), int(le.Uint16(data[14:]))
		b.packing, used = le.Uint32(data[16:]), int(le.Uint32(data[32:]))
	default:
		return nil, errBMPHeader
	}
	if b.height < 0 {
		b.height, b.topDown = -b.height, true
	}
	if b.width <= 0 || b.height <= 0 {
		return nil, errBMPHeader
	}
	if err := b.takeMasks(size); err != nil {
		return nil, err
	}
	return b, b.takePalette(entry, used)
}

// takeMasks finds which bits of a pixel are which colour. They are the header's last
// fields, or stand behind one that is too old for them.
func (b *bitmap) takeMasks(size int) error {
	switch {
	case b.packing == bmpPlain && b.bits == 16:
		b.masks = [4]uint32{0x7c00, 0x3e0, 0x1f}
	case b.packing == bmpPlain && b.bits == 32:
		b.masks = [4]uint32{0xff0000, 0xff00, 0xff, 0xff000000}
	case b.packing == bmpMasks && size == 64: // there the number means something else
		return media.RareError("its pixels are packed in a way that is not decoded")
	case b.packing == bmpMasks || b.packing == bmpMasksAlpha:
		if b.bits != 16 && b.bits != 32 {
			return errBMPHeader
		}
		n := 3
		if size >= 56 || b.packing == bmpMasksAlpha {
			n = 4
		}
		if len(b.data) < 40+4*n {
			return errBMPShort
		}
		for i := range n {
			b.masks[i] = binary.LittleEndian.Uint32(b.data[40+4*i:])
		}
		b.behind = max(b.behind, 40+4*n)
	case b.packing == bmpRunsOf8 && b.bits == 8, b.packing == bmpRunsOf4 && b.bits == 4, b.packing == bmpPlain:
	default:
		return media.RareError(fmt.Sprintf("its pixels are packed in a way (%d, of %d bits) that is not decoded", b.packing, b.bits))
	}
	return nil
}

// takePalette reads so many entries of so many bytes; 0: as many as there may be.
func (b *bitmap) takePalette(entry, used int) error {
	if b.bits > 8 {
		if used > 0 && used <= 256 { // a hint for screens of few colours
			b.behind += used * entry
		}
		return nil
	}
	if b.bits != 1 && b.bits != 2 && b.bits != 4 && b.bits != 8 {
		return errBMPHeader
	}
	most := 1 << b.bits
	if used <= 0 || used > most {
		used = most
	}
	for range used {
		if b.behind+entry > len(b.data) {
			return errBMPShort
		}
		c := b.data[b.behind:]
		b.palette = append(b.palette, color.NRGBA{c[2], c[1], c[0], 255})
		b.behind += entry
	}
	for len(b.palette) < most { // whoever uses more has black
		b.palette = append(b.palette, color.NRGBA{A: 255})
	}
	return nil
}

// stride is the length of a row as it is stored.
func (b *bitmap) stride() int { return (b.width*b.bits + 31) / 32 * 4 }

// picture is what the pixels show: an *image.Paletted or an *image.NRGBA.
func (b *bitmap) picture(pixels []byte) (image.Image, error) {
	if b.packing == bmpRunsOf8 || b.packing == bmpRunsOf4 {
		return b.runs(pixels)
	}
	if len(pixels) < b.stride()*(b.height-1)+(b.width*b.bits+7)/8 { // the last row may lack its filling
		return nil, errBMPShort
	}
	if b.bits <= 8 {
		return b.indexed(pixels), nil
	}
	return b.coloured(pixels)
}

// row is a row of the picture, counted from its top, as it is stored.
func (b *bitmap) row(pixels []byte, y int) []byte {
	if !b.topDown {
		y = b.height - 1 - y
	}
	return pixels[y*b.stride():]
}

func (b *bitmap) indexed(pixels []byte) *image.Paletted {
	out := image.NewPaletted(image.Rect(0, 0, b.width, b.height), b.palette)
	mask := byte(1<<b.bits - 1)
	sideBySide(b.height, func(from, to int) {
		for y := from; y < to; y++ {
			row, to := b.row(pixels, y), out.Pix[y*out.Stride:][:b.width]
			for x := range to {
				at := x * b.bits
				to[x] = row[at/8] >> (8 - b.bits - at%8) & mask
			}
		}
	})
	return out
}

func (b *bitmap) coloured(pixels []byte) (image.Image, error) {
	out := image.NewNRGBA(image.Rect(0, 0, b.width, b.height))
	switch b.bits {
	case 24:
		sideBySide(b.height, func(from, to int) {
			for y := from; y < to; y++ {
				row, to := b.row(pixels, y), out.Pix[y*out.Stride:][:4*b.width]
				for x := range b.width {
					to[4*x], to[4*x+1], to[4*x+2], to[4*x+3] = row[3*x+2], row[3*x+1], row[3*x], 255
				}
			}
		})
		return out, nil
	case 16, 32:
	default:
		return nil, errBMPHeader
	}
	var fields [4]field
	for i, m := range b.masks {
		fields[i] = fieldOf(m)
	}
	each := b.bits / 8
	sideBySide(b.height, func(from, to int) {
		for y := from; y < to; y++ {
			row, to := b.row(pixels, y), out.Pix[y*out.Stride:][:4*b.width]
			for x := range b.width {
				v := uint32(row[each*x]) | uint32(row[each*x+1])<<8
				if each == 4 {
					v |= uint32(row[4*x+2])<<16 | uint32(row[4*x+3])<<24
				}
				for c := range fields {
					to[4*x+c] = fields[c].of(v)
				}
			}
		}
	})
	if b.masks[3] == 0 || seeThrough(out) {
		makeOpaque(out)
	}
	return out, nil
}

// field is the place of a colour in a pixel.
type field struct {
	mask  uint32
	shift int
	most  uint32
}

func fieldOf(mask uint32) field {
	shift := bits.TrailingZeros32(mask) & 31
	return field{mask, shift, mask >> shift}
}

// of brings the field to 8 bits.
func (f field) of(v uint32) uint8 {
	if f.most == 0 {
		return 0
	}
	return uint8((uint64(v&f.mask>>f.shift)*255 + uint64(f.most)/2) / uint64(f.most))
}

// seeThrough tells whether nothing of a picture would be seen: most programs that
// write four bytes a pixel leave the fourth at 0 and mean no alpha by it.
func seeThrough(m *image.NRGBA) bool {
	for i := 3; i < len(m.Pix); i += 4 {
		if m.Pix[i] != 0 {
			return false
		}
	}
	return true
}

func makeOpaque(m *image.NRGBA) {
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
	}
}

// runs reads pixels that are packed in runs: pairs of a count and what is repeated,
// or of 0 and a command. What is passed over has the palette's first colour, and what
// would come to lie beside the picture does not.
func (b *bitmap) runs(pixels []byte) (image.Image, error) {
	out := image.NewPaletted(image.Rect(0, 0, b.width, b.height), b.palette)
	x, y := 0, 0 // from the bottom
	put := func(i int, v byte) {
		if b.bits == 4 {
			v = v >> (4 - i%2*4) & 15
		}
		if x < b.width && y < b.height {
			row := b.height - 1 - y
			if b.topDown {
				row = y
			}
			out.Pix[row*out.Stride+x] = v
		}
		x++
	}
	for len(pixels) >= 2 {
		count, v := int(pixels[0]), pixels[1]
		pixels = pixels[2:]
		switch {
		case count > 0:
			for i := range count {
				put(i, v)
			}
		case v == 0:
			x, y = 0, y+1
		case v == 1:
			return out, nil
		case v == 2:
			if len(pixels) < 2 {
				return nil, errBMPShort
			}
			x, y = x+int(pixels[0]), y+int(pixels[1])
			pixels = pixels[2:]
		default: // so many pixels one by one, filled up to an even number of bytes
			size := (int(v)*b.bits + 7) / 8
			if len(pixels) < size {
				return nil, errBMPShort
			}
			for i := range int(v) {
				put(i, pixels[i*b.bits/8])
			}
			pixels = pixels[min(size+size%2, len(pixels)):]
		}
	}
	if y >= b.height || y == b.height-1 && x >= b.width { // only the sign of its end is missing
		return out, nil
	}
	return nil, errBMPShort
}
