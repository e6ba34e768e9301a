package pngwriter

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"testing"
)

// pictures are of all forms that are written, some of them with smooth places.
func pictures() []image.Image {
	r := rand.New(rand.NewPCG(1, 2))
	var all []image.Image
	for _, size := range []image.Point{{1, 1}, {1, 9}, {9, 1}, {37, 41}, {160, 130}} {
		rect := image.Rectangle{Max: size}
		noise, smooth, glass, gray := image.NewRGBA(rect), image.NewRGBA(rect), image.NewNRGBA(rect), image.NewGray(rect)
		plain := image.NewRGBA(rect)
		draw.Draw(plain, rect, image.NewUniform(color.RGBA{9, 200, 77, 255}), image.Point{}, draw.Src)
		few := image.NewPaletted(rect, color.Palette{color.NRGBA{1, 2, 3, 255}, color.NRGBA{250, 0, 9, 255}, color.NRGBA{7, 7, 7, 128}})
		for y := range size.Y {
			for x := range size.X {
				v := uint8(r.Uint32())
				noise.Set(x, y, color.RGBA{v, v ^ 0x5a, v + 70, 255})
				smooth.Set(x, y, color.RGBA{uint8(x), uint8(y), uint8(x + y), 255})
				glass.Set(x, y, color.NRGBA{uint8(x * 3), v, uint8(y), v | 1})
				gray.Set(x, y, color.Gray{uint8(x*y) ^ v>>6})
				few.SetColorIndex(x, y, v%3)
			}
		}
		all = append(all, noise, smooth, plain, glass, gray, few)
	}
	return all
}

func TestTheSamePixelsComeBack(t *testing.T) {
	for _, img := range pictures() {
		for _, small := range []bool{false, true} {
			b, err := Encode(img, Options{Best: small})
			if err != nil {
				t.Fatalf("%T %v: %v", img, img.Bounds(), err)
			}
			back, err := png.Decode(bytes.NewReader(b))
			if err != nil || back.Bounds() != img.Bounds() {
				t.Fatalf("%T %v: %v", img, img.Bounds(), err)
			}
			for y := range img.Bounds().Dy() {
				for x := range img.Bounds().Dx() {
					want, got := color.NRGBAModel.Convert(img.At(x, y)), color.NRGBAModel.Convert(back.At(x, y))
					if want != got {
						t.Fatalf("%T %v at %d,%d: %v, not %v", img, img.Bounds(), x, y, got, want)
					}
				}
			}
		}
	}
}

func TestNothingLongerThanAllowedIsMade(t *testing.T) {
	for _, img := range pictures() {
		b, err := Encode(img, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Encode(img, Options{Most: len(b)}); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%T %v: %d bytes are allowed and not made: %v", img, img.Bounds(), len(b), err)
		}
		if _, err := Encode(img, Options{Most: len(b) - 1}); !errors.Is(err, ErrLonger) {
			t.Errorf("%T %v: one byte less: %v", img, img.Bounds(), err)
		}
	}
}

// A picture is no larger than what the standard library makes of it, but for a
// small share and a kilobyte.
func TestPacksAsWellAsTheLibrary(t *testing.T) {
	for _, img := range pictures() {
		if _, ok := img.(*image.Paletted); ok || img.Bounds().Dx() < 160 { // it writes three colours in two bits
			continue
		}
		for level, small := range map[png.CompressionLevel]bool{png.DefaultCompression: false, png.BestCompression: true} {
			var theirs bytes.Buffer
			if err := (&png.Encoder{CompressionLevel: level}).Encode(&theirs, img); err != nil {
				t.Fatal(err)
			}
			ours, err := Encode(img, Options{Best: small})
			if err != nil || len(ours) > theirs.Len()*21/20+1024 {
				t.Errorf("%T best %v: %d bytes, the library %d: %v", img, small, len(ours), theirs.Len(), err)
			}
		}
	}
}

func TestOtherFormsAreRefused(t *testing.T) {
	for _, img := range []image.Image{image.NewCMYK(image.Rect(0, 0, 2, 2)), image.NewGray(image.Rect(0, 0, 0, 5))} {
		if _, err := Encode(img, Options{}); err == nil {
			t.Errorf("%T %v is written", img, img.Bounds())
		}
	}
}
