package raster

import (
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media"
)

// dib is a BMP's second header, of any of its sizes, with what stands behind it.
func dib(size, w, h, bits, packing int, behind ...byte) []byte {
	out := make([]byte, max(size, 40))
	le := binary.LittleEndian
	le.PutUint32(out, uint32(size))
	if size == 12 {
		le.PutUint16(out[4:], uint16(w))
		le.PutUint16(out[6:], uint16(h))
		le.PutUint16(out[8:], 1)
		le.PutUint16(out[10:], uint16(bits))
		return append(out[:12], behind...)
	}
	le.PutUint32(out[4:], uint32(int32(w)))
	le.PutUint32(out[8:], uint32(int32(h)))
	le.PutUint16(out[12:], 1)
	le.PutUint16(out[14:], uint16(bits))
	le.PutUint32(out[16:], uint32(packing))
	return append(out[:size], behind...)
}

// bmpFile is a BMP of that header and these pixels.
func bmpFile(header []byte, pixels ...byte) []byte {
	out := append([]byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), header...)
	binary.LittleEndian.PutUint32(out[10:], uint32(len(out)))
	return append(out, pixels...)
}

// pixels32 are numbers of 32 bits one behind the other.
func pixels32(numbers ...uint32) (out []byte) {
	for _, n := range numbers {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	return out
}

// withMasks puts masks into a header that has room for them.
func withMasks(header []byte, masks ...uint32) []byte {
	copy(header[40:], pixels32(masks...))
	return header
}

// How a BMP's samples are packed.
const (
	bmpPlain   = 0
	bmpRunsOf8 = 1
	bmpRunsOf4 = 2
	bmpMasks   = 3
)

// Every form of BMP is read, or refused as one that is not. All of these show the
// same: red and green above, blue and white below.
func TestBMPsOfEveryForm(t *testing.T) {
	// Rows from below: blue, white; red, green.
	plain24 := []byte{255, 0, 0, 255, 255, 255, 0, 0, 0, 0, 255, 0, 255, 0, 0, 0}
	plain32 := pixels32(0x0000ff, 0xffffff, 0xff0000, 0x00ff00)
	bgr4 := pixels32(0x0000ff, 0xffffff, 0xff0000, 0x00ff00) // a palette
	bgr3 := []byte{255, 0, 0, 255, 255, 255, 0, 0, 255, 0, 255, 0}
	sixteen := func(v ...uint16) (out []byte) {
		for _, n := range v {
			out = binary.LittleEndian.AppendUint16(out, n)
		}
		return out
	}
	hint := dib(40, 2, 2, 24, bmpPlain, bgr4...)
	hint[32] = 4
	few := dib(40, 2, 2, 8, bmpPlain, bgr4...)
	few[32] = 4
	four := append(append([]byte{}, bgr4...), make([]byte, 12*4)...)
	wide := append(append([]byte{}, bgr4...), make([]byte, 252*4)...)
	nowhere := bmpFile(dib(40, 2, 2, 24, bmpPlain), plain24...)
	clear(nowhere[10:14])
	for name, file := range map[string][]byte{
		"24 bits":                   bmpFile(dib(40, 2, 2, 24, bmpPlain), plain24...),
		"the oldest header":         bmpFile(dib(12, 2, 2, 24, 0), plain24...),
		"the oldest, a palette":     bmpFile(dib(12, 2, 2, 4, 0, append(bgr3, make([]byte, 36)...)...), 0x01, 0, 0, 0, 0x23, 0, 0, 0),
		"OS/2's second header":      bmpFile(dib(64, 2, 2, 24, bmpPlain), plain24...),
		"a gap before the pixels":   bmpFile(dib(40, 2, 2, 24, bmpPlain, 1, 2, 3, 4, 5, 6), plain24...),
		"a palette as a hint":       bmpFile(hint, plain24...),
		"no place of the pixels":    nowhere,
		"from above":                bmpFile(dib(40, 2, -2, 24, bmpPlain), append(append([]byte{}, plain24[8:]...), plain24[:8]...)...),
		"4 bytes, the last is 0":    bmpFile(dib(40, 2, 2, 32, bmpPlain), plain32...),
		"4 bytes, newest header":    bmpFile(dib(124, 2, 2, 32, bmpPlain), plain32...),
		"4 bytes, alpha all 0":      bmpFile(withMasks(dib(108, 2, 2, 32, bmpMasks), 0xff0000, 0xff00, 0xff, 0xff000000), plain32...),
		"15 bits":                   bmpFile(dib(40, 2, 2, 16, bmpPlain), sixteen(0x1f, 0x7fff, 0x7c00, 0x3e0)...),
		"16 bits, masks behind":     bmpFile(dib(40, 2, 2, 16, bmpMasks, pixels32(0xf800, 0x7e0, 0x1f)...), sixteen(0x1f, 0xffff, 0xf800, 0x7e0)...),
		"masks in a header of 52":   bmpFile(withMasks(dib(52, 2, 2, 32, bmpMasks), 0xff, 0xff00, 0xff0000), pixels32(0xff0000, 0xffffff, 0xff, 0xff00)...),
		"masks in a header of 56":   bmpFile(withMasks(dib(56, 2, 2, 32, bmpMasks), 0xff00, 0xff0000, 0xff000000, 0xff), pixels32(0xff0000ff, 0xffffffff, 0xffff, 0xff00ff)...),
		"10 bits a colour":          bmpFile(dib(40, 2, 2, 32, bmpMasks, pixels32(0x3ff00000, 0xffc00, 0x3ff)...), pixels32(0x3ff, 0x3fffffff, 0x3ff00000, 0xffc00)...),
		"8 bits, four colours":      bmpFile(few, 0, 1, 0, 0, 2, 3, 0, 0),
		"4 bits":                    bmpFile(dib(40, 2, 2, 4, bmpPlain, four...), 0x01, 0, 0, 0, 0x23, 0, 0, 0),
		"2 bits":                    bmpFile(dib(40, 2, 2, 2, bmpPlain, bgr4...), 0x10, 0, 0, 0, 0xb0, 0, 0, 0),
		"runs":                      bmpFile(dib(40, 2, 2, 8, bmpRunsOf8, wide...), 1, 0, 1, 1, 0, 0, 1, 2, 1, 3, 0, 1),
		"runs, ends of line to end": bmpFile(dib(40, 2, 2, 8, bmpRunsOf8, wide...), 1, 0, 1, 1, 0, 0, 1, 2, 1, 3, 0, 0, 0, 1),
		"runs without an end":       bmpFile(dib(40, 2, 2, 8, bmpRunsOf8, wide...), 1, 0, 1, 1, 0, 0, 1, 2, 1, 3),
		"runs, a jump":              bmpFile(dib(40, 2, 2, 8, bmpRunsOf8, wide...), 0, 2, 1, 0, 1, 1, 0, 0, 1, 2, 1, 3, 0, 1),
		"runs beside the picture":   bmpFile(dib(40, 2, 2, 8, bmpRunsOf8, wide...), 1, 0, 9, 1, 0, 0, 1, 2, 1, 3, 0, 0, 5, 2, 0, 1),
		"runs of 4 bits, one by one": bmpFile(dib(40, 2, 2, 4, bmpRunsOf4, four...),
			2, 0x01, 0, 0, 0, 3, 0x23, 0x30, 0, 1),
	} {
		f := media.PictureFacts{Kind: media.BMP, Width: 2, Height: 2, Orientation: 1}
		p, err := Engine{}.Open(file, f, media.WantedView{Part: media.Rect{Width: 2, Height: 2}, Width: 2, Height: 2})
		if refused := rareBMPs[name]; refused || err != nil {
			var damage *media.DamageError
			if !refused || !errors.As(err, &damage) || !damage.Rare {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		img, err := p.(*picture).scaled(2, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []color.RGBA{{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 255, 255}} {
			if got := color.RGBAModel.Convert(img.At(i%2, i/2)); got != want {
				t.Errorf("%s: pixel %d is %v, want %v", name, i, got, want)
			}
		}
		if !p.Opaque() {
			t.Errorf("%s: it is transparent", name)
		}
		// Cut short, what is left of it is no picture: but for filling and signs of an end.
		for n := range len(file) - 8 {
			if _, err := decodeBMP(file[:n]); err == nil {
				t.Errorf("%s: read although only %d of %d bytes are left", name, n, len(file))
				break
			}
		}
	}
}

// rareBMPs are the forms that the library does not read: they are refused by name.
var rareBMPs = map[string]bool{
	"the oldest header": true, "the oldest, a palette": true, "OS/2's second header": true, "a gap before the pixels": true,
	"a palette as a hint": true, "no place of the pixels": true, "15 bits": true, "16 bits, masks behind": true,
	"masks in a header of 52": true, "masks in a header of 56": true, "10 bits a colour": true,
	"runs": true, "runs, ends of line to end": true, "runs without an end": true, "runs, a jump": true,
	"runs beside the picture": true, "runs of 4 bits, one by one": true,
}

func TestBMPKeepsAnAlphaThatIsUsed(t *testing.T) {
	file := bmpFile(withMasks(dib(108, 2, 1, 32, bmpMasks), 0xff0000, 0xff00, 0xff, 0xff000000), pixels32(0x80ff0000, 0)...)
	img, err := decodeBMP(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := img.(*image.NRGBA).Pix; [8]uint8(got) != [8]uint8{255, 0, 0, 128, 0, 0, 0, 0} {
		t.Error(got)
	}
}

// iconFile is an ICO of these icons.
func iconFile(icons ...[]byte) []byte {
	out := []byte{0, 0, 1, 0, byte(len(icons)), 0}
	at := 6 + 16*len(icons)
	for _, b := range icons {
		out = append(out, 2, 2, 0, 0, 1, 0, 0, 0)
		out = append(out, pixels32(uint32(len(b)), uint32(at))...)
		at += len(b)
	}
	for _, b := range icons {
		out = append(out, b...)
	}
	return out
}

func TestIconsOfEveryForm(t *testing.T) {
	red, none := color.NRGBA{255, 0, 0, 255}, color.NRGBA{}
	redPalette := pixels32(0xff0000, 0x00ff00)
	masked := []byte{0x40, 0, 0, 0, 0x80, 0, 0, 0} // below the right, above the left
	shallow := append(dib(40, 2, 4, 1, bmpPlain, redPalette...), append([]byte{0xc0, 0, 0, 0, 0xc0, 0, 0, 0}, masked...)...)
	deep := append(dib(40, 2, 4, 32, bmpPlain), append(pixels32(0xff0000, 0xff0000, 0xff0000, 0xff0000), masked...)...)
	unmasked := dib(40, 2, 4, 32, bmpPlain, pixels32(0xffff0000, 0, 0, 0xffff0000)...)
	small := append(dib(40, 1, 2, 32, bmpPlain), append(pixels32(0xff00ff00), make([]byte, 4)...)...)
	for name, file := range map[string][]byte{
		"alpha all 0, a mask":       iconFile(deep),
		"alpha, and no mask":        iconFile(unmasked),
		"the largest":               iconFile(small, deep, small),
		"of the largest the deeper": iconFile(shallow, deep),
		"and whatever comes behind": iconFile(deep, shallow),
	} {
		img, err := largestIcon(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, want := range []color.NRGBA{none, red, red, none} {
			if got := img.At(i%2, i/2); got != want {
				t.Errorf("%s: pixel %d is %v, want %v", name, i, got, want)
			}
		}
	}
	for n := range len(iconFile(shallow)) {
		if _, err := largestIcon(iconFile(shallow)[:n]); err == nil {
			t.Errorf("read although only %d bytes are left", n)
		}
	}
}
