package raster

import (
	"bytes"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/kovidgoyal/imaging"

	"github.com/fsmcp/fsmcp/internal/media"
)

// A plane that is scaled folded has the very samples that imaging makes of it.
func TestPlanesAreScaledAsPicturesAre(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		plane := image.NewGray(image.Rect(0, 0, 1+r.IntN(60), 1+r.IntN(60)))
		for i := range plane.Pix {
			plane.Pix[i] = uint8(r.Uint32())
		}
		part := cropped(plane, image.Rect(r.IntN(plane.Rect.Dx()), r.IntN(plane.Rect.Dy()), plane.Rect.Dx(), plane.Rect.Dy())).(*image.Gray)
		w, h := 1+r.IntN(80), 1+r.IntN(80)
		if r.IntN(3) == 0 {
			w = part.Rect.Dx()
		}
		if r.IntN(3) == 0 {
			h = part.Rect.Dy()
		}
		got := resizedPlane(part, w, h)
		want := image.NewGray(image.Rect(0, 0, part.Rect.Dx(), part.Rect.Dy()))
		copy(want.Pix, tight(part))
		scaled := imaging.AsNRGB(imaging.ResizeWithOpacity(want, w, h, imaging.Lanczos, true))
		for i, v := range tight(got) {
			if v != scaled.Pix[3*i] {
				t.Fatalf("%v to %dx%d: sample %d is %d, want %d", part.Rect, w, h, i, v, scaled.Pix[3*i])
			}
		}
	}
}

// A part of a JPEG has the pixels that the standard library sees there, wherever it
// begins and however the colours are sampled.
func TestPartsOfJPEGs(t *testing.T) {
	names, err := filepath.Glob("../scaledjpeg/testdata/*.jpg")
	if err != nil || len(names) < 7 {
		t.Fatal(names, err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := jpeg.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if _, ink := whole.(*image.CMYK); ink {
			continue
		}
		size := whole.Bounds().Size()
		f := media.Facts{Kind: media.JPEG, Width: size.X, Height: size.Y, Orientation: 1}
		for range 40 {
			x, y := r.IntN(size.X), r.IntN(size.Y)
			part := media.Rect{X: x, Y: y, Width: 1 + r.IntN(size.X-x), Height: 1 + r.IntN(size.Y-y)}
			p, err := Engine{}.Open(data, f, media.View{Part: part, Width: part.Width, Height: part.Height})
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.(*picture).scaled(part.Width, part.Height)
			if err != nil {
				t.Fatal(err)
			}
			a, b := asRGBA(got), asRGBA(cropped(asRGBA(whole), image.Rect(x, y, x+part.Width, y+part.Height)))
			for i := range a.Pix {
				if d := int(a.Pix[i]) - int(b.Pix[i]); d > 6 || d < -6 {
					t.Fatalf("%s %+v: sample %d is %d, want %d", name, part, i, a.Pix[i], b.Pix[i])
				}
			}
			for _, to := range []image.Point{{part.Width, 1 + part.Height/2}, {1 + part.Width/2, part.Height}, {2 * part.Width, 2 * part.Height}, {1, 1}} {
				small, err := p.(*picture).scaled(to.X, to.Y)
				if err != nil || small.Bounds() != (image.Rectangle{Max: to}) {
					t.Fatalf("%s %+v to %v: %v", name, part, to, err)
				}
				asRGBA(small)
			}
		}
	}
}
