package pdf

import (
	"bytes"
	"image"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media/enginetest"
)

// layCase is a page with a picture, and whether that can be laid under it.
type layCase struct {
	doc  []byte
	laid bool
}

// put draws the picture of most pages, which is 600 pixels wide and 450 high.
const (
	put  = "q 300 0 0 225 50 40 cm /I Do Q "
	size = "/Width 600/Height 450"
)

// kindsOfPictures are pages with nothing but a picture of some kind.
func kindsOfPictures(t *testing.T) map[string]layCase {
	img := photo(600, 450)
	camera, rows, grays := asJPEG(t, img), zipped(asRows(img, 3)), zipped(asRows(img, 1))
	const dct, flate = "/Filter/DCTDecode" + size, "/Filter/FlateDecode" + size
	on := func(content string, objects ...string) []byte {
		return pageWith(content, "/XObject<</I 5 0 R>>", "", objects...)
	}
	alone := func(objects ...string) []byte { return on(put, objects...) }
	masked := func(mask string) []byte {
		return on("1 0 0 rg 0 0 0 0 re f "+put, picture(rgb+flate+"/SMask 6 0 R", rows), picture(gray+mask, grays))
	}
	return map[string]layCase{
		"JPEG":                         {alone(picture(rgb+dct, camera)), true},
		"JPEG in a list of one":        {alone(picture(rgb+"/Filter[/DCTDecode]"+size, camera)), true},
		"gray JPEG":                    {alone(picture(gray+dct, asJPEG(t, onlyGray(img)))), true},
		"rows":                         {alone(picture(rgb+flate, rows)), true},
		"gray rows":                    {alone(picture(gray+flate, grays)), true},
		"rows with PNG's filters":      {alone(picture(rgb+"/Filter/FlateDecode/DecodeParms<</Predictor 15/Colors 3/Columns 600>>"+size, asPNGRows(t, img))), true},
		"a mask":                       {masked(flate), true},
		"a mask of the opposite":       {masked("/Filter/FlateDecode/Decode[1 0]" + size), true},
		"a mask that masks itself":     {masked("/Filter/FlateDecode/SMask 6 0 R" + size), false},
		"gray rows of the opposite":    {alone(picture(gray+"/Filter/FlateDecode/Decode[1 0]"+size, grays)), true},
		"gray JPEG of the opposite":    {alone(picture(gray+"/Filter/DCTDecode/Decode[1 0]"+size, asJPEG(t, onlyGray(img)))), true},
		"of the opposite":              {alone(picture(rgb+"/Filter/DCTDecode/Decode[1 0 1 0 1 0]"+size, camera)), false},
		"colours that are called gray": {alone(picture(gray+dct, camera)), false},
		"enlarged":                     {on("q 400 0 0 300 0 0 cm /I Do Q", picture(rgb+"/Filter/DCTDecode/Width 400/Height 300", asJPEG(t, photo(400, 300)))), true},
		"enlarged much":                {on("q 400 0 0 300 0 0 cm /I Do Q", picture(rgb+"/Filter/DCTDecode/Width 200/Height 150", asJPEG(t, photo(200, 150)))), false},
		"colours of a profile of sRGB": {alone(picture("/BitsPerComponent 8/ColorSpace[/ICCBased 6 0 R]"+dct, camera), profile(enginetest.SRGB())), true},
		"colours of a wider profile":   {alone(picture("/BitsPerComponent 8/ColorSpace[/ICCBased 6 0 R]"+flate, rows), profile(enginetest.DisplayP3())), false},
		"a colour that is no more":     {alone(picture(rgb+"/Filter/FlateDecode/Mask[25 35 55 65 195 205]"+size, rows)), false},
		"before its colours":           {alone(picture(rgb+dct+"/SMask 6 0 R", camera), picture(gray+"/Filter/FlateDecode/Matte[0 0 0]"+size, grays)), false},
		"of its own colours":           {alone(picture("/BitsPerComponent 8/ColorSpace[/Indexed/DeviceRGB 1 <ff000000ff00>]"+flate, grays)), false},
		"cut short":                    {alone(picture(rgb+dct, camera[:len(camera)/2])), false},
		"of another size":              {alone(picture(rgb+"/Filter/DCTDecode/Width 500/Height 300", camera)), false},
		"too few rows":                 {alone(picture(rgb+"/Filter/FlateDecode/Width 600/Height 500", rows)), false},
		"there twice":                  {alone(picture(rgb+dct, camera), picture(rgb+dct+"/Decode[1 0 1 0 1 0]", camera)), false},
	}
}

