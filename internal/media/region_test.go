package media

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestRegionIsFourNumbersWithinThePicture(t *testing.T) {
	for _, c := range []struct {
		text string
		want Rect
		flaw string
	}{
		{"10,20,30,40", Rect{10, 20, 30, 40}, ""},
		{" 10, 20 ,30,40 ", Rect{10, 20, 30, 40}, ""},
		{"-10,-20,30,40", Rect{0, 0, 20, 20}, ""},
		{"90,40,1000,1000", Rect{90, 40, 10, 20}, ""},
		{"", Rect{}, "four whole numbers"},
		{"1,2,3", Rect{}, "four whole numbers"},
		{"1,2,3,4,5", Rect{}, "four whole numbers"},
		{"1.5,2,3,4", Rect{}, "four whole numbers"},
		{"99999999999999999999,0,1,1", Rect{}, "four whole numbers"},
		{"0,0,0,5", Rect{}, "empty"},
		{"0,0,5,-1", Rect{}, "empty"},
		{"100,0,5,5", Rect{}, "outside"},
		{"-5,0,5,5", Rect{}, "outside"},
	} {
		got, err := ParseRegion(c.text)
		if err == nil {
			got, err = got.Clamp(100, 60)
		}
		var flaw *RegionError
		if c.flaw == "" && (err != nil || got != c.want) || c.flaw != "" && (!errors.As(err, &flaw) || !strings.Contains(flaw.Reason, c.flaw)) {
			t.Errorf("%q: %v %v, want %v %q", c.text, got, err, c.want, c.flaw)
		}
	}
}

func TestCoordinateLine(t *testing.T) {
	whole := func(w, h, dw, dh int) Mapping {
		return Mapping{Width: w, Height: h, Part: Rect{0, 0, w, h}, DisplayWidth: dw, DisplayHeight: dh}
	}
	zoom := whole(4000, 3000, 400, 300)
	zoom.Part, zoom.Zoomed = Rect{100, 200, 400, 300}, true
	tall := zoom
	tall.Part, tall.DisplayWidth, tall.DisplayHeight = Rect{0, 0, 7, 3000}, 5, 2000
	for _, c := range []struct {
		s    Mapping
		want string
	}{
		{whole(800, 600, 800, 600), ""},
		{whole(4000, 3000, 2000, 1500), "[Image: original 4000x3000, displayed at 2000x1500. Multiply coordinates by 2.00 to map to original image.]"},
		{whole(3000, 3000, 2000, 2000), "[Image: original 3000x3000, displayed at 2000x2000. Multiply coordinates by 1.50 to map to original image.]"},
		{whole(4000, 3001, 2000, 1501), "[Image: original 4000x3001, displayed at 2000x1501. Multiply coordinates by 1.9997 to map to original image.]"},
		{whole(2668, 2001, 2000, 1500), "[Image: original 2668x2001, displayed at 2000x1500. Multiply coordinates by 1.3340 to map to original image.]"},
		{whole(4000, 33, 2000, 17), "[Image: original 4000x33, displayed at 2000x17. Multiply x by 2.00 and y by 1.9412 to map to original image.]"},
		{zoom, "[Image: region 100,200,400,300 of original 4000x3000, displayed at 400x300. Multiply coordinates by 1.00 and add 100,200 to map to original image.]"},
		{tall, "[Image: region 0,0,7,3000 of original 4000x3000, displayed at 5x2000. Multiply x by 1.40 and y by 1.50 and add 0,0 to map to original image.]"},
	} {
		if got := c.s.Line(); got != c.want {
			t.Errorf("%+v:\n%s\n%s", c.s, got, c.want)
		}
	}
}

// TestOneFactorLeadsNobodyAstray: whatever a size is brought to, the far corner
// is found again within two pixels.
func TestOneFactorLeadsNobodyAstray(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		w, h := 1+r.IntN(16384), 1+r.IntN(6000)
		dw, dh := fit(w, h, MaxSide)
		s := Mapping{Width: w, Height: h, Part: Rect{0, 0, w, h}, DisplayWidth: dw, DisplayHeight: dh}
		if dw > w || dh > h || dw > MaxSide || dh > MaxSide {
			t.Fatalf("%dx%d is shown at %dx%d", w, h, dw, dh)
		}
		x, y := float64(w)/float64(dw), float64(h)/float64(dh)
		if math.Abs(x-y) <= sameFactor*math.Min(x, y) {
			f := s.common(x, y)
			if math.Abs(f*float64(dw)-float64(w)) > 2.2 || math.Abs(f*float64(dh)-float64(h)) > 2.2 {
				t.Fatalf("%+v: the corner is off by %f, %f", s, f*float64(dw)-float64(w), f*float64(dh)-float64(h))
			}
		}
	}
}
