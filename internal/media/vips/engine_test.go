//go:build vips && cgo

package vips

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/enginetest"
	"github.com/fsmcp/fsmcp/internal/media/raster"
)

func TestEngine(t *testing.T) {
	enginetest.Run(t, New())
}

// sampleSize is the size of the samples. They have a red square from (24, 16) to
// (48, 48) on a ground that is (40, 120, 120) in the upper left corner.
var sampleSize = image.Pt(96, 64)

// sample returns the picture as a file, written by libvips' own program, which
// operation and arguments tell what to do with it.
func sample(t *testing.T, name string, command ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath("vips"); err != nil {
		t.Skip("!!! NOT TESTED: vips is missing !!!")
	}
	img := image.NewRGBA(image.Rectangle{Max: sampleSize})
	for y := range sampleSize.Y {
		for x := range sampleSize.X {
			c := color.RGBA{40, uint8(120 + 80*x/sampleSize.X), uint8(120 + 80*y/sampleSize.Y), 255}
			if image.Pt(x, y).In(image.Rect(24, 16, 48, 48)) {
				c = color.RGBA{250, 20, 20, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in.png"), b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return written(t, dir, name, command...)
}

// written is in.png of a folder as another file, written by libvips' own program.
func written(t *testing.T, dir, name string, command ...string) []byte {
	t.Helper()
	cmd := exec.Command("vips", append([]string{command[0], "in.png", name}, command[1:]...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("!!! NOT TESTED: this libvips does not write %s: %s !!!", name, out)
	}
	names, err := filepath.Glob(filepath.Join(dir, "out.*"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	if out, err := exec.Command("vips", "avg", names[0]).CombinedOutput(); err != nil {
		t.Skipf("!!! NOT TESTED: this libvips does not read %s: %s !!!", name, out)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Of each kind that libvips is there for, a real file is refused by the engine
// without C, in a way that names libvips, and shown by this one.
func TestWhatOnlyLibvipsReads(t *testing.T) {
	arithmetic, err := os.ReadFile("testdata/arithmetic.jpg")
	if err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(*testing.T) []byte{
		"HEIC":                    func(t *testing.T) []byte { return sample(t, "out.heic", "copy") },
		"AVIF":                    func(t *testing.T) []byte { return sample(t, "out.avif[Q=90]", "copy") },
		"TIFF in CMYK":            func(t *testing.T) []byte { return sample(t, "out.tif", "icc_export", "--output-profile", "cmyk") },
		"TIFF packed as JPEG":     func(t *testing.T) []byte { return sample(t, "out.tif[compression=jpeg,Q=95]", "copy") },
		"TIFF packed as JPEG2000": func(t *testing.T) []byte { return sample(t, "out.tif[compression=jp2k,lossless]", "copy") },
		"arithmetic JPEG":         func(*testing.T) []byte { return arithmetic },
	} {
		t.Run(name, func(t *testing.T) {
			data := make(t)
			kind := media.Sniff(data, "")
			request := media.Request{Kind: kind, Limits: media.Limits{Side: 90, Bytes: 1 << 20, Tokens: 1 << 20}, Bounds: media.DefaultBounds()}
			var refused *media.DamageError
			if _, err := media.Fit(raster.Engine{}, data, request); !errors.As(err, &refused) || !refused.Rare || !refused.ForVips {
				t.Errorf("without libvips: %v", err)
			}
			r, err := media.Fit(New(), data, request)
			if err != nil {
				t.Fatal(err)
			}
			if r.Shown.Width != sampleSize.X || r.Shown.Height != sampleSize.Y || r.Shown.DisplayWidth != 90 || r.Shown.DisplayHeight != 60 {
				t.Errorf("%+v", r.Shown)
			}
			if r.Approximate {
				t.Error("its colours are said to be approximate")
			}
			wantColour(t, r, image.Pt(34, 30), color.RGBA{250, 20, 20, 255})
			wantColour(t, r, image.Pt(2, 2), color.RGBA{40, 122, 122, 255})
			cutShort(t, kind, data, request)
		})
	}
}

// wantColour checks one pixel of what is shown, within the loss of lossy files and of
// the colours that printers have.
func wantColour(t *testing.T, r media.FittedPicture, at image.Point, want color.RGBA) {
	t.Helper()
	decode := map[media.Kind]func([]byte) (image.Image, error){
		media.PNG:  func(b []byte) (image.Image, error) { return png.Decode(bytes.NewReader(b)) },
		media.JPEG: func(b []byte) (image.Image, error) { return jpeg.Decode(bytes.NewReader(b)) },
	}[r.As]
	img, err := decode(r.Data)
	if err != nil {
		t.Fatal(err)
	}
	got := color.RGBAModel.Convert(img.At(at.X, at.Y)).(color.RGBA)
	for _, d := range []int{int(got.R) - int(want.R), int(got.G) - int(want.G), int(got.B) - int(want.B)} {
		if max(d, -d) > 40 {
			t.Errorf("%v is %v, want %v", at, got, want)
			return
		}
	}
}

// cutShort checks that no part of a file is shown as the whole. One that lacks its
// profile alone is shown in approximate colours.
func cutShort(t *testing.T, kind media.Kind, data []byte, q media.Request) {
	t.Helper()
	for n := 0; n < len(data)-8; n += 1 + len(data)/20 {
		if r, err := media.Fit(New(), data[:n], q); err == nil && !r.Approximate {
			t.Errorf("of %d of %d bytes of a %s: %+v", n, len(data), kind, r.Shown)
		}
	}
}

// A JPEG of 12 bits a sample is read where libvips can, else refused as one of a rare
// form. Ours has one block of one colour.
func TestTwelveBits(t *testing.T) {
	data := []byte("\xff\xd8")
	segment := func(marker byte, body string) {
		data = append(data, 0xff, marker, byte((len(body)+2)>>8), byte(len(body)+2))
		data = append(data, body...)
	}
	segment(0xdb, "\x00"+string(bytes.Repeat([]byte{1}, 64)))
	segment(0xc1, "\x0c\x00\x08\x00\x08\x01\x01\x11\x00")
	segment(0xc4, "\x00\x01"+string(make([]byte, 15))+"\x00")
	segment(0xc4, "\x10\x01"+string(make([]byte, 15))+"\x00")
	segment(0xda, "\x01\x01\x00\x00\x3f\x00")
	data = append(data, 0x3f, 0xff, 0xd9) // no difference, no more, filling
	q := media.Request{Kind: media.JPEG, Limits: media.DefaultLimits(), Bounds: media.DefaultBounds()}
	_, err := media.Fit(New(), data, q)
	var refused *media.DamageError
	if err != nil && (!errors.As(err, &refused) || !refused.Rare || refused.ForVips) {
		t.Error(err)
	}
	fmt.Println("a JPEG of 12 bits, libvips", Version(), "says:", err)
}
