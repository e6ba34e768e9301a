package goengine

import (
	"errors"
	"image"
	"image/draw"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/scaledjpeg"
	"golang.org/x/image/tiff"
)

// Engine implements media.Engine.
type Engine struct {
	// WebP writes WebP; nil where there is no writer.
	WebP func(img *image.NRGBA, quality int) ([]byte, error)
}

// Encodes implements media.Engine.
func (e Engine) Encodes(k media.Kind) bool {
	return k == media.PNG || k == media.JPEG || k == media.WebP && e.WebP != nil
}

// Open implements media.Engine.
func (e Engine) Open(data []byte, f media.Facts, v media.View) (media.Picture, error) {
	w, h := f.Width, f.Height // as stored
	if f.Orientation >= 5 {
		w, h = h, w
	}
	part := image.Rect(v.Part.X, v.Part.Y, v.Part.X+v.Part.Width, v.Part.Y+v.Part.Height)
	p := &picture{engine: e, orientation: f.Orientation, part: storedRect(f.Orientation, part, w, h)}
	var err error
	if f.Kind == media.JPEG {
		err = p.openJPEG(data, max(v.Width, v.Height))
	} else {
		err = p.open(data, f, w, h)
	}
	if err != nil {
		var damage *media.DamageError
		if !errors.As(err, &damage) {
			err = &media.DamageError{Kind: f.Kind, What: err.Error(), Rare: rare(err)}
		}
		return nil, err
	}
	p.icc, p.faded = profileOf(f.Kind, data, p.model)
	return p, nil
}

// rare tells whether an error says no more than that.
func rare(err error) bool {
	var own media.RareError
	var ofJPEG scaledjpeg.RareError
	var ofTIFF tiff.UnsupportedError
	return errors.As(err, &own) || errors.As(err, &ofJPEG) || errors.As(err, &ofTIFF)
}

// model says what a picture's planes hold.
type model uint8

const (
	gray    model = iota // one plane
	ycc                  // three planes of JPEG's colours
	cmyk                 // four planes, 255 for no ink
	ycck                 // likewise for black; the others are JPEG's colours, of ink
	rgbJ                 // three planes
	colours              // one plane of four samples, multiplied by alpha
)

// layer is one plane and the place of the part in it.
type layer struct {
	raster
	at area
	// perX and perY are how many pixels of the stored picture a sample covers.
	perX, perY float64
}

// picture implements media.Picture.
type picture struct {
	engine      Engine
	model       model
	layers      []layer
	opaque      bool
	orientation int
	part        image.Rectangle // as stored
	icc         *profile        // nil: sRGB
	faded       bool            // it should have one

	last   size // of what was made last: steps differ in quality alone, mostly
	latest image.Image
}

// Opaque implements media.Picture.
func (p *picture) Opaque() bool { return p.opaque }

// Approximate tells whether the colours are not quite the file's.
func (p *picture) Approximate() bool { return p.faded }

// Close implements media.Picture.
func (p *picture) Close() { p.layers, p.latest = nil, nil }

// openJPEG decodes as few pixels as a view needs whose longer side has so many.
func (p *picture) openJPEG(data []byte, side int) error {
	scale := 8
	for scale > 1 && max(p.part.Dx(), p.part.Dy()) < side*scale {
		scale /= 2
	}
	img, err := scaledjpeg.Decode(data, scale, scaledjpeg.Window{X0: p.part.Min.X, Y0: p.part.Min.Y, X1: p.part.Max.X, Y1: p.part.Max.Y})
	if err != nil {
		return err
	}
	p.opaque = true
	p.model = map[scaledjpeg.Model]model{scaledjpeg.Gray: gray, scaledjpeg.YCbCr: ycc, scaledjpeg.RGB: rgbJ, scaledjpeg.CMYK: cmyk, scaledjpeg.YCCK: ycck}[img.Model]
	for _, q := range img.Planes {
		p.layers = append(p.layers, layer{
			raster: raster{w: q.Width, h: q.Height, n: 1, stride: q.Stride, pix: q.Pix},
			at: area{
				x: float64(p.part.Min.X)/q.PerX - float64(q.X), y: float64(p.part.Min.Y)/q.PerY - float64(q.Y),
				w: float64(p.part.Dx()) / q.PerX, h: float64(p.part.Dy()) / q.PerY,
			},
			perX: q.PerX, perY: q.PerY,
		})
	}
	return nil
}

