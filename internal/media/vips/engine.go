//go:build vips && cgo

package vips

import (
	"bytes"

	"github.com/h2non/bimg"
	"golang.org/x/image/tiff"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/goengine"
)

// Engine implements media.Engine.
type Engine struct{ goengine.Engine }

// Version is that of the library.
func Version() string { return bimg.VipsVersion }

// Open implements media.Engine. Only a WebP that is to become smaller as a whole is
// worth the library's while: bimg has a picture decoded to its end before anything
// else begins, and the engine without C is through with a JPEG or a PNG in less time.
func (e Engine) Open(data []byte, f media.Facts, v media.View) (media.Picture, error) {
	whole := v.Part == media.Rect{Width: f.Width, Height: f.Height}
	smaller := v.Width < f.Width || v.Height < f.Height
	if f.Kind != media.WebP || !whole || !smaller || media.Frames(f.Kind, data) > 1 {
		return e.Engine.Open(data, f, v)
	}
	if err := media.Check(f.Kind, data); err != nil {
		return nil, err
	}
	w, h := v.Width, v.Height
	if f.Orientation >= 5 { // it is turned when it is small
		w, h = h, w
	}
	out, err := bimg.Resize(data, bimg.Options{Width: w, Height: h, Force: true, NoAutoRotate: true, NoProfile: true, Type: bimg.TIFF})
	if err != nil {
		return e.Engine.Open(data, f, v) // whose word on damage counts
	}
	img, err := tiff.Decode(bytes.NewReader(out))
	if err != nil {
		return e.Engine.Open(data, f, v)
	}
	p := e.Engine.Resized(img, data, f)
	if !p.Opaque() { // it was resized without regard to what shines through
		return e.Engine.Open(data, f, v)
	}
	return p, nil
}
