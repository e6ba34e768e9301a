package goengine

import (
	"errors"
	"fmt"
	"image"
	"image/draw"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/jpegwriter"
	"github.com/fsmcp/fsmcp/internal/media/pngwriter"
)

// Render implements media.Picture.
func (p *picture) Render(s media.Shot) ([]byte, error) {
	img := p.made(s.Width, s.Height)
	switch s.As {
	case media.JPEG:
		if !p.opaque {
			img = onWhite(asRGBA(img))
		}
		out, err := jpegwriter.Encode(img, jpegwriter.Options{Quality: s.Quality, Most: s.Most})
		if errors.Is(err, jpegwriter.ErrLonger) {
			err = media.ErrLonger
		}
		return out, err
	case media.PNG:
		out, err := pngwriter.Encode(p.forPNG(img, s.Colours), pngwriter.Options{Best: s.Best, Most: s.Most})
		if errors.Is(err, pngwriter.ErrLonger) {
			err = media.ErrLonger
		}
		return out, err
	case media.WebP:
		if p.engine.WebP != nil {
			return p.engine.WebP(straight(asRGBA(img)), s.Quality)
		}
	}
	return nil, fmt.Errorf("%s pictures cannot be written by this engine", s.As)
}

// forPNG is the picture in the smallest form that a PNG has for it.
func (p *picture) forPNG(img image.Image, colours int) image.Image {
	if _, ok := img.(*image.Gray); ok && colours == 0 {
		return img
	}
	m := asRGBA(img)
	switch {
	case colours > 0:
		return reduced(straight(m), colours)
	case p.opaque:
		return m
	}
	return straight(m)
}

// straight divides colours by alpha.
func straight(m *image.RGBA) *image.NRGBA {
	if m.Opaque() {
		return &image.NRGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
	}
	out := image.NewNRGBA(m.Rect)
	draw.Draw(out, out.Rect, m, m.Rect.Min, draw.Src)
	return out
}
