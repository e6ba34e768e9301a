// Package enginetest is the suite that every engine must pass: one pipeline of pictures
// over any decoder.
package enginetest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/deepteams/webp"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/sergeymakinen/go-bmp"
	"github.com/sergeymakinen/go-ico"
	"golang.org/x/image/tiff"
)

// Run puts an engine through the suite.
func Run(t *testing.T, e media.Engine) {
	s := suite{e}
	t.Run("kinds", s.kinds)
	t.Run("coordinates", s.coordinates)
	t.Run("transparency", s.transparency)
	t.Run("damage", s.damage)
	t.Run("palette", s.palette)
	t.Run("colours", s.profiles)
}

type suite struct{ engine media.Engine }

// scene is a picture whose every place can be told: a smooth ground and, at at,
// a red square of side 2*reach+1.
func scene(w, h int, at image.Point, reach int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{40, uint8(120 + 80*x/w), uint8(120 + 80*y/h), 255}
			if abs(x-at.X) <= reach && abs(y-at.Y) <= reach {
				c = color.NRGBA{250, 20, 20, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func abs(v int) int { return max(v, -v) }

// paletted is the scene in few colours.
func paletted(img image.Image) *image.Paletted {
	var p color.Palette
	for i := range 64 {
		p = append(p, color.NRGBA{40, uint8(120 + i%8*12), uint8(120 + i/8*12), 255})
	}
	p = append(p, color.NRGBA{250, 20, 20, 255})
	out := image.NewPaletted(img.Bounds(), p)
	b := img.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			out.Set(x, y, img.At(x, y))
		}
	}
	return out
}

// written is a picture as a file of each kind.
func written(t testing.TB, kind media.Kind, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch kind {
	case media.PNG:
		err = png.Encode(&b, img)
	case media.JPEG:
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: 95})
	case media.GIF:
		err = gif.Encode(&b, paletted(img), nil)
	case media.WebP:
		var out []byte
		out, err = WebP(img, 95)
		b.Write(out)
	case media.BMP:
		err = bmp.Encode(&b, img)
	case media.ICO:
		err = ico.Encode(&b, img)
	case media.TIFF:
		err = tiff.Encode(&b, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// WebP writes a lossy WebP. Its alpha is not packed: the library packs it in a way
// that no other reads.
func WebP(img image.Image, quality float32) ([]byte, error) {
	o := webp.DefaultOptions()
	o.Quality, o.AlphaCompression, o.AlphaFiltering = quality, 0, 0
	var b bytes.Buffer
	err := webp.Encode(&b, img, o)
	return b.Bytes(), err
}

func allKinds() []media.Kind {
	return []media.Kind{media.PNG, media.JPEG, media.GIF, media.WebP, media.BMP, media.ICO, media.TIFF}
}

func request(kind media.Kind) media.Request {
	return media.Request{Kind: kind, Limits: media.DefaultLimits(), Bounds: media.DefaultBounds()}
}

// shown decodes what a model is shown.
func (s suite) shown(t testing.TB, r media.FittedPicture) image.Image {
	t.Helper()
	if media.Check(r.As, r.Data) != nil || media.Sniff(r.Data, "") != r.As {
		t.Fatal("what is shown is damaged")
	}
	p, f := s.open(t, r.As, r.Data)
	defer p.Close()
	_, img := rendered(t, p, media.PictureEncoding{Width: f.Width, Height: f.Height, As: media.PNG})
	return img
}

// open opens a whole picture at its own size.
func (s suite) open(t testing.TB, kind media.Kind, data []byte) (media.Picture, media.PictureFacts) {
	t.Helper()
	f, err := media.Inspect(kind, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.engine.Open(data, f, media.WantedView{Part: media.Rect{Width: f.Width, Height: f.Height}, Width: f.Width, Height: f.Height})
	if err != nil {
		t.Fatal(err)
	}
	return p, f
}

// rendered is an encoding of a picture, and what it decodes to.
func rendered(t testing.TB, p media.Picture, e media.PictureEncoding) (data []byte, img image.Image) {
	t.Helper()
	data, err := p.Render(e)
	if err == nil {
		img, _, err = image.Decode(bytes.NewReader(data))
	}
	if err != nil {
		t.Fatal(err)
	}
	return data, img
}

// marker is the middle of what is red.
func marker(img image.Image) (x, y float64, found bool) {
	n := 0.0
	b := img.Bounds()
	for py := b.Min.Y; py < b.Max.Y; py++ {
		for px := b.Min.X; px < b.Max.X; px++ {
			r, g, _, _ := img.At(px, py).RGBA()
			if w := (float64(r)-float64(g))/65535 + 0.4; w > 0.25 {
				x, y, n = x+w*float64(px-b.Min.X), y+w*float64(py-b.Min.Y), n+w
			}
		}
	}
	return x / n, y / n, n > 0
}

// kinds: of every kind the whole picture is shown, in its colours.
func (s suite) kinds(t *testing.T) {
	for _, kind := range allKinds() {
		w, h := 300, 200
		if kind == media.ICO { // which is no larger than 256
			w, h = 240, 160
		}
		q := request(kind)
		q.Limits.Side = 150
		at := image.Pt(w/3, h/2)
		r, err := media.Fit(s.engine, written(t, kind, scene(w, h, at, 8)), q)
		if err != nil {
			t.Errorf("%v: %v", kind, err)
			continue
		}
		img := s.shown(t, r)
		x, y, ok := marker(img)
		f := float64(w) / 150
		if !ok || r.Shown.DisplayWidth != 150 || r.Shown.DisplayHeight != 100 ||
			math.Abs((x+0.5)*f-0.5-float64(at.X)) > 1 || math.Abs((y+0.5)*f-0.5-float64(at.Y)) > 1 {
			t.Errorf("%v as %v: %+v, marker at %.1f,%.1f", kind, r.As, r.Shown, x*f, y*f)
		}
		if c := color.NRGBAModel.Convert(img.At(140, 5)).(color.NRGBA); abs(int(c.R)-40) > 12 || abs(int(c.G)-194) > 12 || abs(int(c.B)-124) > 12 {
			t.Errorf("%v as %v: colour %v", kind, r.As, c)
		}
	}
}

// turned is a file that shows img when it is laid upright.
func turned(t testing.TB, kind media.Kind, img *image.NRGBA, orientation int) []byte {
	t.Helper()
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if orientation >= 5 {
		w, h = h, w
	}
	on := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			sx, sy := lying(orientation, x, y, w, h)
			on.SetNRGBA(sx, sy, img.NRGBAAt(x, y))
		}
	}
	exif := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00")
	exif = append(exif, byte(orientation), 0, 0, 0, 0, 0, 0)
	b := written(t, kind, on)
	if kind == media.JPEG {
		seg := append([]byte("\xff\xe1\x00\x00Exif\x00\x00"), exif...)
		binary.BigEndian.PutUint16(seg[2:], uint16(len(seg)-2))
		return append(append([]byte("\xff\xd8"), seg...), b[2:]...)
	}
	return withChunk(b, "eXIf", exif)
}

// withChunk is a PNG with one more chunk behind its header.
func withChunk(b []byte, name string, data []byte) []byte {
	const header = 8 + 4 + 4 + 13 + 4 // the signature and IHDR
	chunk := append([]byte(name), data...)
	out := binary.BigEndian.AppendUint32(bytes.Clone(b[:header]), uint32(len(data)))
	out = binary.BigEndian.AppendUint32(append(out, chunk...), crc32.ChecksumIEEE(chunk))
	return append(out, b[header:]...)
}

// coordinates: the marker's place in what is shown, multiplied and
// moved as the line says, is its place in the original, for all eight
// orientations, with and without zoom.
func (s suite) coordinates(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for i := range shortrun.Count(t, 64, 16, "pictures") {
		kind := []media.Kind{media.PNG, media.JPEG}[i%2]
		orientation := 1 + i/2%8
		w, h := 100+r.IntN(700), 100+r.IntN(500)
		at := image.Pt(20+r.IntN(w-40), 20+r.IntN(h-40))
		q := request(kind)
		q.Limits.Side = max(w, h)/4 + r.IntN(400)
		if i%3 == 0 {
			q.Region = &media.Rect{X: at.X - 20 - r.IntN(50), Y: at.Y - 20 - r.IntN(50), Width: 80 + r.IntN(300), Height: 80 + r.IntN(300)}
		}
		res, err := media.Fit(s.engine, turned(t, kind, scene(w, h, at, 12), orientation), q)
		if err != nil {
			t.Fatal(err)
		}
		line := res.Shown
		x, y, ok := marker(s.shown(t, res))
		x = (x+0.5)*float64(line.Part.Width)/float64(line.DisplayWidth) + float64(line.Part.X) - 0.5
		y = (y+0.5)*float64(line.Part.Height)/float64(line.DisplayHeight) + float64(line.Part.Y) - 0.5
		if !ok || line.Width != w || line.Height != h || math.Abs(x-float64(at.X)) > 2 || math.Abs(y-float64(at.Y)) > 2 {
			t.Errorf("%v, orientation %d, %+v: the marker at %v is found at %.1f,%.1f", kind, orientation, line, at, x, y)
		}
	}
}

// transparency: what shines through does so in a PNG, and is white in a JPEG.
func (s suite) transparency(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 100, 100))
	for i := range 100 * 50 {
		copy(img.Pix[4*i:], []byte{10, 200, 30, 255})
	}
	q := request(media.PNG)
	q.Limits.Side = 50
	r, err := media.Fit(s.engine, written(t, media.PNG, img), q)
	if err != nil || r.As != media.PNG {
		t.Fatal(r.As, err)
	}
	m := s.shown(t, r)
	if _, _, _, a := m.At(25, 45).RGBA(); a != 0 || color.NRGBAModel.Convert(m.At(25, 5)) != (color.NRGBA{10, 200, 30, 255}) {
		t.Errorf("%v %v", m.At(25, 45), m.At(25, 5))
	}
	p, _ := s.open(t, media.PNG, written(t, media.PNG, img))
	if p.Opaque() {
		t.Fatal("it counts as opaque")
	}
	_, j := rendered(t, p, media.PictureEncoding{Width: 50, Height: 50, As: media.JPEG, Quality: 90})
	if r, g, b, _ := j.At(25, 45).RGBA(); r < 0xfa00 || g < 0xfa00 || b < 0xfa00 {
		t.Errorf("what is behind is %x %x %x", r, g, b)
	}
}

