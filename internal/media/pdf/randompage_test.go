package pdf

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"github.com/fsmcp/fsmcp/internal/media/enginetest"
	"github.com/fsmcp/fsmcp/internal/media/pdftest"
)

// writer makes up a page of whatever may stand beside a picture.
type writer struct {
	t         *testing.T
	r         *rand.Rand
	content   bytes.Buffer
	objects   []string
	resources map[string][]string
	shift     string // to where the picture is moved for the control; empty: nowhere
	puts      int    // how often a picture is put somewhere
	calm      int    // how seldom anything is odd
}

// one is any of some.
func (w *writer) one(of ...string) string { return of[w.r.IntN(len(of))] }

// chance is true once in so many times.
func (w *writer) chance(n int) bool { return w.r.IntN(n) == 0 }

// seldom is mostly nothing, else any of some.
func (w *writer) seldom(of ...string) string {
	if w.odd() {
		return w.one(of...)
	}
	return ""
}

// odd tells whether something is as it seldom is; a page where everything is shows
// no picture that could be laid.
func (w *writer) odd() bool { return w.r.IntN(1+2*w.calm) == 0 }

// object adds one to the document and returns a reference to it.
func (w *writer) object(o string) string {
	w.objects = append(w.objects, o)
	return fmt.Sprintf("%d 0 R", len(w.objects)+4)
}

// named puts something into the resources and returns its name.
func (w *writer) named(kind, value string) string {
	name := fmt.Sprintf("/%s%d", kind[:1], len(w.resources[kind]))
	w.resources[kind] = append(w.resources[kind], name+" "+value)
	return name
}

// dictionary is what the resources hold.
func (w *writer) dictionary() string {
	var b strings.Builder
	for _, kind := range []string{"XObject", "Font", "ExtGState", "Properties", "Shading", "Pattern", "ColorSpace"} {
		if all := w.resources[kind]; all != nil {
			fmt.Fprintf(&b, "/%s<<%s>>", kind, strings.Join(all, " "))
		}
	}
	return b.String()
}

// document is one, and the same with its only picture a pixel off; nil where there
// is not one alone.
func (w *writer) document() (doc, moved []byte) {
	w.resources = map[string][]string{}
	w.fill()
	page := w.page()
	doc = pageWith(w.content.String(), w.dictionary(), page, w.objects...)
	if w.shift != "" && w.puts == 1 && !strings.Contains(page, "Rotate") {
		moved = pageWith(strings.Replace(w.content.String(), w.shift, "1 0 0 1 0.5 0 cm "+w.shift, 1), w.dictionary(), page, w.objects...)
	}
	switch w.r.IntN(16) {
	case 0, 1:
		return w.updated(doc), nil
	case 2:
		doc = w.changed(doc, func(in []byte, out *bytes.Buffer) error {
			return api.Encrypt(bytes.NewReader(in), out, model.NewAESConfiguration("", "owner", 256))
		})
	case 3, 4: // which packs objects
		doc = w.changed(doc, func(in []byte, out *bytes.Buffer) error {
			return api.Optimize(bytes.NewReader(in), out, model.NewDefaultConfiguration())
		})
	}
	return doc, moved
}

// fill draws pictures and other things. Most of what is drawn must not lie in the way of
// a picture, or none is laid.
func (w *writer) fill() {
	w.calm = 1 + w.r.IntN(4)
	if w.odd() {
		w.something(false)
	}
	for range 1 + w.r.IntN(1+w.r.IntN(4)) {
		w.put()
		for range w.r.IntN(3) {
			w.something(w.chance(2))
		}
	}
}

