package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/sergeymakinen/go-bmp"
	"github.com/sergeymakinen/go-ico"
	"golang.org/x/image/tiff"
)

// image FILE KIND WIDTHxHEIGHT [noise] [clear] [orientation=N] writes a picture with a
// red top left quarter: png, jpeg, gif, bmp, ico or tiff. Noise cannot be packed. With
// clear, its last column is transparent.
func writeImage(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 3, "image FILE KIND WIDTHxHEIGHT [noise] [clear] [orientation=N]")
	var w, h int
	_, err := fmt.Sscanf(args[2], "%dx%d", &w, &h)
	ts.Check(err)
	orientation := 0
	noise, clear := false, false
	for _, a := range args[3:] {
		if n, ok := strings.CutPrefix(a, "orientation="); ok {
			orientation, err = strconv.Atoi(n)
			ts.Check(err)
		} else {
			noise, clear = noise || a == "noise", clear || a == "clear"
		}
	}
	img := drawn(w, h, noise)
	if clear {
		img.Palette = append(img.Palette, color.Transparent)
		for y := range h {
			img.SetColorIndex(w-1, y, uint8(len(img.Palette)-1))
		}
	}
	var b bytes.Buffer
	ts.Check(encodeAs(&b, args[1], img))
	raw := b.Bytes()
	if orientation > 0 { // of a JPEG
		exif := append([]byte("\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"), byte(orientation), 0, 0, 0, 0, 0, 0)
		raw = append(append([]byte("\xff\xd8"), exif...), raw[2:]...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), raw, 0o666))
}

func drawn(w, h int, noise bool) *image.Paletted {
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.RGBA{220, 20, 20, 255}})
	for i := range 62 {
		img.Palette = append(img.Palette, color.Gray{uint8(i * 4)})
	}
	r := rand.New(rand.NewPCG(1, 2))
	for y := range h {
		for x := range w {
			switch {
			case x < w/2 && y < h/2:
				img.Pix[y*img.Stride+x] = 1
			case noise:
				img.Pix[y*img.Stride+x] = byte(2 + r.IntN(62))
			}
		}
	}
	return img
}

func encodeAs(b *bytes.Buffer, kind string, img *image.Paletted) error {
	switch kind {
	case "png":
		return png.Encode(b, img)
	case "jpeg":
		return jpeg.Encode(b, img, &jpeg.Options{Quality: 95})
	case "gif":
		return gif.Encode(b, img, nil)
	case "bmp":
		return bmp.Encode(b, img)
	case "ico":
		return ico.Encode(b, img)
	case "tiff":
		return tiff.Encode(b, img, nil)
	}
	return fmt.Errorf("no kind of image: %s", kind)
}

// picture [MIME] [WxH] [red=X,Y] [as=FILE] looks at the last answer's one
// image: its type, its size, that it is red there, that it has these bytes.
func (d *driver) picture(ts *testscript.TestScript, neg bool, args []string) {
	var answer struct {
		Content []struct{ Type, Data, MimeType string }
	}
	ts.Check(json.Unmarshal(d.last.Raw, &answer))
	var raw []byte
	mime := ""
	for _, b := range answer.Content {
		if b.Type == "image" {
			var err error
			raw, err = base64.StdEncoding.DecodeString(b.Data)
			ts.Check(err)
			mime = b.MimeType
		}
	}
	img, _, err := image.Decode(bytes.NewReader(raw))
	ts.Check(err)
	size := fmt.Sprintf("%dx%d", img.Bounds().Dx(), img.Bounds().Dy())
	for _, a := range args {
		switch {
		case strings.HasPrefix(a, "red="):
			var x, y int
			_, err := fmt.Sscanf(a, "red=%d,%d", &x, &y)
			ts.Check(err)
			if r, g, _, _ := img.At(x, y).RGBA(); (r < 0xb000 || g > 0x5000) != neg {
				ts.Fatalf("at %d,%d it is %x %x", x, y, r, g)
			}
		case strings.HasPrefix(a, "as="):
			want, err := os.ReadFile(ts.MkAbs(a[3:]))
			ts.Check(err)
			if !bytes.Equal(raw, want) {
				ts.Fatalf("the image is not the bytes of %s", a[3:])
			}
		case a != mime && a != size:
			ts.Fatalf("the image is %s %s, not %s", mime, size, a)
		}
	}
}

// cut FILE N keeps the first N bytes of a file.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "cut FILE N")
	n, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), n))
}
