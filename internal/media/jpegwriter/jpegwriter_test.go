package jpegwriter

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"testing"
)

// pictures are of all forms that are written and of awkward sizes: soft ones,
// hard ones, and noise, which has the largest coefficients.
func pictures() (all []image.Image) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []image.Point{{1, 1}, {7, 3}, {8, 8}, {16, 16}, {17, 33}, {200, 131}} {
		rect := image.Rectangle{Max: size}
		soft, hard, noise, gray := image.NewRGBA(rect), image.NewRGBA(rect), image.NewRGBA(rect), image.NewGray(rect)
		for y := range size.Y {
			for x := range size.X {
				soft.SetRGBA(x, y, color.RGBA{uint8(128 + 100*math.Sin(float64(x)/40)), uint8(128 + 100*math.Cos(float64(y)/30)), uint8(x / 3), 255})
				hard.SetRGBA(x, y, color.RGBA{uint8(x / 16 * 255), uint8(y / 16 * 255), uint8((x + y) / 16 * 255), 255})
				noise.SetRGBA(x, y, color.RGBA{uint8(r.Uint32() >> 31 * 255), uint8(r.Uint32() >> 31 * 255), uint8(r.Uint32()), 255})
				gray.SetGray(x, y, color.Gray{uint8(x*y) & 0xf8})
			}
		}
		sheet := image.NewRGBA(rect) // a page: nearly all of it white
		draw.Draw(sheet, rect, image.White, image.Point{}, draw.Src)
		draw.Draw(sheet, image.Rect(20, 30, 70, 33), image.NewUniform(color.RGBA{200, 10, 90, 255}), image.Point{}, draw.Src)
		all = append(all, soft, hard, noise, gray, sheet)
		for _, ratio := range []image.YCbCrSubsampleRatio{image.YCbCrSubsampleRatio420, image.YCbCrSubsampleRatio444} {
			m := image.NewYCbCr(rect, ratio)
			for y := range size.Y {
				for x := range size.X {
					m.Y[m.YOffset(x, y)] = uint8(x * 2)
					m.Cb[m.COffset(x, y)] = uint8(128 + x/9)
					m.Cr[m.COffset(x, y)] = uint8(128 - y/9)
				}
			}
			all = append(all, m)
		}
	}
	return all
}

// distance is the root of the mean square of what two pictures differ in.
func distance(a, b image.Image) float64 {
	sum, n := 0.0, 0
	rect := a.Bounds()
	x, y := image.NewRGBA(rect), image.NewRGBA(rect)
	draw.Draw(x, rect, a, rect.Min, draw.Src)
	draw.Draw(y, rect, b, b.Bounds().Min, draw.Src)
	for i := range x.Pix {
		d := float64(x.Pix[i]) - float64(y.Pix[i])
		sum += d * d
		n++
	}
	return math.Sqrt(sum / float64(n))
}

// What is written is as near to the picture as what the standard library writes,
// and hardly longer.
func TestAsNearAsTheLibrary(t *testing.T) {
	for _, img := range pictures() {
		for _, quality := range []int{1, 50, 80, 100} {
			name := fmt.Sprintf("%T %v at %d", img, img.Bounds().Size(), quality)
			b, err := Encode(img, Options{Quality: quality})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			back, err := jpeg.Decode(bytes.NewReader(b))
			if err != nil || back.Bounds() != img.Bounds() {
				t.Fatalf("%s: %v", name, err)
			}
			var theirs bytes.Buffer
			if err := jpeg.Encode(&theirs, img, &jpeg.Options{Quality: quality}); err != nil {
				t.Fatal(err)
			}
			other, err := jpeg.Decode(bytes.NewReader(theirs.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			ours, libs := distance(img, back), distance(img, other)
			if ours > libs*1.02+0.5 {
				t.Errorf("%s: off by %.3f, the library by %.3f", name, ours, libs)
			}
			if len(b) > theirs.Len()*104/100+40 {
				t.Errorf("%s: %d bytes, the library %d", name, len(b), theirs.Len())
			}
		}
	}
}

func TestNothingLongerThanAllowedIsMade(t *testing.T) {
	for _, img := range pictures() {
		b, err := Encode(img, Options{Quality: 80})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Encode(img, Options{Quality: 80, Most: len(b)}); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%T %v: %v", img, img.Bounds(), err)
		}
		for _, most := range []int{1, len(b) / 2, len(b) - 1} {
			if _, err := Encode(img, Options{Quality: 80, Most: most}); !errors.Is(err, ErrLonger) {
				t.Errorf("%T %v, %d of %d bytes: %v", img, img.Bounds(), most, len(b), err)
			}
		}
	}
}

func TestOtherFormsAreRefused(t *testing.T) {
	for _, img := range []image.Image{image.NewCMYK(image.Rect(0, 0, 2, 2)), image.NewGray(image.Rect(0, 0, 70000, 1)), image.NewGray(image.Rect(0, 0, 0, 5)), image.NewYCbCr(image.Rect(0, 0, 4, 4), image.YCbCrSubsampleRatio422)} {
		if _, err := Encode(img, Options{Quality: 80}); err == nil {
			t.Errorf("%T %v is written", img, img.Bounds())
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	img := image.NewRGBA(image.Rect(0, 0, 1212, 1568))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range img.Pix {
		img.Pix[i] = uint8(i/7) + uint8(r.Uint32()&7) | uint8(i&3/3*255)
	}
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			if _, err := Encode(img, Options{Quality: 80}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			if err := jpeg.Encode(&bytes.Buffer{}, img, &jpeg.Options{Quality: 80}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