// page is what a page's dictionary says beside the usual.
func (w *writer) page() string {
	page := w.seldom("/CropBox[20 10 380 250]", "/CropBox[-30 50.5 333.3 400]", "/MediaBox[5.5 7.25 377 290]", "/UserUnit 2", "/Rotate 90", "/Rotate 180", "/MediaBox[400 300 0 0]", "/MediaBox[-200 -100 200 200]")
	page += w.one("", "", "/Group<</S/Transparency/CS/DeviceRGB>>", "/Group<</S/Transparency/CS/DeviceRGB/I true>>", "/Group<</S/Transparency/I true/K true>>", "/Group<</S/Transparency/CS/DeviceCMYK/K true>>")
	if w.chance(12) {
		page += fmt.Sprintf("/Annots[<</Type/Annot/Subtype/%s/Rect[%s]/F 4/AP<</N %s>>>>]", w.one("Square", "Highlight", "Stamp", "Link"), w.rectangle(), w.form())
	}
	if w.chance(20) {
		w.resources["ColorSpace"] = append(w.resources["ColorSpace"], w.one("/DefaultRGB[/CalRGB<</WhitePoint[0.95 1 1.09]/Gamma[3 3 3]>>]", "/DefaultGray[/CalGray<</WhitePoint[0.95 1 1.09]/Gamma 3>>]", "/DefaultRGB/DeviceRGB"))
	}
	return page
}

// changed is a document as another program writes it, if that can.
func (w *writer) changed(doc []byte, by func(in []byte, out *bytes.Buffer) error) []byte {
	var out bytes.Buffer
	if func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%v", p)
			}
		}()
		return by(doc, &out)
	}() != nil {
		return doc
	}
	return out.Bytes()
}

// updated gives an object once more, as programs do that only add to a file: with
// the words of another one, where both may stand in for each other.
func (w *writer) updated(doc []byte) []byte {
	if len(w.objects) == 0 {
		return doc
	}
	i := w.r.IntN(len(w.objects))
	now := w.objects[i]
	switch {
	case strings.Contains(now, "/DeviceGray") && w.chance(2):
		now = strings.Replace(now, "/Filter", "/Decode[1 0]/Filter", 1)
	case strings.Contains(now, "/Image"):
		now = w.picture()
	}
	b := bytes.NewBuffer(bytes.Clone(doc))
	before := bytes.LastIndex(doc, []byte("xref\n0 "))
	at := b.Len()
	fmt.Fprintf(b, "%d 0 obj\n%s\nendobj\n", i+5, now)
	xref := b.Len()
	fmt.Fprintf(b, "xref\n%d 1\n%010d 00000 n \ntrailer<</Size %d/Root 1 0 R/Prev %d>>\nstartxref\n%d\n%%%%EOF\n", i+5, at, len(w.objects)+5, before, xref)
	return b.Bytes()
}

// rectangle is four numbers, mostly of the page.
func (w *writer) rectangle() string {
	switch w.r.IntN(12) {
	case 0:
		return "50 50 50 50"
	case 1:
		return "300 200 100 100"
	case 2:
		return "-5000 -5000 9000 9000"
	}
	x, y := w.r.Float64()*300, w.r.Float64()*200
	return fmt.Sprintf("%.2f %.2f %.2f %.2f", x, y, x+w.r.Float64()*150, y+w.r.Float64()*150)
}

// box is a place and a size.
func (w *writer) box() string {
	return fmt.Sprintf("%.2f %.2f %.2f %.2f", w.r.Float64()*380-20, w.r.Float64()*280-20, w.r.Float64()*120-20, w.r.Float64()*120-20)
}

// sample is a picture with what papers show: writing, on a photograph or on white.
func (w *writer) sample() *image.NRGBA {
	width, height := 250+w.r.IntN(700), 200+w.r.IntN(600)
	img := photo(width, height)
	white, line := w.chance(2), max(width, height)/25
	for y := range height {
		for x := range width {
			c := img.NRGBAAt(x, y)
			img.SetNRGBA(x, y, color.NRGBA{c.R/3 + 160, c.G/3 + 160, c.B/3 + 160, 255})
			switch letter := x/(line/2)*7 + y/line*5; {
			case y%line > line/5 && y%line < line*4/5 && letter%4 > 0 && x%(line/2) < line/5:
				img.SetNRGBA(x, y, color.NRGBA{20, 20, 20, 255})
			case white:
				img.SetNRGBA(x, y, color.NRGBA{250, 250, 245, 255})
			}
		}
	}
	return img
}

