package raster

import (
	"image"

	"github.com/kovidgoyal/imaging"
)

// resized returns img itself where it has that size. It scales the planes of an
// *image.Gray or *image.YCbCr and returns the same form; else an opaque *image.RGBA or
// an *image.NRGBA.
func resized(img image.Image, w, h int, opaque bool) image.Image {
	if img.Bounds().Size() == image.Pt(w, h) {
		return img
	}
	switch m := img.(type) {
	case *image.Gray:
		return resizedPlane(m, w, h)
	case *image.YCbCr:
		return resizedPlanes(m, w, h)
	}
	// First across, then down: imaging does both in a third more time, as it reads its
	// own form of opaque pixels one by one.
	if size := img.Bounds().Size(); size.X != w {
		img = forEncoding(imaging.ResizeWithOpacity(img, w, size.Y, imaging.Lanczos, opaque))
	}
	return forEncoding(imaging.ResizeWithOpacity(img, w, h, imaging.Lanczos, opaque))
}

// resizedPlanes scales each plane of a JPEG, colours to half the size unless they have
// the size of the picture. In RGB this takes twice the time.
func resizedPlanes(m *image.YCbCr, w, h int) *image.YCbCr {
	out := &image.YCbCr{SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: image.Rect(0, 0, w, h), YStride: w}
	cw, ch := (w+1)/2, (h+1)/2
	if m.SubsampleRatio == image.YCbCrSubsampleRatio444 {
		out.SubsampleRatio, cw, ch = m.SubsampleRatio, w, h
	}
	size := m.Rect.Size()
	colours := image.Pt(m.COffset(m.Rect.Max.X-1, m.Rect.Min.Y)+1, m.COffset(m.Rect.Min.X, m.Rect.Max.Y-1)/m.CStride+1)
	scale := func(pix []uint8, stride int, size image.Point, w, h int) []uint8 {
		plane := &image.Gray{Pix: pix, Stride: stride, Rect: image.Rectangle{Max: size}}
		return tight(resizedPlane(plane, w, h))
	}
	out.Y = scale(m.Y, m.YStride, size, w, h)
	out.Cb, out.Cr, out.CStride = scale(m.Cb, m.CStride, colours, cw, ch), scale(m.Cr, m.CStride, colours, cw, ch), cw
	return out
}

// tight returns the samples of a plane, row behind row.
func tight(p *image.Gray) []uint8 {
	if p.Stride == p.Rect.Dx() {
		return p.Pix
	}
	var out []uint8
	for y := range p.Rect.Dy() {
		out = append(out, p.Pix[y*p.Stride:][:p.Rect.Dx()]...)
	}
	return out
}

// resizedPlane scales a plane, or returns it where it has that size. imaging scales three samples a pixel, whatever the
// picture has; so the plane is folded into thirds, which are scaled as one. The rows
// of a third are independent of those of another on the way across, and the columns
// on the way down.
func resizedPlane(p *image.Gray, w, h int) *image.Gray {
	if p.Rect.Dx() != w {
		third := (p.Rect.Dy() + 2) / 3
		folded := foldRows(p, third)
		p = unfoldRows(imaging.ResizeWithOpacity(folded, w, third, imaging.Lanczos, true), p.Rect.Dy())
	}
	if p.Rect.Dy() != h {
		third := (w + 2) / 3
		folded := foldColumns(p, third)
		p = unfoldColumns(imaging.ResizeWithOpacity(folded, third, h, imaging.Lanczos, true), w)
	}
	return p
}

// foldRows lays three thirds of the rows over one another, as red, green and blue.
func foldRows(p *image.Gray, third int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, p.Rect.Dx(), third))
	eachRow(third, func(y int) {
		row := func(n int) []uint8 { return p.Pix[min(n, p.Rect.Dy()-1)*p.Stride:][:p.Rect.Dx()] }
		fold(out.Pix[y*out.Stride:][:out.Stride], row(y), row(y+third), row(y+2*third))
	})
	return out
}

// fold joins three rows. The last ones may be shorter.
func fold(to, red, green, blue []uint8) {
	for x := range red {
		px := to[4*x : 4*x+4 : 4*x+4]
		px[0], px[3] = red[x], 255
		if x < len(green) {
			px[1] = green[x]
		}
		if x < len(blue) {
			px[2] = blue[x]
		}
	}
}

// unfoldRows undoes foldRows for a plane of that height.
func unfoldRows(img image.Image, height int) *image.Gray {
	m := img.(*imaging.NRGB)
	out := image.NewGray(image.Rect(0, 0, m.Rect.Dx(), height))
	eachRow(height, func(y int) {
		row, in := out.Pix[y*out.Stride:][:out.Stride], m.Pix[y%m.Rect.Dy()*m.Stride+y/m.Rect.Dy():]
		for x := range row {
			row[x] = in[3*x]
		}
	})
	return out
}

// foldColumns lays three thirds of the columns over one another.
func foldColumns(p *image.Gray, third int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, third, p.Rect.Dy()))
	eachRow(p.Rect.Dy(), func(y int) {
		row := p.Pix[y*p.Stride:][:p.Rect.Dx()]
		second, last := row[min(third, len(row)):], row[min(2*third, len(row)):]
		fold(out.Pix[y*out.Stride:][:out.Stride], row[:third], second[:min(third, len(second))], last)
	})
	return out
}

// unfoldColumns undoes foldColumns for a plane of that width.
func unfoldColumns(img image.Image, width int) *image.Gray {
	m := img.(*imaging.NRGB)
	out := image.NewGray(image.Rect(0, 0, width, m.Rect.Dy()))
	third := m.Rect.Dx()
	eachRow(out.Rect.Dy(), func(y int) {
		row, in := out.Pix[y*out.Stride:][:width], m.Pix[y*m.Stride:]
		for c := range 3 {
			part := row[min(c*third, width):min((c+1)*third, width)]
			for x := range part {
				part[x] = in[3*x+c]
			}
		}
	})
	return out
}
