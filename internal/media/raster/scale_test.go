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

// A picture is scaled to the very samples that imaging makes of it, but for what is lost
// where weights are rounded.
func TestScaledAsTheLibraryScales(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	off, samples := 0, 0
	for range 300 {
		size := image.Rect(0, 0, 1+r.IntN(60), 1+r.IntN(60))
		colours, gray := image.NewRGBA(size), image.NewGray(size)
		extreme := r.IntN(2) == 0
		for i := range gray.Pix {
			v := [3]uint8{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32())}
			for c := range v {
				if extreme { // the largest sums that a lane has to hold
					v[c] = v[c] >> 7 * 255
				}
			}
			copy(colours.Pix[4*i:], []uint8{v[0], v[1], v[2], 255})
			gray.Pix[i] = v[0]
		}
		part := image.Rect(r.IntN(size.Dx()), r.IntN(size.Dy()), size.Dx(), size.Dy())
		w, h := 1+r.IntN(80), 1+r.IntN(80)
		if r.IntN(3) == 0 {
			w = part.Dx()
		}
		if r.IntN(3) == 0 {
			h = part.Dy()
		}
		for _, img := range []image.Image{cropped(colours, part), cropped(gray, part)} {
			want := imaging.AsNRGB(imaging.ResizeWithOpacity(imaging.Clone(img), w, h, imaging.Lanczos, true))
			got := imaging.AsNRGB(resized(img, w, h, true))
			for i := range want.Pix {
				d := int(got.Pix[i]) - int(want.Pix[i])
				if d > 2 || d < -2 {
					t.Fatalf("%v to %dx%d: sample %d is %d, want %d", part, w, h, i, got.Pix[i], want.Pix[i])
				}
				if samples++; d != 0 {
					off++
				}
			}
		}
	}
	if off*20 > samples {
		t.Errorf("%d of %d samples are not the library's", off, samples)
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
		f := media.PictureFacts{Kind: media.JPEG, Width: size.X, Height: size.Y, Orientation: 1}
		for range 40 {
			x, y := r.IntN(size.X), r.IntN(size.Y)
			part := media.Rect{X: x, Y: y, Width: 1 + r.IntN(size.X-x), Height: 1 + r.IntN(size.Y-y)}
			p, err := Engine{}.Open(data, f, media.WantedView{Part: part, Width: part.Width, Height: part.Height})
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