// picture is one of some kind.
func (w *writer) picture() string {
	img := w.sample()
	size := fmt.Sprintf("/Width %d/Height %d", img.Rect.Dx(), img.Rect.Dy())
	size += w.one("", "", "", "", "/Interpolate true", "/Intent/Perceptual", "/Name/I")
	const eight, dct, flate = "/BitsPerComponent 8", "/Filter/DCTDecode", "/Filter/FlateDecode"
	colours, grays := w.spaces()
	kind := w.r.IntN(14)
	if kind > 10 && !w.odd() {
		kind -= 4
	}
	mask := w.mask(img, size)
	three, one := zipped(asRows(img, 3)), zipped(asRows(img, 1))
	switch kind {
	case 0, 1, 2:
		return picture(size+eight+colours+dct+mask+w.seldom("/Decode[1 0 1 0 1 0]", "/Decode[0 1 0 1 0 1]", "/DecodeParms<</ColorTransform 0>>", "/DecodeParms null", "/DecodeParms<<>>"), asJPEG(w.t, img))
	case 3, 4:
		return picture(size+eight+grays+dct+mask+w.one("", "", "/Decode[1 0]", "/Decode[0 1]"), asJPEG(w.t, onlyGray(img)))
	case 5, 6, 7:
		return picture(size+eight+colours+flate+mask+w.seldom("/Mask[0 40 0 90 0 255]", "/Decode[0 1 0 1 0 1]", "/Decode[1 0 0 1 0 1]"), three)
	case 8, 9:
		return picture(size+eight+grays+flate+mask+w.one("", w.seldom("/Decode[1 0]", "/Decode[0 1]", "/Decode[0 0.5]", "/Mask[0 40]")), one)
	case 10:
		return picture(fmt.Sprintf("%s%s%s%s/DecodeParms<</Predictor %s/Colors 3/Columns %d>>%s", size, eight, colours, flate, w.one("10", "12", "15"), img.Rect.Dx(), mask), asPNGRows(w.t, img))
	case 11:
		return picture(size+"/BitsPerComponent "+w.one("1", "2", "4", "16")+grays+flate, one)
	case 12:
		return picture(size+"/ImageMask true/BitsPerComponent 1"+flate, one)
	}
	return picture(size+eight+w.one("/ColorSpace[/Indexed/DeviceRGB 255<"+strings.Repeat("c04080", 256)+">]", "/ColorSpace/DeviceCMYK")+flate, zipped(append(asRows(img, 3), asRows(img, 1)...)))
}

// spaces are what three samples of a pixel, and one, may mean: mostly what they do
// elsewhere.
func (w *writer) spaces() (colours, grays string) {
	const plain, plainGray = "/ColorSpace/DeviceRGB", "/ColorSpace/DeviceGray"
	colours = w.one(plain, plain, plain, "/ColorSpace[/CalRGB<</WhitePoint[0.95 1 1.09]/Gamma[3 3 3]>>]", "icc", "icc", "p3", "/ColorSpace[/Lab<</WhitePoint[0.95 1 1.09]>>]")
	switch colours {
	case "icc":
		colours = "/ColorSpace[/ICCBased " + w.object(profile(enginetest.SRGB())) + "]"
	case "p3":
		colours = "/ColorSpace[/ICCBased " + w.object(profile(enginetest.DisplayP3())) + "]"
	}
	grays = w.one(plainGray, plainGray, plainGray, "/ColorSpace[/CalGray<</WhitePoint[0.95 1 1.09]/Gamma 3>>]", "/ColorSpace[/Separation/Spot/DeviceRGB<</FunctionType 2/Domain[0 1]/C0[1 1 1]/C1[1 0 0]/N 1>>]")
	if !w.odd() {
		return plain, plainGray
	}
	return colours, grays
}

