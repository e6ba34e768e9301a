package pdf

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"testing"
)

// A page is sent in gray only where not one of its pixels has a colour.
func TestOnlyPagesWithoutColoursAreGray(t *testing.T) {
	for _, c := range []struct {
		last color.RGBA
		gray bool
	}{{color.RGBA{9, 9, 9, 255}, true}, {color.RGBA{9, 9, 10, 255}, false}, {color.RGBA{8, 9, 9, 255}, false}} {
		page := image.NewRGBA(image.Rect(0, 0, 31, 17))
		for i := range page.Pix {
			page.Pix[i] = 255
		}
		page.SetRGBA(3, 4, color.RGBA{128, 128, 128, 255})
		page.SetRGBA(30, 16, c.last)
		data, err := encoded(page, 100)
		if err != nil {
			t.Fatal(err)
		}
		got, err := jpeg.Decode(bytes.NewReader(data))
		if err != nil || got.Bounds() != page.Rect {
			t.Fatal(err, got.Bounds())
		}
		if _, gray := got.(*image.Gray); gray != c.gray {
			t.Errorf("%v: gray is %v", c.last, gray)
		}
		r, _, _, _ := got.At(3, 4).RGBA()
		if d := int(r>>8) - 128; d > 3 || d < -3 {
			t.Errorf("%v: a gray of 128 became %d", c.last, r>>8)
		}
	}
}
