package goengine

import "testing"

// A flat picture stays flat, at any size.
func TestResamplingKeepsAFlatPictureFlat(t *testing.T) {
	for _, n := range []int{1, 4} {
		src := newRaster(97, 61, n)
		for i := range src.pix {
			src.pix[i] = 200
		}
		for _, s := range []size{exactly(97, 61), exactly(50, 31), exactly(13, 7), exactly(1, 1), {48, 30, 47.5, 30}, exactly(200, 100)} {
			out := resample(src, area{0, 0, 97, 61}, s)
			for _, v := range out.pix {
				if v != 200 {
					t.Fatalf("%d samples, %+v: %d", n, s, v)
				}
			}
		}
	}
}
