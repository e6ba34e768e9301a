//go:build vips && cgo

package vips

import (
	"errors"

	"github.com/h2non/bimg"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/raster"
)

// Engine implements media.Engine.
type Engine struct{ raster.Engine }

// New returns the engine, and has libvips use no cache and no threads of its own.
func New() Engine {
	limit()
	return Engine{raster.Engine{Library: library{}}}
}

// Version is that of the library.
func Version() string { return bimg.VipsVersion }

// Open implements media.Engine. What raster reads, it reads; libvips makes a PNG of
// what raster refuses as rare.
func (e Engine) Open(data []byte, f media.PictureFacts, v media.WantedView) (media.Picture, error) {
	p, err := e.Engine.Open(data, f, v)
	var refused *media.DamageError
	if !errors.As(err, &refused) || !refused.Rare {
		return p, err
	}
	refused.ForVips = false
	if f.Kind == media.JPEG { // of one that ends too soon libvips makes half a picture
		if err := media.Check(f.Kind, data); err != nil {
			return nil, err
		}
	}
	out, converted := bimg.Resize(data, bimg.Options{Type: bimg.PNG, NoAutoRotate: true, Compression: 1})
	if converted != nil {
		return nil, refused
	}
	now := f
	now.Kind = media.PNG
	if p, err = e.Engine.Open(out, now, v); err != nil {
		return nil, err
	}
	if f.Kind == media.TIFF && lacksProfile(media.LayoutOf(data)) {
		p = approximate{p}
	}
	return p, nil
}

// lacksProfile reports whether a TIFF of ink does not say which.
func lacksProfile(l media.TIFFLayout) bool { return l.Photometric == tiffInk && len(l.Profile) == 0 }

// tiffInk is the number of CMYK in a TIFF (TIFF 6.0, section 16).
const tiffInk = 5

// approximate is a picture of ink whose profile is missing: libvips takes another.
type approximate struct{ media.Picture }

// Approximate reports that the colours are not exactly those of the file.
func (approximate) Approximate() bool { return true }