// damage: a file cut short is an error, never half a picture.
func (s suite) damage(t *testing.T) {
	for _, kind := range allKinds() {
		b := written(t, kind, scene(120, 90, image.Pt(40, 40), 5))
		for n := 0; n < len(b)-8; n += 1 + len(b)/40 {
			r, err := media.Fit(s.engine, b[:n], request(kind))
			if !errors.As(err, new(*media.DamageError)) {
				t.Errorf("%v: of %d of %d bytes: %+v %v", kind, n, len(b), r.Shown, err)
			}
		}
	}
}

// palette: a picture in few colours has no more of them than were asked for, and keeps
// those that matter.
func (s suite) palette(t *testing.T) {
	p, _ := s.open(t, media.PNG, written(t, media.PNG, scene(300, 300, image.Pt(100, 100), 40)))
	out, m := rendered(t, p, media.PictureEncoding{Width: 200, Height: 200, As: media.PNG, Colours: 64})
	pal, ok := m.(*image.Paletted)
	if !ok || !media.DefaultLimits().Takes(len(out)) || len(pal.Palette) > 64 || len(pal.Palette) < 32 {
		t.Fatalf("%T", m)
	}
	if r, g, b, _ := m.At(66, 66).RGBA(); r < 0xe000 || g > 0x2800 || b > 0x2800 {
		t.Errorf("red is %x %x %x", r, g, b)
	}
}

