package raster

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/enginetest"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// flat is a JPEG of 8 x 8 pixels of one colour in four planes, with Adobe's marker
// where transform is not negative.
func flat(planes [4]uint8, transform int) []byte {
	b := []byte("\xff\xd8")
	segment := func(marker byte, body string) {
		b = append(b, 0xff, marker)
		b = binary.BigEndian.AppendUint16(b, uint16(len(body)+2))
		b = append(b, body...)
	}
	if transform >= 0 {
		segment(0xee, "Adobe\x00\x64\x00\x00\x00\x00"+string(rune(transform)))
	}
	segment(0xdb, "\x00"+string(bytes.Repeat([]byte{1}, 64)))
	segment(0xc0, "\x08\x00\x08\x00\x08\x04\x01\x11\x00\x02\x11\x00\x03\x11\x00\x04\x11\x00")
	segment(0xc4, "\x00\x00\x01\x05\x01\x01\x01\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b")
	segment(0xc4, "\x10\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	segment(0xda, "\x04\x01\x00\x02\x00\x03\x00\x04\x00\x00\x3f\x00")
	bits := ""
	for _, v := range planes {
		dc := 8 * (int(v) - 128)
		size := 0
		for m := max(dc, -dc); m > 0; m >>= 1 {
			size++
		}
		bits += []string{"00", "010", "011", "100", "101", "110", "1110", "11110", "111110", "1111110", "11111110", "111111110"}[size]
		if dc < 0 {
			dc += 1<<size - 1
		}
		if size > 0 {
			bits += fmt.Sprintf("%0*b", size, dc)
		}
		bits += "0" // no more of this block
	}
	for len(bits)%8 != 0 {
		bits += "1"
	}
	for ; bits != ""; bits = bits[8:] {
		var v byte
		fmt.Sscanf(bits[:8], "%b", &v)
		if b = append(b, v); v == 0xff {
			b = append(b, 0)
		}
	}
	return append(b, 0xff, 0xd9)
}

// shown decodes a file as it is shown.
func shown(t *testing.T, data []byte) image.Image {
	t.Helper()
	kind := media.Sniff(data, "")
	f, err := media.Inspect(kind, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Engine{}.Open(data, f, media.WantedView{Part: media.Rect{Width: f.Width, Height: f.Height}, Width: f.Width, Height: f.Height})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Render(media.PictureEncoding{Width: f.Width, Height: f.Height, As: media.PNG})
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func rgb(c color.Color) [3]int {
	v := color.RGBAModel.Convert(c).(color.RGBA)
	return [3]int{int(v.R), int(v.G), int(v.B)}
}

func near(a, b [3]int, by int) bool {
	for i := range a {
		if a[i]-b[i] > by || b[i]-a[i] > by {
			return false
		}
	}
	return true
}

// One colour in the ways that JPEGs have for ink.
func TestInkIsRead(t *testing.T) {
	const c, m, y, k = 200, 40, 90, 30
	want := [3]int{(255 - c) * (255 - k) / 255, (255 - m) * (255 - k) / 255, (255 - y) * (255 - k) / 255}
	ly, cb, cr := color.RGBToYCbCr(c, m, y)
	for name, file := range map[string][]byte{
		"the paper":              flat([4]uint8{255 - c, 255 - m, 255 - y, 255 - k}, -1),
		"Adobe's, the paper":     flat([4]uint8{255 - c, 255 - m, 255 - y, 255 - k}, 0),
		"Adobe's, in YCCK":       flat([4]uint8{ly, cb, cr, 255 - k}, 2),
		"Adobe's, of some other": flat([4]uint8{ly, cb, cr, 255 - k}, 1),
	} {
		if got := rgb(shown(t, file).At(3, 3)); !near(got, want, 3) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		// What libvips takes it for.
		if _, err := exec.LookPath("vips"); err == nil {
			path := filepath.Join(t.TempDir(), "ink.jpg")
			os.WriteFile(path, file, 0o666)
			out, err := exec.Command("vips", "getpoint", path, "3", "3").Output()
			var ink [4]float64
			if fmt.Sscan(string(out), &ink[0], &ink[1], &ink[2], &ink[3]); err != nil || math.Abs(ink[0]-c)+math.Abs(ink[1]-m)+math.Abs(ink[2]-y)+math.Abs(ink[3]-k) > 8 {
				t.Errorf("%s: libvips reads the ink %v: %v", name, ink, err)
			}
		}
	}
}

// A picture printed with a profile of tables, beside libvips.
func TestPrintedColoursLikeLibvips(t *testing.T) {
	if _, err := exec.LookPath("vips"); err != nil {
		t.Skip("!!! NOT TESTED: vips is missing !!!")
	}
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	img := image.NewRGBA(image.Rect(0, 0, 256, 256))
	for y := range 256 {
		for x := range 256 {
			img.SetRGBA(x, y, color.RGBA{uint8(x), uint8(y), uint8((x + y) / 2 &^ 15), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(file("in.png"), b.Bytes(), 0o666)
	for _, args := range [][]string{
		{"icc_export", file("in.png"), file("ink.jpg") + "[Q=98,profile=cmyk]", "--output-profile", "cmyk"},
		{"icc_transform", file("ink.jpg"), file("want.png"), "srgb", "--embedded"},
	} {
		if out, err := exec.Command("vips", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	data, err := os.ReadFile(file("ink.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file("want.png"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	off := func(data []byte) (mean float64, most int) {
		got := shown(t, data)
		for y := range 256 {
			for x := range 256 {
				a, b := rgb(got.At(x, y)), rgb(want.At(x, y))
				for i := range a {
					d := max(a[i]-b[i], b[i]-a[i])
					mean += float64(d) / (256 * 256 * 3)
					most = max(most, d)
				}
			}
		}
		return mean, most
	}
	mean, most := off(data)
	// The control: the profile left out.
	plain := bytes.ReplaceAll(data, []byte("ICC_PROFILE\x00"), []byte("NOT_PROFILE\x00"))
	naive, _ := off(plain)
	t.Logf("off by %.2f of 255, at most %d; without the profile by %.2f", mean, most, naive)
	// libvips works between the points of a table, and is itself off by as much where
	// red is nearly 0.
	if mean > 0.5 || most > 20 || naive < 5 {
		t.Errorf("off by %.2f, at most %d; without the profile by %.2f", mean, most, naive)
	}
}

// A picture whose colours are not quite the file's says so, and no other.
func TestApproximateColoursAreReported(t *testing.T) {
	var plain bytes.Buffer
	if err := png.Encode(&plain, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	profiled := func(icc []byte) []byte {
		body := append([]byte("ICC_PROFILE\x00\x01\x01"), icc...)
		head := binary.BigEndian.AppendUint16([]byte{0xff, 0xe2}, uint16(len(body)+2))
		file := flat([4]uint8{1, 2, 3, 4}, 0)
		return append(append(append(bytes.Clone(file[:2]), head...), body...), file[2:]...)
	}
	for name, c := range map[string]struct {
		file []byte
		want bool
	}{
		"a PNG":                       {plain.Bytes(), false},
		"ink without a profile":       {flat([4]uint8{1, 2, 3, 4}, 2), true},
		"ink with a broken profile":   {profiled(tabled("CMYK", "Lab ", "mft1")), true},
		"ink with one of other space": {profiled(tabled("RGB ", "Lab ", "mft1")), true},
	} {
		kind := media.Sniff(c.file, "")
		limits := media.DefaultLimits()
		limits.Side = 4
		r, err := media.Fit(Engine{}, c.file, media.Request{Kind: kind, Limits: limits, Bounds: media.DefaultBounds()})
		if err != nil || r.Approximate != c.want {
			t.Errorf("%s: %v %v", name, r.Approximate, err)
		}
	}
}

// tabled is a profile of one tag, for colours that it gives in XYZ or Lab.
func tabled(space, pcs, tag string) []byte {
	icc := make([]byte, 128)
	copy(icc[8:], "\x04\x00\x00\x00mntr"+space+pcs)
	copy(icc[36:], "acsp")
	icc = append(icc, 0, 0, 0, 1)
	icc = append(icc, "A2B0"...)
	icc = binary.BigEndian.AppendUint32(icc, 144)
	icc = binary.BigEndian.AppendUint32(icc, uint32(len(tag)))
	return append(icc, tag...)
}

// words are numbers of 16 bits.
func words(v ...uint16) (s string) {
	for _, w := range v {
		s += string([]byte{byte(w >> 8), byte(w)})
	}
	return s
}

// Tables of all three forms, whose colours are light alone: the first sample's.
func TestTablesOfEveryForm(t *testing.T) {
	line8, line16 := "", words(0, 0xffff)
	for i := range 256 {
		line8 += string([]byte{byte(i)})
	}
	identity := "\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00"
	grid8, grid16, old16 := "", "", ""
	for i := range 8 {
		light := byte(0)
		if i >= 4 { // the first sample runs slowest
			light = 255
		}
		grid8 += string([]byte{light, 128, 128})
		grid16 += words(uint16(light)*257, 0x8080, 0x8080)
		old16 += words(uint16(light)<<8, 0x8000, 0x8000)
	}
	// Offsets of the last curves, none, none, the lattice, none.
	curve := "curv\x00\x00\x00\x00\x00\x00\x00\x00"
	form4 := "mAB \x00\x00\x00\x00\x03\x03\x00\x00" + "\x00\x00\x00\x20" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x44" + "\x00\x00\x00\x00" +
		curve + curve + curve + "\x02\x02\x02" + string(make([]byte, 13)) + "\x02\x00\x00\x00" + grid16
	for name, icc := range map[string][]byte{
		"of 8 bits":    tabled("RGB ", "Lab ", "mft1\x00\x00\x00\x00\x03\x03\x02\x00"+identity+line8+line8+line8+grid8+line8+line8+line8),
		"of 16 bits":   tabled("RGB ", "Lab ", "mft2\x00\x00\x00\x00\x03\x03\x02\x00"+identity+words(2, 2)+line16+line16+line16+old16+line16+line16+line16),
		"of version 4": tabled("RGB ", "Lab ", form4),
	} {
		c, err := readProfile(icc)
		if err != nil || c == nil {
			t.Errorf("a table %s is not read: %v", name, err)
			continue
		}
		for _, in := range []uint8{0, 64, 128, 255} {
			// L of half of 100 is a gray of 119.
			l := float64(in) / 255 * 100
			y := math.Pow((l+16)/116, 3)
			if l < 8 {
				y = l / 903.3
			}
			encoded := 12.92 * y
			if y > 0.0031308 {
				encoded = 1.055*math.Pow(y, 1/2.4) - 0.055
			}
			want := int(math.Round(255 * encoded))
			var got [4]uint8
			c.row(got[:], []uint8{in, 200, 10, 255})
			if !near([3]int{int(got[0]), int(got[1]), int(got[2])}, [3]int{want, want, want}, 3) {
				t.Errorf("%s: light of %.0f is %v, want %d", name, l, got, want)
			}
		}
		damagedProfiles(t, name, icc)
	}
	damagedProfiles(t, "of a matrix", enginetest.Profile(enginetest.DisplayP3()))
}

// damagedProfiles reads a profile cut short and changed: there is always an answer,
// and memory is bounded whatever the counts in it say.
func damagedProfiles(t *testing.T, name string, icc []byte) {
	t.Helper()
	const most = 64 << 20
	read := func(b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if c, err := readProfile(b); err == nil && c != nil {
			if out, err := c.apply(image.NewNRGBA(image.Rect(0, 0, 2, 2))); err == nil && out == nil {
				t.Errorf("%s: nothing comes of it", name)
			}
		}
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > most {
			t.Errorf("%s: it took %d bytes", name, took)
		}
	}
	for n := iccTable; n < len(icc); n += 23 {
		read(icc[:n:n])
	}
	step := shortrun.Step(t, 7, "damaged bytes of "+name)
	for n := 0; n < min(len(icc), 700); n += step {
		for _, v := range []byte{0, 0x7f, 0xff} {
			bad := bytes.Clone(icc)
			bad[n] = v
			read(bad)
		}
	}
}

// A picture in gray is converted by a profile for gray: its curve, here of gamma 1.8.
func TestGrayProfiles(t *testing.T) {
	icc := make([]byte, iccHeader)
	copy(icc[8:], "\x02\x00\x00\x00mntrGRAYXYZ ")
	copy(icc[36:], "acsp")
	icc = append(icc, 0, 0, 0, 1)
	icc = append(icc, "kTRC\x00\x00\x00\x90\x00\x00\x00\x0ecurv\x00\x00\x00\x00\x00\x00\x00\x01\x01\xcd"...)
	c, err := readProfile(icc)
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	img := image.NewGray(image.Rect(0, 0, 3, 1))
	copy(img.Pix, []uint8{0, 55, 255}) // light of 0.0633 is 71 in sRGB
	out, err := c.apply(img)
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range []int{0, 71, 255} {
		if got := rgb(out.At(x, 0)); !near(got, [3]int{want, want, want}, 1) {
			t.Errorf("%d: %v, want %d", x, got, want)
		}
	}
}
