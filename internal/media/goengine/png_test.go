package goengine

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zlib"

	"github.com/fsmcp/fsmcp/internal/media"
)

// chunked is a PNG of rows with their filters, its data in pieces of so many bytes.
func chunked(w, h int, colour byte, rows []byte, piece int) []byte {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(rows)
	z.Close()
	out := []byte("\x89PNG\r\n\x1a\n")
	chunk := func(name string, b []byte) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(b)))
		at := len(out)
		out = append(append(out, name...), b...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[at:]))
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(w))
	chunk("IHDR", append(binary.BigEndian.AppendUint32(head, uint32(h)), 8, colour, 0, 0, 0))
	for b := packed.Bytes(); len(b) > 0; b = b[min(piece, len(b)):] {
		chunk("IDAT", b[:min(piece, len(b))])
	}
	chunk("IEND", nil)
	return out
}

// Whatever filters its rows have, a PNG is read as the library reads it.
func TestPNGsAreReadAsTheLibraryDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for round := range 300 {
		samples := []int{1, 3, 4}[round%3]
		w, h := 1+r.IntN(70), 1+r.IntN(70)
		if round%50 == 0 {
			w, h = 700, 900 // many blocks of rows
		}
		var rows []byte
		for range h {
			rows = append(rows, byte(r.IntN(5)))
			for i := range w * samples {
				v := byte(r.Uint32())
				if samples == 4 && i%4 == 3 && round%2 == 0 {
					v = 0 // as filters go, alpha may become anything
				}
				rows = append(rows, v)
			}
		}
		b := chunked(w, h, map[int]byte{1: 0, 3: 2, 4: 6}[samples], rows, 1+r.IntN(3000))
		img, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		part := image.Rect(r.IntN(w), r.IntN(h), w, h)
		want, _, wantOpaque := rasterOf(img, part)
		got, opaque, err := readPNG(b, w, h, part)
		if err != nil || opaque != wantOpaque || got.w != want.w || got.h != want.h {
			t.Fatalf("%d samples, %d x %d: %v, opaque %v", samples, w, h, err, opaque)
		}
		for y := range want.h {
			if !bytes.Equal(got.row(y), want.row(y)) {
				t.Fatalf("%d samples, %d x %d: row %d differs", samples, w, h, y)
			}
		}
	}
}

// What is rare, damaged, too short or too long is left to the library: a picture
// is never made of a part.
func TestOtherPNGsAreLeftToTheLibrary(t *testing.T) {
	rows := bytes.Repeat(append([]byte{1}, make([]byte, 30)...), 20)
	whole := image.Rect(0, 0, 10, 20)
	good := chunked(10, 20, 2, rows, 1000)
	if _, _, err := readPNG(good, 10, 20, whole); err != nil {
		t.Fatal(err)
	}
	wrong := bytes.Clone(rows)
	wrong[31] = 9
	sum := bytes.Clone(good)
	sum[len(sum)-12-4-1] ^= 1 // of the data
	short := good[:len(good)-14]
	var deep bytes.Buffer
	if err := png.Encode(&deep, image.NewNRGBA64(image.Rect(0, 0, 10, 20))); err != nil {
		t.Fatal(err)
	}
	var few bytes.Buffer
	if err := png.Encode(&few, image.NewPaletted(image.Rect(0, 0, 10, 20), color.Palette{color.Black, color.White})); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"a filter that there is not": chunked(10, 20, 2, wrong, 1000),
		"a row too few":              chunked(10, 20, 2, rows[31:], 1000),
		"a row too many":             chunked(10, 20, 2, append(bytes.Clone(rows), rows[:31]...), 1000),
		"half a row too few":         chunked(10, 20, 2, rows[:len(rows)-15], 1000),
		"a wrong checksum":           sum, "no end": short, "16 bits": deep.Bytes(), "a palette": few.Bytes(), "nothing": nil,
	} {
		if _, _, err := readPNG(b, 10, 20, whole); err == nil {
			t.Errorf("%s: it was read", name)
		}
	}
	for name, b := range map[string][]byte{"a row too few": chunked(10, 20, 2, rows[31:], 1000), "a filter that there is not": chunked(10, 20, 2, wrong, 1000)} {
		if p, err := (Engine{}).Open(b, media.Facts{Kind: media.PNG, Width: 10, Height: 20, Orientation: 1}, media.View{Part: media.Rect{Width: 10, Height: 20}, Width: 10, Height: 20}); err == nil {
			t.Errorf("%s: %v", name, p)
		}
	}
}
