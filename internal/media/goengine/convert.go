package goengine

import (
	"image"
	"image/color"
	"image/draw"
)

// rasterOf takes a part of a decoded picture over: one sample a pixel where it
// is gray, else four, multiplied by alpha. What it can it shares with img.
func rasterOf(img image.Image, part image.Rectangle) (r raster, isGray, opaque bool) {
	at := part.Add(img.Bounds().Min)
	switch m := img.(type) {
	case *image.Gray:
		m = m.SubImage(at).(*image.Gray)
		return raster{part.Dx(), part.Dy(), 1, m.Stride, m.Pix}, true, true
	case *image.Gray16:
		r = newRaster(part.Dx(), part.Dy(), 1)
		for y := range r.h {
			row, in := r.row(y), m.Pix[m.PixOffset(at.Min.X, at.Min.Y+y):]
			for x := range row {
				row[x] = in[2*x]
			}
		}
		return r, true, true
	case *image.RGBA:
		m = m.SubImage(at).(*image.RGBA)
		r = raster{part.Dx(), part.Dy(), 4, m.Stride, m.Pix}
		return r, false, m.Opaque()
	case *image.NRGBA:
		m = m.SubImage(at).(*image.NRGBA)
		r = raster{part.Dx(), part.Dy(), 4, m.Stride, m.Pix}
		if opaque = m.Opaque(); !opaque {
			r.multiply()
		}
		return r, false, opaque
	case *image.RGBA64:
		return eightBits(m.Pix[m.PixOffset(at.Min.X, at.Min.Y):], m.Stride, part)
	case *image.NRGBA64:
		r, _, opaque = eightBits(m.Pix[m.PixOffset(at.Min.X, at.Min.Y):], m.Stride, part)
		if !opaque {
			r.multiply()
		}
		return r, false, opaque
	case *image.Paletted:
		return palettes(m, at)
	}
	out := image.NewRGBA(image.Rect(0, 0, part.Dx(), part.Dy()))
	draw.Draw(out, out.Rect, img, at.Min, draw.Src)
	return raster{part.Dx(), part.Dy(), 4, out.Stride, out.Pix}, false, out.Opaque()
}

// multiply multiplies the colours by alpha.
func (r raster) multiply() {
	sideBySide(r.h, func(from, to int) {
		for y := from; y < to; y++ {
			row := r.row(y)
			for i := 0; i+4 <= len(row); i += 4 {
				a := uint32(row[i+3])
				if a == 255 {
					continue
				}
				for c := range 3 {
					row[i+c] = uint8((uint32(row[i+c])*a + 127) / 255)
				}
			}
		}
	})
}

// eightBits drops the lower half of samples of 16 bits.
func eightBits(pix []uint8, stride int, part image.Rectangle) (r raster, isGray, opaque bool) {
	r, opaque = newRaster(part.Dx(), part.Dy(), 4), true
	for y := range r.h {
		row, in := r.row(y), pix[y*stride:]
		for i := range row {
			row[i] = in[2*i]
			opaque = opaque && (i&3 != 3 || in[2*i] == 255)
		}
	}
	return r, false, opaque
}

func palettes(m *image.Paletted, at image.Rectangle) (r raster, isGray, opaque bool) {
	var table [256][4]uint8
	for i, c := range m.Palette {
		if i < 256 {
			v := color.RGBAModel.Convert(c).(color.RGBA)
			table[i] = [4]uint8{v.R, v.G, v.B, v.A}
		}
	}
	r, opaque = newRaster(at.Dx(), at.Dy(), 4), true
	for y := range r.h {
		row, in := r.row(y), m.Pix[m.PixOffset(at.Min.X, at.Min.Y+y):]
		for x := range r.w {
			c := table[in[x]]
			copy(row[4*x:4*x+4], c[:])
			opaque = opaque && c[3] == 255
		}
	}
	return r, false, opaque
}

// joined makes colours of planes of one sample.
func joined(m model, planes []raster, w, h int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		row := out.Pix[y*out.Stride:][:4*w]
		for x := range w {
			p := row[4*x : 4*x+4]
			at := func(i int) uint8 { return planes[i].pix[y*planes[i].stride+x] }
			switch m {
			case gray:
				p[0], p[1], p[2] = at(0), at(0), at(0)
			case rgbJ:
				p[0], p[1], p[2] = at(0), at(1), at(2)
			case ycc:
				p[0], p[1], p[2] = color.YCbCrToRGB(at(0), at(1), at(2))
			case ycck:
				r, g, b := papers(at(0), at(1), at(2))
				p[0], p[1], p[2] = inked(r, at(3)), inked(g, at(3)), inked(b, at(3))
			case cmyk:
				p[0], p[1], p[2] = inked(at(0), at(3)), inked(at(1), at(3)), inked(at(2), at(3))
			}
			p[3] = 255
		}
	}
	return out
}

// inked is a colour under black, both as the paper that is left.
func inked(c, k uint8) uint8 { return uint8((uint32(c)*uint32(k) + 127) / 255) }

// papers are the first three planes of ycck as the paper that is left: their
// colours are those of the inks.
func papers(y, cb, cr uint8) (r, g, b uint8) {
	r, g, b = color.YCbCrToRGB(y, cb, cr)
	return 255 - r, 255 - g, 255 - b
}
