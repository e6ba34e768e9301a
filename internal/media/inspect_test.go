package media

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// What is sound but not decoded is known from damage by the header alone.
func TestRareHeadersAreNoDamage(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		file string
		rare bool
	}{
		{TIFF, "II+\x00\x08\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00", true},
		{TIFF, "II*\x00\x10\x00\x00\x00", false},
		{JPEG, "\xff\xd8\xff\xc0\x00\x0b\x08\x00\x00\x00\x1e\x01\x01\x11\x00\xff\xda\x00\x02", true}, // so high as is said at its end
		{JPEG, "\xff\xd8\xff\xc0\x00\x0b\x08\x00\x14\x00\x00\x01\x01\x11\x00\xff\xda\x00\x02", false},
	} {
		_, err := Inspect(c.kind, strings.NewReader(c.file), int64(len(c.file)))
		var damage *DamageError
		if !errors.As(err, &damage) || damage.Rare != c.rare {
			t.Errorf("%q: %v", c.file, err)
		}
	}
}

// Of several EXIF segments of a JPEG the first counts, as for other programs: they
// lay the picture by it.
func TestTheFirstOrientationCounts(t *testing.T) {
	says := func(orientation byte) string {
		return "\xff\xe1\x00\x22Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string([]byte{orientation}) + "\x00\x00\x00\x00\x00\x00"
	}
	frame := "\xff\xc0\x00\x0b\x08\x00\x14\x00\x1e\x01\x01\x11\x00\xff\xda"
	for both, want := range map[[2]byte]int{{6, 1}: 6, {1, 6}: 1, {3, 8}: 3} {
		b := []byte("\xff\xd8" + says(both[0]) + says(both[1]) + frame + "\x00\x02")
		f, err := Inspect(JPEG, bytes.NewReader(b), int64(len(b)))
		if err != nil || f.Orientation != want || (want == 6) != (f.Width == 20) {
			t.Errorf("%v: %+v %v", both, f, err)
		}
	}
}