// mask is what gives a picture of that size a mask; mostly nothing.
func (w *writer) mask(img *image.NRGBA, size string) string {
	masks := w.r.IntN(9)
	if masks > 0 && !w.odd() {
		return ""
	}
	switch masks {
	case 0:
		return "/SMask " + w.object(picture(fmt.Sprintf("/Width %d/Height %d", img.Rect.Dx(), img.Rect.Dy())+gray+"/Filter/FlateDecode"+w.one("", "/Decode[1 0]", w.seldom("/Decode[0 1]", "/Matte[0 0 0]", "/Decode[0.2 0.7]")), zipped(asRows(img, 1))))
	case 1:
		return "/SMask " + w.object(picture(size+gray+"/Filter/DCTDecode", asJPEG(w.t, onlyGray(img))))
	case 2:
		return "/Mask " + w.object(picture("/Width 40/Height 30/ImageMask true/BitsPerComponent 1/Filter/FlateDecode", zipped(bytes.Repeat([]byte{0xf0, 0xff, 0, 0xaa, 0x0f}, 30))))
	}
	return ""
}

// put puts a picture somewhere.
func (w *writer) put() {
	name := w.named("XObject", w.object(w.picture()))
	matrix := fmt.Sprintf("%.2f 0 0 %.2f %.2f %.2f cm", 150+w.r.Float64()*180, 110+w.r.Float64()*150, w.r.Float64()*120-20, w.r.Float64()*100-20)
	turn, around := w.r.IntN(16), w.r.IntN(14)
	if !w.odd() {
		turn, around = turn+2, around+3
	}
	switch turn {
	case 0:
		matrix = w.one("0 200 -300 0 350 40 cm", "300 0 0 -200 30 250 cm", "-300 0 0 200 350 40 cm", "200 50 -50 150 100 30 cm", "0 200 300 0 30 30 cm")
	case 1:
		matrix = w.one("0.01 0 0 0.01 100 100 cm", "9000 0 0 7000 -4000 -3000 cm", "300 0 0 0 10 10 cm", "0 0 0 0 10 10 cm", "300 0 0 1 10 100 cm", "0.4 0 0 280 100 10 cm", "700 0 0 500 -100 -100 cm", "300 0.001 0 200 50 50 cm")
	}
	put := "q " + matrix + " " + name + " Do Q"
	if w.puts++; w.shift == "" {
		w.shift = matrix
	}
	w.content.WriteString(w.within(put, name, around) + "\n")
}

// within is what puts a picture of that name, within something in one of many ways, or
// twice.
func (w *writer) within(put, name string, way int) string {
	switch way {
	case 0:
		return w.one("/OC ", "/OC ", "/Artifact ", "/Span ") + w.named("Properties", w.object("<</Type/OCG/Name(Layer)>>")) + " BDC " + put + " EMC"
	case 1:
		return "/Span<</MCID 0>>BDC " + put + " EMC"
	case 2:
		return "q " + w.state() + " gs " + put + " Q"
	case 3, 4:
		return "q " + w.clip() + put + " Q"
	case 5:
		return "q " + w.clip() + w.clip() + put + " Q"
	case 6:
		return "q 0.8 0 0 0.8 20.2 10.7 cm " + put + " Q"
	case 7:
		w.resources["XObject"] = append(w.resources["XObject"], "/F"+name[1:]+" "+w.object(form(w.one("", "/Group<</S/Transparency>>")+"/Resources<<"+w.dictionary()+">>", put)))
		return "/F" + name[1:] + " Do"
	case 8: // twice
		put += fmt.Sprintf(" q %d 0 0 %d %d %d cm %s Do Q", 90+w.r.IntN(60), 90+w.r.IntN(60), w.r.IntN(300), w.r.IntN(200), name)
		w.puts++
	}
	return put
}

func (w *writer) clip() string {
	switch w.r.IntN(10) {
	case 0:
		return "100 100 m 300 100 300 200 100 200 c W n "
	case 1:
		return w.box() + " re " + w.box() + " re W* n "
	case 2:
		return "W n "
	case 3:
		return "BT " + w.font() + " 60 Tf 7 Tr 60 60 Td (clip) Tj ET "
	case 4:
		return "100 100 m 300 110 l 300 200 l 100 200 l W n "
	case 5:
		return "100.3 50.7 m 100.3 200 l 300 200 l 300 50.7 l h W n "
	}
	return fmt.Sprintf("%.2f %.2f %.2f %.2f re %s n ", w.r.Float64()*150, w.r.Float64()*100, 80+w.r.Float64()*250, 80+w.r.Float64()*200, w.one("W", "W*"))
}

