package raster

import (
	"bytes"
	"image"
	"image/draw"
	"image/jpeg"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/quickjpeg"
)

// A JPEG that is encoded in halves has the very pixels of one that is not, and is bounded
// alike.
func TestHalvesOfJPEGs(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	split := 0
	for i := range 24 {
		at := image.Rect(0, 0, 1+r.IntN(900), 1+r.IntN(900))
		colours := image.NewRGBA(at)
		for k := range colours.Pix {
			colours.Pix[k] = uint8(k/4>>6) + uint8(r.Uint32()&15)
		}
		var img image.Image = colours
		switch i % 3 {
		case 1:
			gray := image.NewGray(at)
			draw.Draw(gray, at, colours, image.Point{}, draw.Src)
			img = gray
		case 2:
			var b bytes.Buffer
			if err := jpeg.Encode(&b, colours, nil); err != nil {
				t.Fatal(err)
			}
			var err error
			if img, err = jpeg.Decode(&b); err != nil {
				t.Fatal(err)
			}
		}
		var want bytes.Buffer
		if err := quickjpeg.Encode(&want, img, 80); err != nil {
			t.Fatal(err)
		}
		var most atomic.Int64
		got, err := encodeJPEG(img, 80, &most)
		if err != nil || media.Check(media.JPEG, got) != nil {
			t.Fatal(err)
		}
		if len(got) != want.Len() {
			split++
		}

		a, errA := jpeg.Decode(bytes.NewReader(got))
		b, errB := jpeg.Decode(&want)
		if errA != nil || errB != nil || !bytes.Equal(asRGBA(a).Pix, asRGBA(b).Pix) {
			t.Fatalf("%T of %v: other pixels, or %v, %v", img, at, errA, errB)
		}
		most.Store(int64(len(got)))
		if _, err := encodeJPEG(img, 80, &most); err != nil {
			t.Errorf("%T of %v, of as many bytes as it may have: %v", img, at, err)
		}
		most.Add(-1)
		if _, err := encodeJPEG(img, 80, &most); err != media.ErrLonger {
			t.Errorf("%T of %v, a byte too long: %v", img, at, err)
		}
	}
	if split < 5 {
		t.Errorf("%d were encoded in halves", split)
	}
}
