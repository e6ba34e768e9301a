package scaledjpeg

import (
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

func files(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*.jpg")
	if err != nil || len(names) < 7 {
		t.Fatal(names, err)
	}
	out := map[string][]byte{}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(name)] = b
	}
	return out
}

var everything = image.Rect(0, 0, 1<<16, 1<<16)

// reference are the planes of the standard library's decoder.
func reference(t *testing.T, b []byte) (planes [][]uint8, strides []int) {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	switch m := img.(type) {
	case *image.YCbCr:
		return [][]uint8{m.Y, m.Cb, m.Cr}, []int{m.YStride, m.CStride, m.CStride}
	case *image.Gray:
		return [][]uint8{m.Pix}, []int{m.Stride}
	}
	return nil, nil
}

func TestWholeSizeEqualsTheStandardLibrary(t *testing.T) {
	for name, b := range files(t) {
		img, err := Decode(b, 1, everything)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		planes, strides := reference(t, b)
		if planes == nil { // of CMYK it hands over other numbers
			if img.Model != CMYK && img.Model != YCCK || len(img.Planes) != 4 {
				t.Errorf("%s: model %d, %d planes", name, img.Model, len(img.Planes))
			}
			continue
		}
		if len(planes) != len(img.Planes) {
			t.Errorf("%s: %d planes", name, len(img.Planes))
			continue
		}
		worst := 0
		for i, p := range img.Planes {
			for y := range p.Height {
				for x := range p.Width {
					d := int(p.Pix[y*p.Stride+x]) - int(planes[i][y*strides[i]+x])
					worst = max(worst, d, -d)
				}
			}
		}
		if p := img.Planes[0]; worst > 2 || p.Width != 203 || p.Height != 149 {
			t.Errorf("%s: %dx%d, %d off", name, p.Width, p.Height, worst)
		}
	}
}

// What files say of their colours is understood as everybody does, also where it
// contradicts itself.
func TestColoursAreThoseOfTheStandardLibrary(t *testing.T) {
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, image.NewRGBA(image.Rect(0, 0, 16, 16)), nil); err != nil {
		t.Fatal(err)
	}
	segment := func(marker byte, data string) string {
		return string([]byte{0xff, marker, 0, byte(len(data) + 2)}) + data
	}
	jfif := segment(0xe0, "JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00")
	adobe := func(transform string) string { return segment(0xee, "Adobe\x00\x64\x00\x00\x00\x00"+transform) }
	for _, said := range []string{"", jfif, adobe("\x00"), adobe("\x01"), adobe("\x02"), jfif + adobe("\x00"), jfif + adobe("\x01"), adobe("\x00") + jfif} {
		b := []byte(plain.String()[:2] + said + plain.String()[2:])
		want, err := jpeg.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		_, ycc := want.(*image.YCbCr)
		got, err := Decode(b, 1, everything)
		if err != nil || (got.Model == YCbCr) != ycc {
			t.Errorf("%q: model %d, in the standard library %T: %v", said, got.Model, want, err)
		}
	}
}

// TestScaledIsTheMeanOfThePixels: a sample of a smaller picture is, but for high
// frequencies, the mean of the pixels it stands for.
func TestScaledIsTheMeanOfThePixels(t *testing.T) {
	for name, b := range files(t) {
		full, err := Decode(b, 1, everything)
		if err != nil {
			t.Fatal(err)
		}
		for _, scale := range []int{2, 4, 8} {
			img, err := Decode(b, scale, everything)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range img.Planes {
				f := full.Planes[i]
				if p.PerX != f.PerX*float64(scale) || p.Width != ceil(f.Width, scale) || p.Height != ceil(f.Height, scale) {
					t.Errorf("%s at 1/%d: plane %d has %dx%d of %dx%d", name, scale, i, p.Width, p.Height, f.Width, f.Height)
				}
				sum, n := 0, 0
				for y := range f.Height / scale {
					for x := range f.Width / scale {
						mean := 0
						for dy := range scale {
							for dx := range scale {
								mean += int(f.Pix[(y*scale+dy)*f.Stride+x*scale+dx])
							}
						}
						d := int(p.Pix[y*p.Stride+x]) - mean/(scale*scale)
						sum += d * d
						n++
					}
				}
				if mse := float64(sum) / float64(n); mse > 30 {
					t.Errorf("%s at 1/%d: plane %d is %.1f off the means", name, scale, i, mse)
				}
			}
		}
	}
}

func TestAPartIsThatPartOfTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, b := range files(t) {
		for _, scale := range []int{1, 2, 4, 8} {
			full, err := Decode(b, scale, everything)
			if err != nil {
				t.Fatal(err)
			}
			for range 10 {
				x, y := r.IntN(200), r.IntN(140)
				img, err := Decode(b, scale, image.Rect(x, y, x+1+r.IntN(60), y+1+r.IntN(60)))
				if err != nil {
					t.Fatal(err)
				}
				for i, p := range img.Planes {
					f := full.Planes[i]
					if float64(p.X)*p.PerX > float64(x) || float64(p.Y)*p.PerY > float64(y) {
						t.Fatalf("%s: the window at %d,%d begins at %d,%d", name, x, y, p.X, p.Y)
					}
					for dy := range p.Height {
						if !bytes.Equal(p.Pix[dy*p.Stride:][:p.Width], f.Pix[(p.Y+dy)*f.Stride+p.X:][:p.Width]) {
							t.Fatalf("%s at 1/%d: row %d of the window is another", name, scale, dy)
						}
					}
				}
			}
		}
	}
}

func TestAFileCutShortIsAnError(t *testing.T) {
	step := 37 * shortrun.Step(t, 8, "lengths that are tried every day")
	for name, b := range files(t) {
		for n := 0; n < len(b)-1; n += step {
			if _, err := Decode(b[:n], 2, everything); err == nil {
				t.Errorf("%s: %d of %d bytes were decoded", name, n, len(b))
			}
			// Also if it was closed before.
			if n > 700 && n < len(b)-100 {
				if _, err := Decode(append(bytes.Clone(b[:n]), 0xff, 0xd9), 2, everything); err == nil {
					t.Errorf("%s: %d of %d bytes with an end were decoded", name, n, len(b))
				}
			}
		}
	}
}

// small tells whether the header names no more pixels than a test has room for:
// bounds are the caller's.
func small(b []byte) bool {
	c, err := jpeg.DecodeConfig(bytes.NewReader(b))
	return err == nil && c.Width*c.Height < 1<<18
}

func FuzzDecode(f *testing.F) {
	for _, b := range files(f) {
		f.Add(b, 1)
	}
	f.Fuzz(func(t *testing.T, b []byte, scale int) {
		if len(b) > 1<<16 || !small(b) {
			return
		}
		img, err := Decode(b, 1<<(scale&3), everything)
		if err == nil && len(img.Planes) == 0 {
			t.Error("no planes")
		}
	})
}

// TestMutatedFiles: whatever is changed, there is an answer.
func TestMutatedFiles(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, b := range files(t) {
		for range 100 {
			c := bytes.Clone(b)
			for range 1 + r.IntN(4) {
				c[r.IntN(len(c))] = byte(r.Uint32())
			}
			if small(c) {
				Decode(c, 1<<r.IntN(4), image.Rect(0, 0, 64, 64))
			}
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	img := image.NewYCbCr(image.Rect(0, 0, 3000, 2000), image.YCbCrSubsampleRatio420)
	r := rand.New(rand.NewPCG(1, 2))
	for y := range 2000 {
		for x := range 3000 {
			img.Y[y*img.YStride+x] = byte(128 + (x*y/700)%60 + r.IntN(16))
		}
	}
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: 85}); err != nil {
		b.Fatal(err)
	}
	b.Run("standard", func(b *testing.B) {
		for b.Loop() {
			jpeg.Decode(bytes.NewReader(buf.Bytes()))
		}
	})
	for _, scale := range []int{1, 2, 4, 8} {
		b.Run(string('0'+rune(scale)), func(b *testing.B) {
			for b.Loop() {
				if _, err := Decode(buf.Bytes(), scale, everything); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Headers and Decode find the same profile, and the same parts missing.
func TestHeaders(t *testing.T) {
	names, err := filepath.Glob("testdata/*.jpg")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Decode(data, 8, image.Rect(0, 0, 8, 8))
		if err != nil {
			t.Fatal(name, err)
		}
		if profile, err := Headers(data); err != nil || !bytes.Equal(profile, whole.Profile) {
			t.Errorf("%s: a profile of %d bytes, want %d: %v", name, len(profile), len(whole.Profile), err)
		}
		// With all from one marker on left out, and an end.
		for at := 2; at+1 < len(data)-2; at++ {
			if data[at] != 0xff || data[at+1] == 0 || data[at+1] >= 0xd0 && data[at+1] <= 0xd7 {
				continue
			}
			cut := append(bytes.Clone(data[:at]), 0xff, 0xd9)
			_, want := Decode(cut, 8, image.Rect(0, 0, 8, 8))
			if _, err := Headers(cut); !errors.Is(err, want) {
				t.Errorf("%s, up to its marker %x at %d: %v, want %v", name, data[at+1], at, err, want)
			}
		}
	}
}
