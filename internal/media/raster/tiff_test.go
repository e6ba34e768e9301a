package raster

import (
	"bytes"
	"errors"
	"image/png"
	"os"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media"
)

// shownTIFF returns the pixels that are shown of a file of testdata.
func shownTIFF(t *testing.T, name string) ([]uint8, error) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := media.Fit(Engine{}, data, media.Request{Kind: media.TIFF, Limits: media.DefaultLimits(), Bounds: media.DefaultBounds()})
	if err != nil {
		return nil, err
	}
	img, err := png.Decode(bytes.NewReader(r.Data))
	if err != nil {
		t.Fatal(err)
	}
	return asRGBA(img).Pix, nil
}

// A page is packed as by a fax machine, or not, and black may be 0 or 1: it is the same
// page.
func TestFaxesAreNoNegatives(t *testing.T) {
	want, err := shownTIFF(t, "page_plain.tif")
	if err != nil {
		t.Fatal(err)
	}
	dark := 0
	for i := 0; i < len(want); i += 4 {
		if want[i] < 128 {
			dark++
		}
	}
	if dark == 0 || dark > len(want)/8 {
		t.Fatalf("%d dark pixels of %d", dark, len(want)/4)
	}
	for _, name := range []string{"page_fax4_black0.tif", "page_fax4_white0.tif", "page_fax3_black0.tif", "page_fax4_reversed.tif"} {
		if got, err := shownTIFF(t, name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, %d bytes", name, err, len(got))
		}
	}
}

func TestTIFFsOfRareLayoutsAreRefusedAsRare(t *testing.T) {
	for _, name := range []string{"rare_apart.tif", "rare_reversed.tif", "rare_fax3_filled.tif"} {
		_, err := shownTIFF(t, name)
		var damage *media.DamageError
		if !errors.As(err, &damage) || !damage.Rare {
			t.Errorf("%s: %v", name, err)
		}
	}
}
