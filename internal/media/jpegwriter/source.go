package jpegwriter

import (
	"encoding/binary"
	"errors"
	"image"
)

// source is where pixels come from: load fills the blocks of the MCU in column x
// and row y with samples around 0; beyond the picture's edge its last ones go on.
// Where it sees at once that all pixels are the same, it says so, and fills the
// first sample of each block alone.
type source struct {
	w, h int
	gray bool
	load func(b *[6][64]int32, x, y int) (flat bool)
}

func sourceOf(img image.Image) (source, error) {
	s := source{w: img.Bounds().Dx(), h: img.Bounds().Dy()}
	if s.w <= 0 || s.h <= 0 || s.w > 65535 || s.h > 65535 {
		return s, errors.New("jpegwriter: JPEG has no pictures of that size")
	}
	switch m := img.(type) {
	case *image.Gray:
		s.gray = true
		p := plane{m.Pix, m.Stride, s.w, s.h}
		s.load = func(b *[6][64]int32, x, y int) bool { p.block(&b[0], 8*x, 8*y); return false }
	case *image.YCbCr:
		light := plane{m.Y, m.YStride, s.w, s.h}
		blue, red := plane{m.Cb, m.CStride, (s.w + 1) / 2, (s.h + 1) / 2}, plane{m.Cr, m.CStride, (s.w + 1) / 2, (s.h + 1) / 2}
		switch m.SubsampleRatio {
		case image.YCbCrSubsampleRatio420:
		case image.YCbCrSubsampleRatio444:
			blue, red = halved(plane{m.Cb, m.CStride, s.w, s.h}), halved(plane{m.Cr, m.CStride, s.w, s.h})
		default:
			return s, errors.New("jpegwriter: this form of picture is not written")
		}
		s.load = func(b *[6][64]int32, x, y int) bool {
			for i := range 4 {
				light.block(&b[i], 16*x+8*(i&1), 16*y+8*(i>>1))
			}
			blue.block(&b[4], 8*x, 8*y)
			red.block(&b[5], 8*x, 8*y)
			return false
		}
	case *image.RGBA:
		s.load = func(b *[6][64]int32, x, y int) bool { return loadRGB(b, m, 16*x, 16*y) }
	default:
		return s, errors.New("jpegwriter: this form of picture is not written")
	}
	return s, nil
}

// plane is one component.
type plane struct {
	pix          []uint8
	stride, w, h int
}

// block takes the block at a place.
func (p plane) block(b *[64]int32, x, y int) {
	if x+8 <= p.w && y+8 <= p.h {
		for dy := range 8 {
			row, to := (*[8]uint8)(p.pix[(y+dy)*p.stride+x:]), (*[8]int32)(b[8*dy:])
			for i, v := range row {
				to[i] = int32(v) - 128
			}
		}
		return
	}
	for i := range b {
		b[i] = int32(p.pix[min(y+i>>3, p.h-1)*p.stride+min(x+i&7, p.w-1)]) - 128
	}
}

// halved takes the mean of four samples each.
func halved(p plane) plane {
	out := plane{w: (p.w + 1) / 2, h: (p.h + 1) / 2, stride: (p.w + 1) / 2}
	out.pix = make([]uint8, out.w*out.h)
	for y := range out.h {
		a, b := p.pix[2*y*p.stride:], p.pix[min(2*y+1, p.h-1)*p.stride:]
		for x := range out.w {
			l, r := 2*x, min(2*x+1, p.w-1)
			out.pix[y*out.stride+x] = uint8((int(a[l]) + int(a[r]) + int(b[l]) + int(b[r]) + 2) >> 2)
		}
	}
	return out
}

// The shares of red, green and blue in light and in the two colours, in 1/65536.
const (
	yr, yg, yb = 19595, 38470, 7471
	br, bg, bb = -11056, -21712, 32768
	rr, rg, rb = 32768, -27440, -5328
)

// loadRGB makes an MCU of pixels; x and y are its place in pixels.
func loadRGB(b *[6][64]int32, m *image.RGBA, x, y int) (flat bool) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	inside := x+16 <= w && y+16 <= h
	if inside && oneColour(m, x, y) {
		p := (*[64]uint8)(m.Pix[y*m.Stride+4*x:])
		twoRows(b, p, p, 0)
		for i := range 4 {
			b[i][0] = b[0][0]
		}
		return true
	}
	var edge [2][64]uint8
	for dy := 0; dy < 16; dy += 2 {
		var rows [2][]uint8
		for k := range rows {
			row := m.Pix[min(y+dy+k, h-1)*m.Stride:]
			if inside {
				rows[k] = row[4*x : 4*x+64]
				continue
			}
			for i := range 16 {
				copy(edge[k][4*i:4*i+4], row[4*min(x+i, w-1):])
			}
			rows[k] = edge[k][:]
		}
		twoRows(b, (*[64]uint8)(rows[0]), (*[64]uint8)(rows[1]), dy)
	}
	return false
}

// oneColour tells whether all pixels of an MCU are the same, alpha included.
func oneColour(m *image.RGBA, x, y int) bool {
	first := uint64(binary.LittleEndian.Uint32(m.Pix[y*m.Stride+4*x:]))
	first |= first << 32
	for dy := range 16 {
		row := (*[64]uint8)(m.Pix[(y+dy)*m.Stride+4*x:])
		other := uint64(0)
		for i := 0; i < 64; i += 8 {
			other |= binary.LittleEndian.Uint64(row[i:]) ^ first
		}
		if other != 0 {
			return false
		}
	}
	return true
}

// twoRows makes two rows of light and one of each colour.
func twoRows(b *[6][64]int32, up, down *[64]uint8, dy int) {
	for half := range 2 {
		block := &b[dy>>3<<1|half]
		a, c := (*[8]int32)(block[8*(dy&7):]), (*[8]int32)(block[8*(dy&7)+8:])
		for i := 0; i < 8; i += 2 {
			at := 32*half + 4*i
			p, q := (*[8]uint8)(up[at:]), (*[8]uint8)(down[at:])
			r0, g0, b0, r1, g1, b1 := int32(p[0]), int32(p[1]), int32(p[2]), int32(p[4]), int32(p[5]), int32(p[6])
			r2, g2, b2, r3, g3, b3 := int32(q[0]), int32(q[1]), int32(q[2]), int32(q[4]), int32(q[5]), int32(q[6])
			const middle = 1<<15 - 128<<16
			a[i] = (r0*yr + g0*yg + b0*yb + middle) >> 16
			a[i+1] = (r1*yr + g1*yg + b1*yb + middle) >> 16
			c[i] = (r2*yr + g2*yg + b2*yb + middle) >> 16
			c[i+1] = (r3*yr + g3*yg + b3*yb + middle) >> 16
			rs, gs, bs := r0+r1+r2+r3, g0+g1+g2+g3, b0+b1+b2+b3
			k := dy>>1*8 + half*4 + i>>1
			b[4][k] = min((rs*br+gs*bg+bs*bb+1<<17)>>18, 127)
			b[5][k] = min((rs*rr+gs*rg+bs*rb+1<<17)>>18, 127)
		}
	}
}
