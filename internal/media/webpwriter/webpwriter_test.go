package webpwriter

import (
	"bytes"
	"fmt"
	"image"
	"testing"

	"golang.org/x/image/webp"
)

// Another reader than the library's own must see the alpha that was written: each
// sample of it, whatever it is like.
func TestAlphaIsReadByOthers(t *testing.T) {
	alphas := map[string]func(x, y int) uint8{
		"even":     func(x, y int) uint8 { return 128 },
		"nothing":  func(x, y int) uint8 { return 0 },
		"gradient": func(x, y int) uint8 { return uint8(3*x + y) },
		"slow":     func(x, y int) uint8 { return uint8((x + y) / 3) },
		"noise":    func(x, y int) uint8 { return uint8((x*7919 + y*104729 + x*y*31) >> 3) },
		"circle": func(x, y int) uint8 {
			if (x-50)*(x-50)+(y-50)*(y-50) < 1600 {
				return 255
			}
			return 0
		},
	}
	for name, alpha := range alphas {
		for _, size := range []image.Point{{1, 1}, {1, 90}, {90, 1}, {64, 64}, {321, 243}, {1200, 900}} {
			t.Run(fmt.Sprint(name, size), func(t *testing.T) {
				img := image.NewNRGBA(image.Rect(0, 0, size.X, size.Y))
				for y := range size.Y {
					for x := range size.X {
						copy(img.Pix[img.PixOffset(x, y):], []uint8{uint8(x), uint8(y), 128, alpha(x, y)})
					}
				}
				file, err := Encode(img, 80)
				if err != nil {
					t.Fatal(err)
				}
				got, err := webp.Decode(bytes.NewReader(file))
				if err != nil {
					t.Fatal(err)
				}
				seen, ok := got.(*image.NYCbCrA)
				if !ok || seen.Rect.Size() != size {
					t.Fatalf("%T of %v", got, got.Bounds())
				}
				for y := range size.Y {
					for x := range size.X {
						if a := seen.A[seen.AOffset(x, y)]; a != alpha(x, y) {
							t.Fatalf("alpha at %d,%d is %d, want %d", x, y, a, alpha(x, y))
						}
					}
				}
			})
		}
	}
}
