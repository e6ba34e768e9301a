package raster

import (
	"errors"
	"image"
	"sync"

	"github.com/kovidgoyal/imaging"
	"golang.org/x/image/tiff"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/scaledjpeg"
)

// Engine implements media.Engine.
type Engine struct {
	// Library decodes, scales and encodes instead of this package, as far as it can. nil: none.
	Library Library
}

// RGB is an opaque picture of three bytes a pixel.
type RGB = imaging.NRGB

// Library is other code for the work on pixels. Its pictures are an *image.Gray, an *RGB, an
// opaque *image.RGBA, or an *image.NRGBA that is not opaque; so are those
// that it is given, or an opaque *image.NRGBA.
type Library interface {
	// Decode decodes the part of a file that a view shows, at the view's size unless that is
	// larger than the part. The structure of the file is whole; whole is the size in its header.
	// nil: this package decodes the file, or says why it cannot be decoded.
	Decode(data []byte, kind media.Kind, whole image.Point, v StoredView) image.Image
	// Resize scales a picture. nil: this package scales it.
	Resize(img image.Image, width, height int) image.Image
	// Encode makes a file of a picture, and gives up with media.ErrLonger. A JPEG is made of
	// an opaque picture; level is that of a PNG's compression, to 9. The error is
	// errors.ErrUnsupported for a picture of another form.
	Encode(img image.Image, s media.PictureEncoding, level int) ([]byte, error)
}

// StoredView is a view of a picture as it is stored, before it is laid upright.
type StoredView struct {
	Part          image.Rectangle
	Width, Height int
}

// Shrink returns the scale at which a JPEG has as few pixels as the view needs: 1, or 2, 4 or
// 8 if the edges of the part are between pixels of that scale.
func (v StoredView) Shrink() int {
	scale := 8
	for scale > 1 && (max(v.Part.Dx(), v.Part.Dy()) < max(v.Width, v.Height)*scale || (v.Part.Min.X|v.Part.Min.Y|v.Part.Max.X|v.Part.Max.Y)%scale != 0) {
		scale /= 2
	}
	return scale
}

// Open implements media.Engine.
func (e Engine) Open(data []byte, f media.PictureFacts, v media.WantedView) (media.Picture, error) {
	w, h := f.Width, f.Height // as stored
	if f.Orientation >= 5 {
		w, h = h, w
	}
	part := image.Rect(v.Part.X, v.Part.Y, v.Part.X+v.Part.Width, v.Part.Y+v.Part.Height)
	view := StoredView{storedRect(f.Orientation, part, w, h), v.Width, v.Height}
	if f.Orientation >= 5 {
		view.Width, view.Height = v.Height, v.Width
	}
	p := &picture{orientation: f.Orientation, library: e.Library}
	if profile, ok := p.openByLibrary(data, f.Kind, image.Pt(w, h), view); ok {
		p.profile, p.approximate = profileOf(profile, false)
		return p, nil
	}
	var profile []byte
	var err error
	if f.Kind == media.JPEG {
		profile, err = p.openJPEG(data, view)
	} else {
		profile, err = p.open(data, f.Kind, image.Rect(0, 0, w, h), view.Part)
	}
	if err != nil {
		if !errors.As(err, new(*media.DamageError)) {
			err = &media.DamageError{Kind: f.Kind, What: err.Error(), Rare: rare(err), ForVips: rare(err) && forVips(f.Kind)}
		}
		return nil, err
	}
	p.shrink(view.Width, view.Height)
	p.profile, p.approximate = profileOf(profile, p.black != nil)
	return p, nil
}

// rare reports an error of a file that is sound but of an unsupported form.
func rare(err error) bool {
	return errors.As(err, new(media.RareError)) || errors.As(err, new(tiff.UnsupportedError))
}

// forVips reports whether libvips, by way of bimg, reads more files of a kind.
func forVips(k media.Kind) bool {
	return k == media.HEIC || k == media.AVIF || k == media.TIFF || k == media.JPEG
}

// picture implements media.Picture.
type picture struct {
	// img is the part to show, in stored orientation, from (0, 0), at most as large as the view: an *image.Gray, an *image.YCbCr, an opaque *image.RGBA, or an
	// *image.NRGBA.
	img image.Image
	// black is the fourth ink of CMYK, and img the others; 255 is no ink. nil: none.
	black       *image.Gray
	opaque      bool
	orientation int
	library     Library    // nil: none
	profile     *converter // nil: sRGB
	approximate bool       // it needs a profile that it does not have

	mu   sync.Mutex  // of last
	last image.Image // the last result: most encodings differ in quality alone
}

// Opaque implements media.Picture.
func (p *picture) Opaque() bool { return p.opaque }

// Approximate reports whether the colours are not exactly those of the file.
func (p *picture) Approximate() bool { return p.approximate }

// Close implements media.Picture.
func (p *picture) Close() { p.img, p.black, p.last = nil, nil, nil }

// open decodes every kind but JPEG, and returns the file's ICC profile. whole is the size
// that the header says.
func (p *picture) open(data []byte, kind media.Kind, whole, part image.Rectangle) (profile []byte, err error) {
	img, err := decode(kind, data, whole)
	if err != nil {
		return nil, err
	}
	if img.Bounds().Size() != whole.Size() {
		return nil, errors.New("its data is of another size than its header says")
	}
	p.img, p.opaque = normalized(cropped(img, part.Add(img.Bounds().Min)))
	return iccOf(kind, data), nil
}

