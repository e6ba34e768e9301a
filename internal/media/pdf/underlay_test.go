package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media/enginetest"
	"github.com/fsmcp/fsmcp/internal/media/pdftest"
)

// pageWith is a document of one page with such objects beside those of every
// document; the first of them is number 5. resources and page stand in
// dictionaries.
func pageWith(content, resources, page string, objects ...string) []byte {
	return pdftest.File(append([]string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 300]/Contents 4 0 R/Resources<<%s>>%s>>", resources, page),
		pdftest.Stream("", content),
	}, objects...)...)
}

// packedUpdate adds an object to a document, in a stream of objects.
func packedUpdate(doc []byte, number int, object string) []byte {
	b := bytes.NewBuffer(bytes.Clone(doc))
	before := bytes.LastIndex(doc, []byte("xref\n0 "))
	at := b.Len()
	index := fmt.Sprintf("%d 0 ", number)
	objects := zipped([]byte(index + object))
	fmt.Fprintf(b, "%d 0 obj\n<</Type/ObjStm/N 1/First %d/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream\nendobj\n", number+1, len(index), len(objects), objects)
	xref := b.Len()
	entry := func(kind byte, a uint32, c byte) string {
		return string([]byte{kind, byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a), c})
	}
	table := entry(2, uint32(number+1), 0) + entry(1, uint32(at), 0) + entry(1, uint32(xref), 0)
	fmt.Fprintf(b, "%d 0 obj\n<</Type/XRef/W[1 4 1]/Index[%d 3]/Size %d/Root 1 0 R/Prev %d/Length %d>>\nstream\n%s\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n",
		number+2, number, number+3, before, len(table), table, xref)
	return b.Bytes()
}