// placesOfPictures are pages that put a JPEG, or one with a mask, somewhere.
func placesOfPictures(t *testing.T) map[string]layCase {
	img := photo(600, 450)
	camera := picture(rgb+"/Filter/DCTDecode"+size, asJPEG(t, img))
	rows, mask := picture(rgb+"/Filter/FlateDecode"+size+"/SMask 6 0 R", zipped(asRows(img, 3))), picture(gray+"/Filter/FlateDecode"+size, zipped(asRows(img, 1)))
	const own, font = "/XObject<</I 5 0 R>>", "/XObject<</I 5 0 R>>/Font<</F 6 0 R>>"
	away, back := strings.Repeat("1000000 0 0 1000000 0 0 cm ", 4), strings.Repeat("0.000001 0 0 0.000001 0 0 cm ", 4)
	on := func(content string) []byte { return pageWith(content, own, "", camera) }
	lettered := func(content string) []byte { return pageWith(content, font, "", camera, helvetica) }
	return map[string]layCase{
		"beyond the page's edge":    {on("q 500 0 0 400 -50 -60 cm /I Do Q"), true},
		"a page cut from a sheet":   {pageWith(put, own, "/CropBox[20 10 380 250]", camera), true},
		"in a rectangle":            {on("q 80 60 200 100 re W n " + put + "Q"), true},
		"in a circle":               {on("q 100 100 m 300 100 300 200 100 200 c W n " + put + "Q"), false},
		"in what has no end":        {on("q " + away + "-1000 -1000 2000 2000 re W n " + back + put + "Q"), true},
		"beside a line":             {on("0 0 40 300 re f " + put), true},
		"under lines":               {on(put + "1 0 0 rg 100 100 50 50 re f"), true},
		"over a line":               {pageWith("1 0 0 rg 0 100 400 50 re f "+put, own, "", rows, mask), false},
		"over what has no end":      {pageWith("1 0 0 rg q "+away+"-1000 -1000 2000 2000 re f Q "+put, own, "", rows, mask), false},
		"over a text":               {lettered("BT /F 20 Tf 60 60 Td (hidden) Tj ET " + put), false},
		"over an invisible text":    {lettered("BT /F 20 Tf 3 Tr 60 60 Td (read from it) Tj ET " + put), true},
		"clipped by text":           {lettered("q BT /F 90 Tf 7 Tr 60 60 Td (clip) Tj ET " + put + "Q"), false},
		"clipped by text beside it": {lettered("1 0 0 rg 380 280 9 9 re f q BT /F 10 Tf 7 Tr 5 5 Td (clip) Tj ET " + put + "Q"), false},
		"two sizes of one":          {on("q 100 0 0 75 0 225 cm /I Do Q q 200 0 0 150 150 20 cm /I Do Q"), true},
		"one over another":          {on(put + "q 120 0 0 90 100 100 cm /I Do Q"), true},
		"turned":                    {on("q 0 225 -300 0 350 40 cm /I Do Q"), false},
		"upside down":               {on("q 300 0 0 -225 50 265 cm /I Do Q"), false},
		"a turned page":             {pageWith(put, own, "/Rotate 90", camera), false},
		"in a layer":                {pageWith("/OC /L BDC "+put+"EMC", own+"/Properties<</L 6 0 R>>", "", camera, "<</Type/OCG/Name(Layer)>>"), false},
		"a small one":               {on("q 20 0 0 15 50 40 cm /I Do Q "), false},
	}
}

// mixedPictures are pages that mix a JPEG with something, or may.
func mixedPictures(t *testing.T) map[string]layCase {
	camera := picture(rgb+"/Filter/DCTDecode"+size, asJPEG(t, photo(600, 450)))
	const own, both = "/XObject<</I 5 0 R>>", "/XObject<</I 5 0 R/X 6 0 R>>"
	const multiply, square = "/ExtGState<</G<</BM/Multiply>>>>", "1 1 0 rg 100 100 100 100 re f"
	const group = "/Group<</S/Transparency/I true/CS/DeviceRGB>>"
	multiplies := form("/Resources<<"+multiply+">>", "/G gs "+square)
	in := func(state string, more ...string) []byte {
		return pageWith("/G gs "+put, own+"/ExtGState<</G"+state+">>", "", append([]string{camera}, more...)...)
	}
	return map[string]layCase{
		"multiplied":                   {in("<</BM/Multiply>>"), false},
		"half transparent":             {in("<</ca 0.5>>"), false},
		"under what is multiplied":     {pageWith(put+"/G gs "+square, own+multiply, group, camera), false},
		"beside what is multiplied":    {pageWith(put+"/G gs 1 1 0 rg 360 100 30 100 re f", own+multiply, group, camera), true},
		"over what is multiplied":      {pageWith("/G gs 1 1 0 rg 0 0 20 20 re f /N gs "+put, own+"/ExtGState<</G<</BM/Multiply>>/N<</BM/Normal>>>>", group, camera), true},
		"under a form that multiplies": {pageWith(put+"/X Do", both, group, camera, multiplies), false},
		"under a plain form":           {pageWith(put+"/X Do", both, "", camera, form("", square)), true},
		"under a form that differs":    {pageWith(put+"/G gs /X Do", both+"/ExtGState<</G<</BM/Difference>>>>", "", camera, form(group, square)), false},
		"under a highlight":            {pageWith(put, own, group+"/Annots[<</Type/Annot/Subtype/Highlight/Rect[0 0 400 300]/F 4/AP<</N 6 0 R>>>>]", camera, multiplies), false},
		"through a function":           {in("<</TR 6 0 R>>", negative), false},
		"through none":                 {in("<</TR/Identity/TR2 /Default>>"), true},
		"through a packed one":         {packedUpdate(in(" 7 0 R", negative), 7, "<</TR2[6 0 R 6 0 R 6 0 R 6 0 R]>>"), false},
	}
}

// Pictures that are laid under a page look as PDFium draws them, and whatever else
// a page does with a picture is left to PDFium.
func TestPicturesThatAreLaidLookAsPDFiumDrawsThem(t *testing.T) {
	cases := kindsOfPictures(t)
	maps.Copy(cases, placesOfPictures(t))
	maps.Copy(cases, mixedPictures(t))
	r := New(cache())
	defer r.Close()
	if err := r.Warm(quiet); err != nil {
		t.Fatal(err)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
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
	f.Add(pageWith("q", "", "", picture(rgb+"/Filter/FlateDecode"+size+"/SMask 6 0 R", rows), picture(gray+"/Filter/FlateDecode"+size, rows+" ")), 3)
	f.Add(pageWith("q", "", "", picture(rgb+"/Filter[/FlateDecode]/DecodeParms[<</Predictor 15/Colors 3/Columns 40>>]"+size, rows)), 3)
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
