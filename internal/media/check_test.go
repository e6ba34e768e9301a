package media

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"runtime"
	"testing"
)

// tinyWebP is a lossless WebP of one red pixel.
const tinyWebP = "UklGRh4AAABXRUJQVlA4TBEAAAAvAAAAAAfQ//73v/+BiOh/AAA="

func noisy(w, h int) image.Image {
	r := rand.New(rand.NewPCG(1, 2))
	img := image.NewPaletted(image.Rect(0, 0, w, h), nil)
	for range 16 {
		img.Palette = append(img.Palette, color.RGBA{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), 255})
	}
	for i := range img.Pix {
		img.Pix[i] = byte(r.IntN(16))
	}
	return img
}

// whole are small files of the kinds that are handed on.
func whole(t testing.TB) map[Kind][]byte {
	t.Helper()
	var p, j, g bytes.Buffer
	img := noisy(37, 23)
	for _, err := range []error{png.Encode(&p, img), jpeg.Encode(&j, img, nil), gif.Encode(&g, img, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := base64.StdEncoding.DecodeString(tinyWebP)
	if err != nil {
		t.Fatal(err)
	}
	return map[Kind][]byte{PNG: p.Bytes(), JPEG: j.Bytes(), GIF: g.Bytes(), WebP: w}
}

func TestCheckTakesWholeFilesAlone(t *testing.T) {
	for kind, b := range whole(t) {
		if err := Check(kind, b); err != nil {
			t.Errorf("%v: %v", kind, err)
		}
		if err := Check(kind, append(bytes.Clone(b), "bytes behind the end"...)); err != nil {
			t.Errorf("%v with bytes behind: %v", kind, err)
		}
		for n := range b {
			var damage *DamageError
			if err := Check(kind, b[:n]); !errors.As(err, &damage) || damage.What == "" {
				t.Errorf("%v: the first %d of %d bytes are taken: %v", kind, n, len(b), err)
			}
		}
	}
}

func TestCheckSeesEveryChangedByteOfAPng(t *testing.T) {
	b := whole(t)[PNG]
	for i := range b {
		c := bytes.Clone(b)
		c[i] ^= 0x20
		if Check(PNG, c) == nil {
			t.Errorf("byte %d was changed", i)
		}
	}
}

func TestInspectReadsSizes(t *testing.T) {
	for kind, b := range whole(t) {
		f, err := Inspect(kind, bytes.NewReader(b), int64(len(b)))
		w, h := 37, 23
		if kind == WebP {
			w, h = 1, 1
		}
		if err != nil || f.Width != w || f.Height != h || f.Orientation != 1 || f.Bytes < int64(w*h) {
			t.Errorf("%v: %+v %v", kind, f, err)
		}
		for n := range min(len(b), 32) { // whatever is missing, it is said
			if f, err := Inspect(kind, bytes.NewReader(b[:n]), int64(n)); err == nil && (kind != GIF || n < 10) && (f.Width != w || f.Height != h) {
				t.Errorf("%v: of %d bytes: %+v", kind, n, f)
			}
		}
	}
}

// exif says how a picture lies, in either byte order.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	mark := "II"
	if order == binary.BigEndian {
		mark = "MM"
	}
	b := order.AppendUint32(order.AppendUint16([]byte(mark), 42), 8)
	b = order.AppendUint16(b, 1)
	b = order.AppendUint32(order.AppendUint16(order.AppendUint16(b, 274), 3), 1)
	b = order.AppendUint16(order.AppendUint16(b, orientation), 0)
	return order.AppendUint32(b, 0)
}

func TestOrientationTurnsTheSize(t *testing.T) {
	files := whole(t)
	for o := uint16(0); o < 10; o++ {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			e := exif(order, o)
			j := append([]byte("\xff\xd8\xff\xe1"), binary.BigEndian.AppendUint16(nil, uint16(len(e)+8))...)
			j = append(append(append(j, "Exif\x00\x00"...), e...), files[JPEG][2:]...)
			chunk := append([]byte("eXIf"), e...)
			p := binary.BigEndian.AppendUint32(bytes.Clone(files[PNG][:33]), uint32(len(e)))
			p = binary.BigEndian.AppendUint32(append(p, chunk...), crc32.ChecksumIEEE(chunk))
			p = append(p, files[PNG][33:]...)
			want := PictureFacts{Width: 37, Height: 23, Orientation: 1}
			if o >= 1 && o <= 8 {
				want.Orientation = int(o)
			}
			if o >= 5 && o <= 8 {
				want.Width, want.Height = 23, 37
			}
			for kind, b := range map[Kind][]byte{JPEG: j, PNG: p} {
				f, err := Inspect(kind, bytes.NewReader(b), int64(len(b)))
				if err != nil || f.Width != want.Width || f.Height != want.Height || f.Orientation != want.Orientation || Check(kind, b) != nil {
					t.Errorf("%v, orientation %d: %+v %v", kind, o, f, err)
				}
			}
		}
	}
}

func TestFramesAreCounted(t *testing.T) {
	g := &gif.GIF{}
	for range 7 {
		g.Image = append(g.Image, noisy(8, 8).(*image.Paletted))
		g.Delay = append(g.Delay, 1)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		t.Fatal(err)
	}
	if n := Frames(GIF, b.Bytes()); n != 7 {
		t.Errorf("%d frames of a GIF", n)
	}
	// Two directories that point at each other.
	tiff := []byte("II*\x00\x08\x00\x00\x00" + "\x00\x00\x0e\x00\x00\x00" + "\x00\x00\x08\x00\x00\x00")
	if n := Frames(TIFF, tiff); n != 2 {
		t.Errorf("%d pages of a TIFF", n)
	}
	// Directories of 65,535 entries that overlap: none is kept.
	const pages, size = 300, 12 * 0xffff
	tiff = append([]byte("II*\x00\x08\x00\x00\x00"), bytes.Repeat([]byte{0xff}, size+4*pages+16)...)
	for i := range pages {
		binary.LittleEndian.PutUint32(tiff[8+4*i+2+size:], uint32(8+4*(i+1)%(4*pages)))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := Frames(TIFF, tiff)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; n != pages || took > 1<<20 {
		t.Errorf("%d pages of a TIFF with %d, %d bytes of memory", n, pages, took)
	}
}

func FuzzInspect(f *testing.F) {
	for kind, b := range whole(f) {
		f.Add(uint8(kind), b)
	}
	f.Add(uint8(TIFF), []byte("II*\x00\x08\x00\x00\x00\x01\x00\x00\x01\x03\x00\x01\x00\x00\x00\x05\x00\x00\x00"))
	f.Add(uint8(ICO), []byte("\x00\x00\x01\x00\x01\x00\x10\x10\x00\x00\x01\x00\x20\x00\x68\x04\x00\x00\x16\x00\x00\x00\x28\x00\x00\x00\x10\x00\x00\x00\x20\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, k uint8, b []byte) {
		kind := Kind(k % uint8(PDF))
		if f, err := Inspect(kind, bytes.NewReader(b), int64(len(b))); err == nil && (f.Width <= 0 || f.Height <= 0 || f.Bytes < 0) {
			t.Errorf("%+v", f)
		}
		Check(kind, b)
		if Frames(kind, b) < 1 {
			t.Error("no frame")
		}
		Orientation(b)
	})
}