// open decodes all other kinds.
func (p *picture) open(data []byte, f media.Facts, w, h int) error {
	if f.Kind == media.PNG {
		if err := media.Check(f.Kind, data); err != nil {
			return err // a missing end is no matter to the decoder
		}
		if r, opaque, err := readPNG(data, w, h, p.part); err == nil {
			p.hold(r, r.n == 1, opaque)
			return nil
		}
	}
	img, err := decode(f.Kind, data, w, h)
	if err != nil {
		return err
	}
	if b := img.Bounds(); b.Dx() != w || b.Dy() != h {
		return errors.New("its data is of another size than its header says")
	}
	p.hold(rasterOf(img, p.part))
	return nil
}

// hold takes over a raster.
func (p *picture) hold(r raster, isGray, opaque bool) {
	p.opaque = opaque
	if p.model = colours; isGray {
		p.model = gray
	}
	p.layers = []layer{{raster: r, at: area{0, 0, float64(r.w), float64(r.h)}, perX: 1, perY: 1}}
}

// made is the view at a size, upright, in sRGB: a *image.Gray, *image.YCbCr or
// *image.RGBA.
func (p *picture) made(width, height int) image.Image {
	want := exactly(width, height)
	if p.latest != nil && p.last == want {
		return p.latest
	}
	w, h := width, height
	if p.orientation >= 5 {
		w, h = h, w
	}
	// Colour at half the size, as JPEG is written; but turned round, the sample
	// that stands for the odd last pixel would come to stand for the first two.
	half := p.model == ycc && p.icc == nil && (p.orientation == 1 || (w|h)&1 == 0)
	planes := make([]raster, len(p.layers))
	for i, l := range p.layers {
		s := exactly(w, h)
		if half && i > 0 {
			s = size{(w + 1) / 2, (h + 1) / 2, float64(w) / 2, float64(h) / 2}
		}
		planes[i] = resample(l.raster, l.at, s, p.opaque).upright(p.orientation)
	}
	p.last, p.latest = want, p.assemble(planes, width, height)
	return p.latest
}

// assemble makes a picture of planes.
func (p *picture) assemble(planes []raster, w, h int) image.Image {
	r := image.Rect(0, 0, w, h)
	var out *image.RGBA
	switch {
	case p.model == gray && p.icc == nil:
		return &image.Gray{Pix: planes[0].pix, Stride: planes[0].stride, Rect: r}
	case p.model == ycc && p.icc == nil:
		ratio := image.YCbCrSubsampleRatio420
		if planes[1].w == w && planes[1].h == h {
			ratio = image.YCbCrSubsampleRatio444
		}
		cb, cr := planes[1], planes[2]
		if cb.stride != cr.stride { // one was resized, the other is as it was decoded
			cb, cr = cb.tight(), cr.tight()
		}
		return &image.YCbCr{
			Y: planes[0].pix, Cb: cb.pix, Cr: cr.pix,
			YStride: planes[0].stride, CStride: cb.stride, SubsampleRatio: ratio, Rect: r,
		}
	case p.model == colours:
		out = &image.RGBA{Pix: planes[0].pix, Stride: planes[0].stride, Rect: r}
	case p.icc != nil && (p.model == cmyk || p.model == ycck):
		return p.icc.table.printed(p.model, planes, w, h)
	default:
		out = joined(p.model, planes, w, h)
	}
	if p.icc != nil {
		p.icc.convert(out)
	}
	return out
}

// asRGBA is a picture in the form in which single pixels are looked at.
func asRGBA(img image.Image) *image.RGBA {
	if m, ok := img.(*image.RGBA); ok {
		return m
	}
	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out
}

// Resized is a picture of which another has decoded and resized the whole view:
// img, as it is stored. data is the file, for its profile.
func (e Engine) Resized(img image.Image, data []byte, f media.Facts) media.Picture {
	b := img.Bounds()
	p := &picture{engine: e, orientation: f.Orientation, part: image.Rect(0, 0, b.Dx(), b.Dy())}
	p.hold(rasterOf(img, p.part))
	p.icc, p.faded = profileOf(f.Kind, data, p.model)
	return p
}
