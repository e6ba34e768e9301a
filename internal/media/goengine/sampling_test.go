package goengine

import (
	"bytes"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media"
)

// A JPEG may have samples of one colour closer together than those of another, or
// than those of brightness: the picture is the same, however they are.
func TestColoursSampledUnlikeOneAnother(t *testing.T) {
	shown := func(name string, side int) []uint8 {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		limits := media.DefaultLimits()
		limits.Side = side
		r, err := media.Develop(Engine{}, data, media.Request{Kind: media.JPEG, Region: &media.Rect{Width: 61, Height: 43}, Limits: limits, Bounds: media.DefaultBounds()})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		img, err := jpeg.Decode(bytes.NewReader(r.Data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return asRGBA(img).Pix
	}
	names, _ := filepath.Glob("testdata/sampled_*.jpg")
	if len(names) != 4 {
		t.Fatal(names)
	}
	for _, side := range []int{2000, 61, 40, 17} {
		even := shown("testdata/sampled_even.jpg", side)
		for _, name := range names {
			sum := 0
			for i, v := range shown(name, side) {
				sum += max(int(v)-int(even[i]), int(even[i])-int(v))
			}
			if mean := float64(sum) / float64(len(even)); mean > 4 {
				t.Errorf("%s at %d: colours are off by %.1f in the mean", name, side, mean)
			}
		}
	}
}
