//go:build vips && cgo

package vips

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/image/tiff"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/enginetest"
	"github.com/fsmcp/fsmcp/internal/media/raster"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// form is a picture in one form of a file.
type form struct {
	name string
	kind media.Kind
	data []byte
}

// soft is a picture without hard edges, at which scalers differ; with holes, some of it is
// transparent.
func soft(w, h int, holes bool) *image.NRGBA64 {
	img := image.NewNRGBA64(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA64{uint16(x * 65535 / w), uint16(y * 65535 / h), uint16((x + y) * 65535 / (w + h)), 65535}
			if holes {
				c.A = uint16(65535 - (x*y)*60000/(w*h))
			}
			img.SetNRGBA64(x, y, c)
		}
	}
	return img
}

// forms are pictures of w x h in the forms that both engines read.
func forms(t *testing.T, w, h int) (all []form) {
	t.Helper()
	add := func(name string, kind media.Kind, encode func(b *bytes.Buffer) error) {
		var b bytes.Buffer
		if err := encode(&b); err != nil {
			t.Fatal(name, err)
		}
		all = append(all, form{name: name, kind: kind, data: b.Bytes()})
	}
	as := func(to draw.Image, holes bool) image.Image {
		draw.Draw(to, to.Bounds(), soft(w, h, holes), image.Point{}, draw.Src)
		return to
	}
	at := image.Rect(0, 0, w, h)
	var shades color.Palette
	for i := range 256 {
		shades = append(shades, color.NRGBA{uint8(i), uint8(i), 90, 255})
	}
	seeThrough := append(shades[:255:255], color.NRGBA{})
	few := color.Palette{color.Black, color.White}
	holed := image.NewPaletted(at, seeThrough)
	for i := range holed.Pix {
		holed.Pix[i] = uint8(i / w * 255 / h)
	}
	for y := range h / 2 {
		holed.Pix[y*w+w/3] = 255
	}
	for name, img := range map[string]image.Image{
		"RGB": as(image.NewRGBA(at), false), "RGB of 16 bits": as(image.NewRGBA64(at), false), "with alpha": as(image.NewNRGBA(at), true),
		"with alpha of 16 bits": soft(w, h, true), "gray": as(image.NewGray(at), false), "gray of 16 bits": as(image.NewGray16(at), false),
		"paletted": as(image.NewPaletted(at, shades), false), "of two colours": as(image.NewPaletted(at, few), false), "paletted with holes": holed,
	} {
		add("PNG "+name, media.PNG, func(b *bytes.Buffer) error { return png.Encode(b, img) })
		add("TIFF "+name, media.TIFF, func(b *bytes.Buffer) error { return tiff.Encode(b, img, nil) })
	}
	opaque, holes := as(image.NewNRGBA(at), false), as(image.NewNRGBA(at), true)
	add("JPEG", media.JPEG, func(b *bytes.Buffer) error { return jpeg.Encode(b, opaque, &jpeg.Options{Quality: 95}) })
	add("JPEG gray", media.JPEG, func(b *bytes.Buffer) error {
		return jpeg.Encode(b, as(image.NewGray(at), false), &jpeg.Options{Quality: 95})
	})
	add("GIF", media.GIF, func(b *bytes.Buffer) error { return gif.Encode(b, as(image.NewPaletted(at, shades), false), nil) })
	add("GIF with holes", media.GIF, func(b *bytes.Buffer) error { return gif.Encode(b, holed, nil) })
	add("GIF with a small first frame", media.GIF, func(b *bytes.Buffer) error {
		part := image.NewPaletted(image.Rect(w/4, h/4, w/2, h/2), shades)
		draw.Draw(part, part.Rect, soft(w, h, false), part.Rect.Min, draw.Src)
		return gif.EncodeAll(b, &gif.GIF{Image: []*image.Paletted{part, holed}, Delay: []int{0, 0}, Config: image.Config{Width: w, Height: h, ColorModel: shades}})
	})
	for name, img := range map[string]image.Image{"WebP": opaque, "WebP with alpha": holes} {
		add(name, media.WebP, func(b *bytes.Buffer) error {
			out, err := enginetest.WebP(img, 95)
			b.Write(out)
			return err
		})
	}
	var source bytes.Buffer
	if err := png.Encode(&source, opaque); err != nil {
		t.Fatal(err)
	}
	for name, command := range map[string]struct {
		kind media.Kind
		to   string
	}{
		"progressive JPEG": {media.JPEG, "out.jpg[interlace,Q=95]"}, "JPEG of whole colours": {media.JPEG, "out.jpg[subsample_mode=off,Q=95]"},
		"interlaced PNG": {media.PNG, "out.png[interlace]"}, "lossless WebP": {media.WebP, "out.webp[lossless]"},
	} {
		if data := converted(t, source.Bytes(), command.to, "copy"); data != nil {
			all = append(all, form{name: name, kind: command.kind, data: data})
		}
	}
	return all
}

