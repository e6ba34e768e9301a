package quickjpeg

import (
	"bytes"
	"errors"
	"image"
	"image/draw"
	"image/jpeg"
	"math/rand/v2"
	"testing"
)

// picture has smooth parts, noise, edges and areas of one colour.
func picture(r *rand.Rand, w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			p := img.Pix[y*img.Stride+4*x:][:4:4]
			switch (x/24 + y/40) % 4 {
			case 0:
				copy(p, []uint8{uint8(x), uint8(y), uint8(x + y), 255})
			case 1:
				copy(p, []uint8{uint8(r.Uint32()), uint8(r.Uint32()), uint8(r.Uint32()), 255})
			case 2:
				copy(p, []uint8{uint8(x / 3 % 2 * 255), 0, uint8(y / 5 % 2 * 255), 255})
			default:
				copy(p, []uint8{255, 255, 255, 255})
			}
		}
	}
	return img
}

// A picture has the header and the size of one that image/jpeg encodes, and is as near to the
// original.
func TestAsTheStandardLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var off, size [2]float64
	for i := range 120 {
		whole := picture(r, 1+r.IntN(130), 1+r.IntN(130))
		at := image.Rect(r.IntN(whole.Rect.Dx()), r.IntN(whole.Rect.Dy()), whole.Rect.Dx(), whole.Rect.Dy())
		var img image.Image = whole.SubImage(at)
		if i%3 == 0 {
			gray := image.NewGray(whole.Rect)
			draw.Draw(gray, whole.Rect, whole, image.Point{}, draw.Src)
			img = gray.SubImage(at)
		}
		quality := 1 + r.IntN(100)
		var own, theirs bytes.Buffer
		if err := Encode(&own, img, quality); err != nil {
			t.Fatal(err)
		}
		if err := jpeg.Encode(&theirs, img, &jpeg.Options{Quality: quality}); err != nil {
			t.Fatal(err)
		}
		if header := bytes.Index(theirs.Bytes(), []byte{0xff, 0xda}); !bytes.HasPrefix(own.Bytes(), theirs.Bytes()[:header]) {
			t.Fatalf("%v: another header", at)
		}
		a, b := errorOf(t, img, own.Bytes()), errorOf(t, img, theirs.Bytes())
		if a > b*1.1+0.1 { // where a narrow picture is filled up to a block, they differ
			t.Errorf("%T %v, quality %d: %.3f off, %.3f by image/jpeg", img, at, quality, a, b)
		}
		off[0], off[1] = off[0]+a, off[1]+b
		size[0], size[1] = size[0]+float64(own.Len()), size[1]+float64(theirs.Len())
	}
	if off[0] > off[1]*1.005 || size[0] > size[1]*1.005 {
		t.Errorf("in all %.0f off and %.0f bytes, by image/jpeg %.0f off and %.0f bytes", off[0], size[0], off[1], size[1])
	}
}

// errorOf is the mean square of what a JPEG is off from its original.
func errorOf(t *testing.T, img image.Image, file []byte) float64 {
	t.Helper()
	m, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil || m.Bounds().Size() != img.Bounds().Size() {
		t.Fatal(err)
	}
	at := img.Bounds()
	a, b := image.NewRGBA(image.Rectangle{Max: at.Size()}), image.NewRGBA(image.Rectangle{Max: at.Size()})
	draw.Draw(a, a.Rect, img, at.Min, draw.Src)
	draw.Draw(b, b.Rect, m, image.Point{}, draw.Src)
	sum := 0.0
	for i := range a.Pix {
		d := float64(a.Pix[i]) - float64(b.Pix[i])
		sum += d * d
	}
	return sum / float64(len(a.Pix))
}

type full struct{ room int }

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// The writer's error ends the encoding. Pictures of other forms are those of image/jpeg.
func TestErrorsAndOtherForms(t *testing.T) {
	img := picture(rand.New(rand.NewPCG(3, 4)), 200, 200)
	if err := Encode(&full{1000}, img, 80); err != errFull {
		t.Error(err)
	}
	other := image.NewNRGBA(img.Rect)
	draw.Draw(other, other.Rect, img, image.Point{}, draw.Src)
	var own, theirs bytes.Buffer
	if Encode(&own, other, 80) != nil || jpeg.Encode(&theirs, other, &jpeg.Options{Quality: 80}) != nil || !bytes.Equal(own.Bytes(), theirs.Bytes()) {
		t.Error("another file")
	}
	if err := Encode(&own, image.NewRGBA(image.Rectangle{}), 80); err != nil {
		t.Log(err) // as image/jpeg has it
	}
}