// photo has soft and hard places.
func photo(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{uint8(255 * x / w), uint8(255 * y / h), uint8(128 + 100*math.Sin(float64(x+2*y)/40)), 255}
			if (x/60+y/60)%4 == 0 {
				c = color.NRGBA{30, 60, 200, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func picture(dict, raw string) string {
	return pdftest.Stream("/Type/XObject/Subtype/Image"+dict, raw)
}

func profile(of enginetest.Colours) string {
	return pdftest.Stream("/N 3", string(enginetest.Profile(of)))
}

func zipped(b []byte) string {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.String()
}

func asJPEG(t *testing.T, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// asRows are a picture's samples: three a pixel, or its first alone.
func asRows(img *image.NRGBA, samples int) []byte {
	var out []byte
	for i := 0; i < len(img.Pix); i += 4 {
		out = append(out, img.Pix[i:i+samples]...)
	}
	return out
}

// asPNGRows are the packed rows of a PNG, with its filters.
func asPNGRows(t *testing.T, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	var out []byte
	for rest := b.Bytes()[8:]; len(rest) > 12; {
		n := int(rest[0])<<24 | int(rest[1])<<16 | int(rest[2])<<8 | int(rest[3])
		if string(rest[4:8]) == "IDAT" {
			out = append(out, rest[8:8+n]...)
		}
		rest = rest[12+n:]
	}
	return string(out)
}

// Pictures that are laid under a page look as PDFium draws them, and whatever else
// a page does with a picture is left to PDFium.
func TestPicturesThatAreLaidLookAsPDFiumDrawsThem(t *testing.T) {
	const rgb, gray = "/BitsPerComponent 8/ColorSpace/DeviceRGB", "/BitsPerComponent 8/ColorSpace/DeviceGray"
	img := photo(600, 450)
	size := "/Width 600/Height 450"
	dct := rgb + "/Filter/DCTDecode" + size
	camera, rows, grays := asJPEG(t, img), zipped(asRows(img, 3)), zipped(asRows(img, 1))
	const put = "q 300 0 0 225 50 40 cm /I Do Q "
	const resources = "/XObject<</I 5 0 R>>"
	away, back := strings.Repeat("1000000 0 0 1000000 0 0 cm ", 4), strings.Repeat("0.000001 0 0 0.000001 0 0 cm ", 4)
	masked := func(more, mask string) []byte {
		return pageWith("1 0 0 rg 0 0 0 0 re f "+put, resources, "", picture(rgb+"/Filter/FlateDecode"+size+"/SMask 6 0 R", rows), picture(mask, grays))
	}
	for name, c := range map[string]struct {
		doc  []byte
		laid bool
	}{
		"JPEG":                         {pageWith(put, resources, "", picture(dct, camera)), true},
		"JPEG in a list of one":        {pageWith(put, resources, "", picture(rgb+"/Filter[/DCTDecode]"+size, camera)), true},
		"gray JPEG":                    {pageWith(put, resources, "", picture(gray+"/Filter/DCTDecode"+size, asJPEG(t, onlyGray(img)))), true},
		"rows":                         {pageWith(put, resources, "", picture(rgb+"/Filter/FlateDecode"+size, rows)), true},
		"gray rows":                    {pageWith(put, resources, "", picture(gray+"/Filter/FlateDecode"+size, grays)), true},
		"rows with PNG's filters":      {pageWith(put, resources, "", picture(rgb+"/Filter/FlateDecode/DecodeParms<</Predictor 15/Colors 3/Columns 600>>"+size, asPNGRows(t, img))), true},
		"a mask":                       {masked("", gray+"/Filter/FlateDecode"+size), true},
		"a mask of the opposite":       {masked("", gray+"/Filter/FlateDecode/Decode[1 0]"+size), true},
		"gray rows of the opposite":    {pageWith(put, resources, "", picture(gray+"/Filter/FlateDecode/Decode[1 0]"+size, grays)), true},
		"gray JPEG of the opposite":    {pageWith(put, resources, "", picture(gray+"/Filter/DCTDecode/Decode[1 0]"+size, asJPEG(t, onlyGray(img)))), true},
		"colours that are called gray": {pageWith(put, resources, "", picture(gray+"/Filter/DCTDecode"+size, camera)), false},
		"enlarged":                     {pageWith("q 400 0 0 300 0 0 cm /I Do Q", resources, "", picture(rgb+"/Filter/DCTDecode/Width 400/Height 300", asJPEG(t, photo(400, 300)))), true},
		"enlarged much":                {pageWith("q 400 0 0 300 0 0 cm /I Do Q", resources, "", picture(rgb+"/Filter/DCTDecode/Width 200/Height 150", asJPEG(t, photo(200, 150)))), false},
		"beyond the page's edge":       {pageWith("q 500 0 0 400 -50 -60 cm /I Do Q", resources, "", picture(dct, camera)), true},
		"a page cut from a sheet":      {pageWith(put, resources, "/CropBox[20 10 380 250]", picture(dct, camera)), true},
		"in a rectangle":               {pageWith("q 80 60 200 100 re W n "+put+"Q", resources, "", picture(dct, camera)), true},
		"beside a line":                {pageWith("0 0 40 300 re f "+put, resources, "", picture(dct, camera)), true},
		"under lines":                  {pageWith(put+"1 0 0 rg 100 100 50 50 re f", resources, "", picture(dct, camera)), true},
		"over an invisible text":       {pageWith("BT /F 20 Tf 3 Tr 60 60 Td (read from it) Tj ET "+put, resources+"/Font<</F 6 0 R>>", "", picture(dct, camera), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"), true},
		"two sizes of one":             {pageWith("q 100 0 0 75 0 225 cm /I Do Q q 200 0 0 150 150 20 cm /I Do Q", resources, "", picture(dct, camera)), true},
		"one over another":             {pageWith(put+"q 120 0 0 90 100 100 cm /I Do Q", resources, "", picture(dct, camera)), true},
		"colours of a profile of sRGB": {pageWith(put, resources, "", picture("/BitsPerComponent 8/ColorSpace[/ICCBased 6 0 R]/Filter/DCTDecode"+size, camera), profile(enginetest.SRGB())), true},
		"colours of a wider profile":   {pageWith(put, resources, "", picture("/BitsPerComponent 8/ColorSpace[/ICCBased 6 0 R]/Filter/FlateDecode"+size, rows), profile(enginetest.DisplayP3())), false},
		"over a line":                  {pageWith("1 0 0 rg 0 100 400 50 re f "+put, resources, "", picture(rgb+"/Filter/FlateDecode"+size+"/SMask 6 0 R", rows), picture(gray+"/Filter/FlateDecode"+size, grays)), false},
		"over a text":                  {pageWith("BT /F 20 Tf 60 60 Td (hidden) Tj ET "+put, resources+"/Font<</F 6 0 R>>", "", picture(dct, camera), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"), false},
		"in a circle":                  {pageWith("q 100 100 m 300 100 300 200 100 200 c W n "+put+"Q", resources, "", picture(dct, camera)), false},
		"clipped by text":              {pageWith("q BT /F 90 Tf 7 Tr 60 60 Td (clip) Tj ET "+put+"Q", resources+"/Font<</F 6 0 R>>", "", picture(dct, camera), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"), false},
		"clipped by text beside it":    {pageWith("1 0 0 rg 380 280 9 9 re f q BT /F 10 Tf 7 Tr 5 5 Td (clip) Tj ET "+put+"Q", resources+"/Font<</F 6 0 R>>", "", picture(dct, camera), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"), false},
		"over what has no end":         {pageWith("1 0 0 rg q "+away+"-1000 -1000 2000 2000 re f Q "+put, resources, "", picture(rgb+"/Filter/FlateDecode"+size+"/SMask 6 0 R", rows), picture(gray+"/Filter/FlateDecode"+size, grays)), false},
		"in what has no end":           {pageWith("q "+away+"-1000 -1000 2000 2000 re W n "+back+put+"Q", resources, "", picture(dct, camera)), true},
		"under what is multiplied":     {pageWith(put+"/G gs 1 1 0 rg 100 100 100 100 re f", resources+"/ExtGState<</G<</BM/Multiply>>>>", "/Group<</S/Transparency/I true/CS/DeviceRGB>>", picture(dct, camera)), false},
		"beside what is multiplied":    {pageWith(put+"/G gs 1 1 0 rg 360 100 30 100 re f", resources+"/ExtGState<</G<</BM/Multiply>>>>", "/Group<</S/Transparency/I true/CS/DeviceRGB>>", picture(dct, camera)), true},
		"over what is multiplied":      {pageWith("/G gs 1 1 0 rg 0 0 20 20 re f /N gs "+put, resources+"/ExtGState<</G<</BM/Multiply>>/N<</BM/Normal>>>>", "/Group<</S/Transparency/I true/CS/DeviceRGB>>", picture(dct, camera)), true},
		"under a form that multiplies": {pageWith(put+"/X Do", "/XObject<</I 5 0 R/X 6 0 R>>", "/Group<</S/Transparency/I true/CS/DeviceRGB>>", picture(dct, camera), "<</Type/XObject/Subtype/Form/BBox[0 0 400 300]/Resources<</ExtGState<</G<</BM/Multiply>>>>>>/Length 35>>\nstream\n/G gs 1 1 0 rg 100 100 100 100 re f\nendstream"), false},
		"under a plain form":           {pageWith(put+"/X Do", "/XObject<</I 5 0 R/X 6 0 R>>", "", picture(dct, camera), "<</Type/XObject/Subtype/Form/BBox[0 0 400 300]/Length 29>>\nstream\n1 1 0 rg 100 100 100 100 re f\nendstream"), true},
		"under a form that differs":    {pageWith(put+"/G gs /X Do", "/XObject<</I 5 0 R/X 6 0 R>>/ExtGState<</G<</BM/Difference>>>>", "", picture(dct, camera), "<</Type/XObject/Subtype/Form/BBox[0 0 400 300]/Group<</S/Transparency/I true/CS/DeviceRGB>>/Length 29>>\nstream\n1 1 0 rg 100 100 100 100 re f\nendstream"), false},
		"under a highlight":            {pageWith(put, resources, "/Group<</S/Transparency/I true/CS/DeviceRGB>>/Annots[<</Type/Annot/Subtype/Highlight/Rect[0 0 400 300]/F 4/AP<</N 6 0 R>>>>]", picture(dct, camera), "<</Type/XObject/Subtype/Form/BBox[0 0 400 300]/Resources<</ExtGState<</G<</BM/Multiply>>>>>>/Length 35>>\nstream\n/G gs 1 1 0 rg 100 100 100 100 re f\nendstream"), false},
		"through a function":           {pageWith("/G gs "+put, resources+"/ExtGState<</G<</TR 6 0 R>>>>", "", picture(dct, camera), "<</FunctionType 2/Domain[0 1]/C0[1]/C1[0]/N 1>>"), false},
		"through none":                 {pageWith("/G gs "+put, resources+"/ExtGState<</G<</TR/Identity/TR2 /Default>>>>", "", picture(dct, camera)), true},
		"through a packed one":         {packedUpdate(pageWith("/G gs "+put, resources+"/ExtGState<</G 7 0 R>>", "", picture(dct, camera), "<</FunctionType 2/Domain[0 1]/C0[1]/C1[0]/N 1>>"), 7, "<</TR2[6 0 R 6 0 R 6 0 R 6 0 R]>>"), false},
		"turned":                       {pageWith("q 0 225 -300 0 350 40 cm /I Do Q", resources, "", picture(dct, camera)), false},
		"upside down":                  {pageWith("q 300 0 0 -225 50 265 cm /I Do Q", resources, "", picture(dct, camera)), false},
		"a turned page":                {pageWith(put, resources, "/Rotate 90", picture(dct, camera)), false},
		"half transparent":             {pageWith("/G gs "+put, resources+"/ExtGState<</G<</ca 0.5>>>>", "", picture(dct, camera)), false},
		"multiplied":                   {pageWith("/G gs "+put, resources+"/ExtGState<</G<</BM/Multiply>>>>", "", picture(dct, camera)), false},
		"a colour that is no more":     {pageWith(put, resources, "", picture(rgb+"/Filter/FlateDecode/Mask[25 35 55 65 195 205]"+size, rows)), false},
		"of the opposite":              {pageWith(put, resources, "", picture(rgb+"/Filter/DCTDecode/Decode[1 0 1 0 1 0]"+size, camera)), false},
		"before its colours":           {pageWith(put, resources, "", picture(dct+"/SMask 6 0 R", camera), picture(gray+"/Filter/FlateDecode/Matte[0 0 0]"+size, grays)), false},
		"a mask that masks itself":     {masked("", gray+"/Filter/FlateDecode/SMask 6 0 R"+size), false},
		"of its own colours":           {pageWith(put, resources, "", picture("/BitsPerComponent 8/ColorSpace[/Indexed/DeviceRGB 1 <ff000000ff00>]/Filter/FlateDecode"+size, grays)), false},
		"in a layer":                   {pageWith("/OC /L BDC "+put+"EMC", resources+"/Properties<</L 6 0 R>>", "", picture(dct, camera), "<</Type/OCG/Name(Layer)>>"), false},
		"cut short":                    {pageWith(put, resources, "", picture(dct, camera[:len(camera)/2])), false},
		"of another size":              {pageWith(put, resources, "", picture(rgb+"/Filter/DCTDecode/Width 500/Height 300", camera)), false},
		"too few rows":                 {pageWith(put, resources, "", picture(rgb+"/Filter/FlateDecode/Width 600/Height 500", rows)), false},
		"there twice":                  {pageWith(put, resources, "", picture(dct, camera), picture(dct+"/Decode[1 0 1 0 1 0]", camera)), false},
		"a small one":                  {pageWith("q 20 0 0 15 50 40 cm /I Do Q ", resources, "", picture(dct, camera)), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := New(cache())
			defer r.Close()
			if err := r.Warm(quiet); err != nil {
				t.Fatal(err)
			}
			d, err := openIn(r.pool, c.doc)
			if err != nil {
				t.Fatal(err)
			}
			defer d.close()
			want, _ := drawnOn(t, d, false)
			got, laid := drawnOn(t, d, true)
			if laid != c.laid {
				t.Errorf("laid: %v", laid)
			}
			if again, _ := drawnOn(t, d, false); !bytes.Equal(again.Pix, want.Pix) {
				t.Error("the page has changed for good")
			}
			if blank(want) {
				t.Fatal("the page shows nothing")
			}
			if mean, most := differ(got, want); mean > 2 || most > 140 || !laid && mean != 0 {
				t.Errorf("differs by %.2f, at most %d", mean, most)
			}
		})
	}
}

func onlyGray(img image.Image) *image.Gray {
	out := image.NewGray(img.Bounds())
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			out.Set(x, y, img.At(x, y))
		}
	}
	return out
}

// drawnOn draws the first page, with or without what is laid under it.
func drawnOn(t *testing.T, d *document, lay bool) (img *image.RGBA, laid bool) {
	t.Helper()
	on, err := newSheet(d.in, 800, 600)
	if err != nil {
		t.Fatal(err)
	}
	defer on.close()
	defer d.leave()
	if lay {
		laid = d.underlay(1, on)
	}
	p, err := on.show(d.page(1))
	if err != nil {
		t.Fatal(err)
	}
	return &image.RGBA{Pix: bytes.Clone(p.Pix), Stride: p.Stride, Rect: p.Rect}, laid
}

func blank(img *image.RGBA) bool {
	return !slices.ContainsFunc(img.Pix, func(v byte) bool { return v != 255 })
}

// differ is by how much colours differ, on the whole and anywhere.
func differ(a, b *image.RGBA) (mean float64, most int) {
	sum := 0
	for i := range a.Pix {
		if i%4 == 3 {
			continue
		}
		by := int(a.Pix[i]) - int(b.Pix[i])
		by = max(by, -by)
		sum, most = sum+by, max(most, by)
	}
	return float64(sum) / float64(len(a.Pix)*3/4), most
}

// Whatever stands around a picture's bytes, it is found as it is or not at all.
func FuzzStored(f *testing.F) {
	rows := zipped(asRows(photo(40, 30), 3))
	size := "/Width 40/Height 30"
	f.Add(pageWith("q", "", "", picture("/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/FlateDecode"+size+"/SMask 6 0 R", rows), picture("/BitsPerComponent 8/ColorSpace/DeviceGray/Filter/FlateDecode"+size, rows+" ")), 3)
	f.Add(pageWith("q", "", "", picture("/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter[/FlateDecode]/DecodeParms[<</Predictor 15/Colors 3/Columns 40>>]"+size, rows)), 3)
	f.Fuzz(func(t *testing.T, doc []byte, samples int) {
		at := bytes.Index(doc, []byte(rows))
		if at < 0 || samples != 1 && samples != 3 {
			return
		}
		s, ok := storedIn(doc, []byte(rows), samples)
		if !ok {
			return
		}
		if s.width <= 0 || s.height <= 0 || s.width*s.height > mostDecoded || !bytes.Equal(s.raw, []byte(rows)) {
			t.Fatalf("%d x %d", s.width, s.height)
		}
		if s.width*s.height > 1<<20 {
			return // it takes long to find that there are no such rows
		}
		if img, err := s.fitted(16, 12); err == nil && img.Bounds() != image.Rect(0, 0, 16, 12) {
			t.Fatal(img.Bounds())
		}
	})
}
