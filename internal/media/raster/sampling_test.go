package raster

import (
	"bytes"
	"errors"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media"
)

// What is not damaged but is not decoded either is told as that.
func TestRareIsNotDamaged(t *testing.T) {
	even, err := os.ReadFile("testdata/sampled_even.jpg")
	if err != nil {
		t.Fatal(err)
	}
	frame := bytes.Index(even, []byte{0xff, 0xc0})
	arithmetic, deep := bytes.Clone(even), bytes.Clone(even)
	arithmetic[frame+1] = 0xc9
	deep[frame+4] = 12
	for name, c := range map[string]struct {
		kind media.Kind
		file []byte
		rare bool
	}{
		"an arithmetic JPEG":    {media.JPEG, arithmetic, true},
		"a JPEG of 12 bits":     {media.JPEG, deep, true},
		"a JPEG in a BMP":       {media.BMP, bmpFile(dib(40, 61, 43, 0, 4), even...), true},
		"a JPEG that ends soon": {media.JPEG, even[:len(even)-20], false},
	} {
		_, err := media.Fit(Engine{}, c.file, media.Request{Kind: c.kind, Limits: media.DefaultLimits(), Bounds: media.DefaultBounds()})
		var damage *media.DamageError
		if !errors.As(err, &damage) || damage.Rare != c.rare {
			t.Errorf("%s: %v", name, err)
		}
	}
}

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
		r, err := media.Fit(Engine{}, data, media.Request{Kind: media.JPEG, Region: &media.Rect{Width: 61, Height: 43}, Limits: limits, Bounds: media.DefaultBounds()})
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