// rendered returns the picture that an engine shows of a file.
func rendered(t *testing.T, e media.Engine, f form, v media.WantedView, orientation int) (img image.Image, opaque bool, err error) {
	t.Helper()
	facts, err := media.Inspect(f.kind, bytes.NewReader(f.data), int64(len(f.data)))
	if err != nil {
		t.Fatal(f.name, err)
	}
	if facts.Orientation = orientation; orientation >= 5 {
		facts.Width, facts.Height = facts.Height, facts.Width
	}
	p, err := e.Open(f.data, facts, v)
	if err != nil {
		return nil, false, err
	}
	defer p.Close()
	out, err := p.Render(media.PictureEncoding{Width: v.Width, Height: v.Height, As: media.PNG})
	if err != nil {
		t.Fatal(f.name, err)
	}
	if img, err = png.Decode(bytes.NewReader(out)); err != nil {
		t.Fatal(f.name, err)
	}
	return img, p.Opaque(), nil
}

// A file that is cut short, or lacks a piece in its middle, is not shown unless raster finds
// nothing missing of it; nor is one with an end put behind the cut.
func TestNoPartIsShownAsTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	shown := 0
	for _, f := range forms(t, 97, 64) {
		_, known := loaders[f.kind]
		for i := range shortrun.Count(t, 300, 60, "files of each form") {
			if !known {
				break
			}
			from := r.IntN(len(f.data))
			data := bytes.Clone(f.data[:from])
			switch {
			case i%3 == 1 && f.kind == media.JPEG:
				data = append(data, 0xff, 0xd9)
			case i%3 == 2 && f.kind != media.JPEG: // a JPEG may lack bytes from one code to another
				data = append(data, f.data[min(len(f.data), from+1+r.IntN(40)):]...)
			}
			facts, err := media.Inspect(f.kind, bytes.NewReader(data), int64(len(data)))
			if err != nil {
				continue
			}
			v := media.WantedView{Part: media.Rect{Width: facts.Width, Height: facts.Height}, Width: 48, Height: 32}
			if _, err := New().Open(data, facts, v); err != nil {
				continue
			}
			shown++
			if _, err := (raster.Engine{}).Open(data, facts, v); err != nil {
				t.Errorf("%s: of %d of %d bytes, %v", f.name, len(data), len(f.data), err)
			}
		}
	}
	t.Logf("%d of these files lack nothing", shown)
}

// apart returns the mean and the largest difference of two pictures' samples, of 255. Colours
// count as far as they are seen.
func apart(a, b image.Image) (mean float64, most int) {
	n := 0
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			r, g, bl, al := a.At(x, y).RGBA()
			r2, g2, b2, al2 := b.At(x, y).RGBA()
			for _, d := range []int{int(r) - int(r2), int(g) - int(g2), int(bl) - int(b2), int(al) - int(al2)} {
				d = max(d, -d) >> 8
				mean, most, n = mean+float64(d), max(most, d), n+1
			}
		}
	}
	return mean / float64(n), most
}

// Both engines show the same: whole, in part, scaled down, enlarged, and turned. Each form of
// a kind that libvips decodes is decoded by it.
func TestAgreesWithRaster(t *testing.T) {
	const w, h = 320, 240
	r := rand.New(rand.NewPCG(21, 22))
	for _, f := range forms(t, w, h) {
		_, known := loaders[f.kind]
		if own := (library{}).Decode(f.data, f.kind, image.Pt(w, h), raster.StoredView{Part: image.Rect(0, 0, w, h), Width: w, Height: h}); (own == nil) == known {
			t.Errorf("%s: left to raster: %v", f.name, own == nil)
		}
		for i := range 6 {
			orientation, fw, fh := 1, w, h
			if i > 2 {
				if orientation = 2 + r.IntN(7); orientation >= 5 {
					fw, fh = h, w
				}
			}
			v := media.WantedView{Part: media.Rect{Width: fw, Height: fh}, Width: fw, Height: fh}
			if i%3 == 1 {
				x, y := r.IntN(fw/2), r.IntN(fh/2)
				v = media.WantedView{Part: media.Rect{X: x, Y: y, Width: fw/2 - r.IntN(20), Height: fh/2 - r.IntN(20)}}
				v.Width, v.Height = 2*v.Part.Width, 2*v.Part.Height
			}
			if i%3 == 2 {
				v.Width, v.Height = fw*(30+r.IntN(60))/100, fh*(30+r.IntN(60))/100
			}
			want, opaque, err := rendered(t, raster.Engine{}, f, v, orientation)
			if err != nil {
				t.Fatal(f.name, err)
			}
			got, same, err := rendered(t, New(), f, v, orientation)
			if err != nil {
				t.Fatal(f.name, err)
			}
			if mean, most := apart(want, got); got.Bounds() != want.Bounds() || opaque != same || mean > 1 || most > 40 {
				t.Errorf("%s, %+v, orientation %d: %v and %v, opaque %v and %v, %.1f and at most %d apart", f.name, v, orientation, want.Bounds(), got.Bounds(), opaque, same, mean, most)
			}
		}
	}
}

// converted has libvips' own program write a picture in another form; nil: it cannot.
func converted(t *testing.T, data []byte, to string, command ...string) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in.png"), data, 0o666); err != nil {
		t.Fatal(err)
	}
	return written(t, dir, to, command...)
}