func (w *writer) state() string {
	if w.chance(16) {
		return w.named("ExtGState", "<</TR2 "+w.object(negative)+">>")
	}
	return w.named("ExtGState", w.one("<</ca 0.5>>", "<</CA 0.5>>", "<</BM/Multiply>>", "<</BM/Luminosity>>", "<</BM[/Foo/Screen]>>", "<</OP true/op true/OPM 1>>", "<</SMask/None>>", "<</SA true/AIS true>>", "<</TR/Identity>>",
		"<</SMask<</S/Luminosity/G "+w.form()+">>>>", "<</SMask<</S/Alpha/G "+w.form()+">>>>", "<</LW 5/Type/ExtGState>>"))
}

func (w *writer) font() string {
	return w.named("Font", w.object("<</Type/Font/Subtype/Type1/BaseFont/"+w.one("Helvetica", "Times-Italic", "Courier-Bold", "Nothing")+">>"))
}

// form is a reference to one that draws a box.
func (w *writer) form() string {
	content := fmt.Sprintf("%.1f 0.5 0.2 rg %s re f", w.r.Float64(), w.box())
	states := ""
	if w.chance(2) {
		states = "/Resources<</ExtGState<</G<</BM/" + w.one("Multiply", "Difference", "Normal") + ">>>>>>"
		content = "/G gs " + content
	}
	kind := w.one("", "/Matrix[0.5 0 0 0.5 30 30]", "/Group<</S/Transparency/CS/DeviceRGB>>", "/Group<</S/Transparency/I true/CS/DeviceRGB>>", "/Group<</S/Transparency/K true/CS/DeviceGray>>")
	return w.object(form(kind+states, content))
}

// something is anything but a picture; small where it is to leave room for one.
func (w *writer) something(large bool) {
	box := w.box()
	if !large {
		box = fmt.Sprintf("%.1f %.1f 9 7", w.r.Float64()*390, w.r.Float64()*290)
	}
	colour := fmt.Sprintf("%.1f %.1f %.1f rg ", w.r.Float64(), w.r.Float64(), w.r.Float64())
	var s string
	switch w.r.IntN(10) {
	case 0:
		s = colour + box + " re f"
	case 1:
		s = "q " + w.state() + " gs " + colour + box + " re f Q"
	case 2:
		s = fmt.Sprintf("q %d w %s RG %s re S Q", w.r.IntN(12), "1 0 0", box)
	case 3:
		s = fmt.Sprintf("q %s BT %s %d Tf %d Tr %.1f %.1f Td (Some words) Tj ET Q", colour, w.font(), 4+w.r.IntN(20), w.r.IntN(8), w.r.Float64()*350, w.r.Float64()*280)
	case 4:
		s = "q " + box + " re W n " + w.named("Shading", "<</ShadingType 2/ColorSpace/DeviceRGB/Coords[0 0 300 200]/Function<</FunctionType 2/Domain[0 1]/C0[1 0 0]/C1[0 0 1]/N 1>>/Extend[true true]>>") + " sh Q"
	case 5:
		s = "q /Pattern cs " + w.named("Pattern", w.object(pdftest.Stream("/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 9 9]/XStep 9/YStep 9/Resources<<>>", "1 0 0 rg 0 0 5 5 re f"))) + " scn " + box + " re f Q"
	case 6:
		s = "q " + w.one("", w.state()+" gs ") + "/Y" + strconv.Itoa(len(w.objects)) + " Do Q"
		w.resources["XObject"] = append(w.resources["XObject"], "/Y"+strconv.Itoa(len(w.objects))+" "+w.form())
	case 7:
		s = "q 60 0 0 60 " + strings.Join(strings.Fields(box)[:2], " ") + " cm BI /W 4 /H 4 /CS /G /BPC 8 ID 0123456789abcdef\nEI Q"
	case 8:
		s = w.one("BX foo EX", "/Artifact BMC EMC", "q q Q Q", "q", "[3 2] 0 d", "/Perceptual ri", "50 i", "0.5 0 0 0.5 100 100 cm")
	case 9:
		s = "q " + box + " re W n " + colour + "0 0 400 300 re f Q"
	}
	w.content.WriteString(s + "\n")
}