// lying is the place in a picture of w x h, as it is stored, of a pixel of the
// upright one, by EXIF's own words: where row 0 and column 0 stand.
func lying(orientation, x, y, w, h int) (sx, sy int) {
	return [9]int{0, x, w - 1 - x, w - 1 - x, x, y, y, w - 1 - y, w - 1 - y}[orientation],
		[9]int{0, y, y, h - 1 - y, h - 1 - y, x, h - 1 - x, h - 1 - x, x}[orientation]
}

// profiles: a picture in a wider space of colours is converted to sRGB.
func (s suite) profiles(t *testing.T) {
	img := scene(300, 200, image.Pt(100, 100), 40)
	b := written(t, media.PNG, img)
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(Profile(DisplayP3()))
	z.Close()
	q := request(media.PNG)
	q.Limits.Side = 150
	r, err := media.Fit(s.engine, withChunk(b, "iCCP", append([]byte("wide\x00\x00"), packed.Bytes()...)), q)
	if err != nil {
		t.Fatal(err)
	}
	// (40, 120, 120) of Display P3 is (0, 121, 121) of sRGB.
	if c := color.NRGBAModel.Convert(s.shown(t, r).At(2, 2)).(color.NRGBA); c.R > 12 || abs(int(c.G)-121) > 3 || abs(int(c.B)-121) > 3 {
		t.Errorf("%v", c)
	}
}