// shrink scales the picture down to the largest size that Render is asked for. Smaller sizes
// are made from that in a quarter of the time, and the memory of the whole picture is freed.
func (p *picture) shrink(w, h int) {
	if size := p.img.Bounds().Size(); w > size.X || h > size.Y {
		return
	}
	p.img = p.resized(p.img, w, h)
	if p.black != nil {
		p.black = resized(p.black, w, h, true).(*image.Gray)
	}
}

// resized scales a picture, by the library if it can.
func (p *picture) resized(img image.Image, w, h int) image.Image {
	if p.library != nil && img.Bounds().Size() != image.Pt(w, h) {
		if out := p.library.Resize(img, w, h); out != nil {
			return out
		}
	}
	return resized(img, w, h, p.opaque)
}

// openByLibrary has the library decode a file whose structure is whole, and returns its ICC
// profile.
func (p *picture) openByLibrary(data []byte, kind media.Kind, whole image.Point, v StoredView) (profile []byte, ok bool) {
	if p.library == nil {
		return nil, false
	}
	var err error
	if kind == media.JPEG {
		profile, err = scaledjpeg.Headers(data)
	} else if err = media.Check(kind, data); err == nil {
		profile = iccOf(kind, data)
	}
	if err != nil {
		return nil, false
	}
	if p.img = p.library.Decode(data, kind, whole, v); p.img == nil {
		return nil, false
	}
	_, clear := p.img.(*image.NRGBA)
	p.opaque = !clear
	return profile, true
}

// scaled returns the picture at a size, upright, in sRGB: an *image.Gray, an
// *image.YCbCr, an opaque *image.RGBA or an *image.NRGBA.
func (p *picture) scaled(width, height int) (image.Image, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last != nil && p.last.Bounds().Dx() == width && p.last.Bounds().Dy() == height {
		return p.last, nil
	}
	w, h := width, height
	if p.orientation >= 5 {
		w, h = h, w
	}
	img := p.resized(p.img, w, h)
	var err error
	if p.black != nil {
		img = inksOf(img, resized(p.black, w, h, true))
		if p.profile == nil { // as if the inks were even
			img = asRGBA(img)
		}
	}
	if p.profile != nil {
		img, err = p.profile.apply(img)
	}
	if err != nil {
		return nil, err
	}
	if p.orientation > 1 {
		img = upright(img, p.orientation)
	}
	if m, ok := img.(*imaging.NRGB); ok && p.library == nil { // which the encoders read pixel by pixel
		img = imaging.AsNRGBA(m)
	}
	p.last = img
	if m, ok := img.(*image.NRGBA); ok && p.opaque {
		p.last = &image.RGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
	}
	return p.last, nil
}

// upright turns a picture by EXIF's orientation.
func upright(img image.Image, orientation int) image.Image {
	switch orientation {
	case 2:
		return imaging.FlipH(img)
	case 3:
		return imaging.Rotate180(img)
	case 4:
		return imaging.FlipV(img)
	case 5:
		return imaging.Transpose(img)
	case 6:
		return imaging.Rotate270(img)
	case 7:
		return imaging.Transverse(img)
	case 8:
		return imaging.Rotate90(img)
	}
	return img
}

// storedRect returns the place of a part of the upright picture in the stored picture, which
// has w x h pixels.
func storedRect(orientation int, r image.Rectangle, w, h int) image.Rectangle {
	if orientation >= 5 {
		r = image.Rect(r.Min.Y, r.Min.X, r.Max.Y, r.Max.X)
	}
	switch orientation {
	case 2, 3, 7, 8:
		r.Min.X, r.Max.X = w-r.Max.X, w-r.Min.X
	}
	switch orientation {
	case 3, 4, 6, 7:
		r.Min.Y, r.Max.Y = h-r.Max.Y, h-r.Min.Y
	}
	return r
}

// cropped returns a part of a picture with its corner at (0, 0), as imaging assumes.
func cropped(img image.Image, part image.Rectangle) image.Image {
	type cropper interface {
		SubImage(image.Rectangle) image.Image
	}
	c, ok := img.(cropper)
	if !ok {
		return imaging.Crop(img, part)
	}
	sub := c.SubImage(part)
	at := sub.Bounds().Sub(sub.Bounds().Min)
	switch m := sub.(type) {
	case *image.Gray:
		m.Rect = at
	case *image.Gray16:
		m.Rect = at
	case *image.Paletted:
		m.Rect = at
	case *image.RGBA:
		m.Rect = at
	case *image.NRGBA:
		m.Rect = at
	case *image.RGBA64:
		m.Rect = at
	case *image.NRGBA64:
		m.Rect = at
	default:
		return asRGBA(sub)
	}
	return sub
}

// normalized converts a decoded picture to an *image.Gray, an opaque *image.RGBA, or an
// *image.NRGBA.
func normalized(img image.Image) (out image.Image, opaque bool) {
	switch m := img.(type) {
	case *image.Gray:
		return m, true
	case *image.Gray16:
		out := image.NewGray(m.Rect)
		for y := range m.Rect.Dy() {
			row, in := out.Pix[y*out.Stride:][:m.Rect.Dx()], m.Pix[y*m.Stride:]
			for x := range row {
				row[x] = in[2*x]
			}
		}
		return out, true
	case *image.RGBA:
		if m.Opaque() {
			return m, true
		}
	case *image.NRGBA:
		if m.Opaque() {
			return &image.RGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}, true
		}
		return m, false
	}
	return normalized(imaging.Clone(img))
}
