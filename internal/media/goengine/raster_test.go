package goengine

import (
	"math/rand/v2"
	"testing"
)

// A flat picture stays flat, at any size.
func TestResamplingKeepsAFlatPictureFlat(t *testing.T) {
	for _, n := range []int{1, 4} {
		src := newRaster(97, 61, n)
		for i := range src.pix {
			src.pix[i] = 200
			if n == 4 && i%4 == 3 {
				src.pix[i] = 255
			}
		}
		for _, s := range []size{exactly(97, 61), exactly(50, 31), exactly(13, 7), exactly(1, 1), {48, 30, 47.5, 30}, exactly(200, 100)} {
			for _, opaque := range []bool{false, true} {
				out := resample(src, area{0, 0, 97, 61}, s, opaque)
				if out.w != s.w || out.h != s.h {
					t.Fatalf("%d samples, %+v: %d x %d", n, s, out.w, out.h)
				}
				for i, v := range out.pix {
					if v != src.pix[i%4] {
						t.Fatalf("%d samples, %+v: %d", n, s, v)
					}
				}
			}
		}
	}
}

// Three samples at once come out as they do one by one, also where neighbours
// are as far from each other as can be and weights lie below 0.
func TestPackedSamplesComeOutTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	worst := 0
	for round := range 200 {
		n := []int{1, 4}[round%2]
		src := newRaster(1+r.IntN(150), 1+r.IntN(150), n)
		hard := round%3 == 0
		for i := range src.pix {
			src.pix[i] = uint8(r.Uint32())
			if hard {
				src.pix[i] = uint8(int8(src.pix[i]) >> 7) // 0 or 255
			}
			if n == 4 && i%4 == 3 {
				src.pix[i] = 255
			}
		}
		for y := 1; y < src.h; y++ { // some rows are as those above
			if round%4 == 1 && r.IntN(2) == 0 {
				copy(src.row(y), src.row(y-1))
			}
		}
		a := area{r.Float64(), r.Float64(), 0, 0}
		a.w, a.h = float64(src.w)-a.x, float64(src.h)-a.y
		if round%5 == 0 {
			a = area{0, 0, float64(src.w), float64(src.h)}
		}
		s := exactly(1+r.IntN(src.w), 1+r.IntN(src.h))
		down, across := kernel(s.h, s.eh, a.y, a.h, 0, src.h), kernel(s.w, s.ew, a.x, a.w, 0, src.w)
		got, ok := packedResize(src, across, down, s.w)
		if !ok {
			continue
		}
		want := src.horizontal(across).vertical(down)
		for i, v := range want.pix {
			if d := int(got.pix[i]) - int(v); d < -3 || d > 3 {
				t.Fatalf("%d samples, %d x %d of %v in %d x %d: %d, not %d", n, s.w, s.h, a, src.w, src.h, got.pix[i], v)
			} else {
				worst = max(worst, d, -d)
			}
		}
	}
	t.Logf("at most %d apart", worst)
}

// Weights that could carry a sum out of its lane are not packed.
func TestWeightsThatDoNotFitAreLeft(t *testing.T) {
	fits := []taps{{0, []int32{-unit / 16, unit + unit/8, -unit / 16}}}
	wild := []taps{{0, []int32{-unit / 2, 2 * unit, -unit / 2}}}
	if packedKernel(fits) == nil || packedKernel(wild) != nil {
		t.Error("weights are taken for others")
	}
}