// Colours are where red, green and blue of a space lie in that of ICC profiles.
type Colours [3][3]float64

// SRGB are the colours of sRGB, which pictures are shown in.
func SRGB() Colours {
	return Colours{{0.43607, 0.22249, 0.01392}, {0.38515, 0.71687, 0.09708}, {0.14307, 0.06061, 0.71410}}
}

// DisplayP3 are those of a wider space, which cameras and screens of today have.
func DisplayP3() Colours {
	return Colours{{0.51512, 0.2412, -0.00105}, {0.29198, 0.69225, 0.04189}, {0.1571, 0.06657, 0.78407}}
}

// Profile is an ICC profile of such colours, with the curve of sRGB.
func Profile(of Colours) []byte {
	be := binary.BigEndian
	fixed := func(b []byte, v float64) []byte { return be.AppendUint32(b, uint32(int32(math.Round(v*65536)))) }
	para := append([]byte("para\x00\x00\x00\x00"), 0, 3, 0, 0)
	for _, v := range []float64{2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045} {
		para = fixed(para, v)
	}
	xyz := func(v [3]float64) []byte {
		return fixed(fixed(fixed([]byte("XYZ \x00\x00\x00\x00"), v[0]), v[1]), v[2])
	}
	tags := []struct {
		name string
		data []byte
	}{
		{"rXYZ", xyz(of[0])}, {"gXYZ", xyz(of[1])}, {"bXYZ", xyz(of[2])},
		{"rTRC", para}, {"gTRC", para}, {"bTRC", para}, {"wtpt", xyz([3]float64{0.9642, 1, 0.8249})},
	}
	head := make([]byte, 128)
	copy(head[8:], "\x04\x00\x00\x00mntrRGB XYZ ")
	copy(head[36:], "acsp")
	table := be.AppendUint32(nil, uint32(len(tags)))
	var body []byte
	for _, tag := range tags {
		table = append(table, tag.name...)
		table = be.AppendUint32(be.AppendUint32(table, uint32(128+4+12*len(tags)+len(body))), uint32(len(tag.data)))
		body = append(body, tag.data...)
	}
	out := append(append(head, table...), body...)
	be.PutUint32(out, uint32(len(out)))
	return out
}
