package raster

import (
	"errors"
	"image"
	"image/color"

	"github.com/kovidgoyal/imaging"

	"github.com/fsmcp/fsmcp/internal/media/scaledjpeg"
)

// openJPEG decodes a JPEG, and returns its ICC profile. It decodes as few pixels as a view
// needs.
func (p *picture) openJPEG(data []byte, v StoredView) (profile []byte, err error) {
	scale, part := v.Shrink(), v.Part
	img, err := scaledjpeg.Decode(data, scale, part)
	if err != nil {
		return nil, err
	}
	p.opaque = true
	at := image.Rect(part.Min.X/scale, part.Min.Y/scale, part.Max.X/scale, part.Max.Y/scale)
	planes := img.Planes
	if img.Model == scaledjpeg.YCbCr {
		if m := subsampled(planes, at, scale); m != nil {
			p.img = m
			return img.Profile, nil
		}
	}
	full := make([]*image.Gray, len(planes))
	for i, q := range planes {
		if full[i], err = upsampled(q, at, scale); err != nil {
			return nil, err
		}
	}
	switch img.Model {
	case scaledjpeg.Gray:
		p.img = full[0]
		return img.Profile, nil
	case scaledjpeg.CMYK, scaledjpeg.YCCK:
		p.black = full[3]
	}
	p.img = combined(img.Model, full)
	return img.Profile, nil
}

// subsampled returns planes as an *image.YCbCr, and nil if that lacks their sampling, or the
// part does not begin with a whole sample of each.
func subsampled(planes []scaledjpeg.Plane, at image.Rectangle, scale int) *image.YCbCr {
	y, cb, cr := planes[0], planes[1], planes[2]
	if y.PerX != float64(scale) || y.PerY != float64(scale) || cb.PerX != cr.PerX || cb.PerY != cr.PerY {
		return nil
	}
	type factors struct{ x, y float64 }
	per := factors{cb.PerX / y.PerX, cb.PerY / y.PerY}
	ratio, ok := map[factors]image.YCbCrSubsampleRatio{
		{1, 1}: image.YCbCrSubsampleRatio444, {2, 1}: image.YCbCrSubsampleRatio422, {2, 2}: image.YCbCrSubsampleRatio420,
		{1, 2}: image.YCbCrSubsampleRatio440, {4, 1}: image.YCbCrSubsampleRatio411, {4, 2}: image.YCbCrSubsampleRatio410,
	}[per]
	nx, ny := int(per.x), int(per.y)
	if !ok || at.Min.X%nx != 0 || at.Min.Y%ny != 0 || cb.Stride != cr.Stride {
		return nil
	}
	from := func(q scaledjpeg.Plane, x, y int) []uint8 { return q.Pix[(y-q.Y)*q.Stride+x-q.X:] }
	return &image.YCbCr{
		Y: from(y, at.Min.X, at.Min.Y), Cb: from(cb, at.Min.X/nx, at.Min.Y/ny), Cr: from(cr, at.Min.X/nx, at.Min.Y/ny),
		YStride: y.Stride, CStride: cb.Stride, SubsampleRatio: ratio, Rect: image.Rect(0, 0, at.Dx(), at.Dy()),
	}
}

// upsampled returns a part of a plane with one sample a pixel. Samples are repeated if the plane
// has fewer.
func upsampled(q scaledjpeg.Plane, at image.Rectangle, scale int) (*image.Gray, error) {
	out := image.NewGray(image.Rect(0, 0, at.Dx(), at.Dy()))
	columns := make([]int, at.Dx())
	for x := range columns {
		columns[x] = int((float64(at.Min.X+x)+0.5)*float64(scale)/q.PerX) - q.X
	}
	for y := range at.Dy() {
		sy := int((float64(at.Min.Y+y)+0.5)*float64(scale)/q.PerY) - q.Y
		if sy < 0 || sy >= q.Height || columns[0] < 0 || columns[len(columns)-1] >= q.Width {
			return nil, errors.New("a plane of its image data is too small")
		}
		row, in := out.Pix[y*out.Stride:][:len(columns)], q.Pix[sy*q.Stride:]
		for x, sx := range columns {
			row[x] = in[sx]
		}
	}
	return out, nil
}

// combined makes RGB of the first three planes. In planes of ink, 255 is no ink.
func combined(model scaledjpeg.Model, planes []*image.Gray) image.Image {
	out := image.NewRGBA(planes[0].Rect)
	for i := range planes[0].Pix {
		a, b, c := planes[0].Pix[i], planes[1].Pix[i], planes[2].Pix[i]
		switch model {
		case scaledjpeg.YCbCr:
			a, b, c = color.YCbCrToRGB(a, b, c)
		case scaledjpeg.YCCK:
			a, b, c = color.YCbCrToRGB(a, b, c)
			a, b, c = 255-a, 255-b, 255-c
		}
		out.Pix[4*i], out.Pix[4*i+1], out.Pix[4*i+2], out.Pix[4*i+3] = a, b, c, 255
	}
	return out
}

// inksOf returns the inks of CMYK. In paper and black, 255 is no ink.
func inksOf(paper, black image.Image) *image.CMYK {
	rgb, k := imaging.AsNRGB(paper), imaging.AsNRGB(black)
	out := image.NewCMYK(image.Rect(0, 0, rgb.Rect.Dx(), rgb.Rect.Dy()))
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			from, to := rgb.Pix[y*rgb.Stride+3*x:], out.Pix[y*out.Stride+4*x:]
			to[0], to[1], to[2], to[3] = 255-from[0], 255-from[1], 255-from[2], 255-k.Pix[y*k.Stride+3*x]
		}
	}
	return out
}
