package pdf

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"strings"
	"testing"

	"github.com/klippa-app/go-pdfium/requests"

	"github.com/fsmcp/fsmcp/internal/media/pdftest"
)

// page1 is a PDF of one page with a content and more objects; the first is number 5. Its
// fonts are F1, Helvetica, and F2, whose characters have no name; the state G1 blends with
// the background.
func page1(content, page string, more ...string) []byte {
	widths := "/FirstChar 32/LastChar 126/Widths[" + strings.Repeat("500 ", 95) + "]"
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Count 1/Kids[3 0 R]/MediaBox[0 0 595 842]>>",
		"<</Type/Page/Parent 2 0 R/Resources<</ExtGState<</G1<</BM/Luminosity/ca .5>>>>/Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding" + widths + ">>" +
			"/F2<</Type/Font/Subtype/Type3/FontBBox[0 0 500 700]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 1/LastChar 2/Widths[500 500]/Encoding<</Differences[1/g1/g2]>>/CharProcs<</g1 5 0 R/g2 5 0 R>>>>>>>>" +
			"/Contents 4 0 R" + page + ">>",
		pdftest.Stream("", content),
		pdftest.Stream("", "500 0 d0 0 0 400 700 re f"), // a sign of F2
	}
	return pdftest.File(append(objects, more...)...)
}

// textOf reads the text of a drawn page, and, as the control, what PDFium itself
// makes of it.
func textOf(t *testing.T, r *Reader, b []byte) (ours, naive string) {
	t.Helper()
	res, err := r.Read(b, ask(""), quiet)
	if err != nil || len(res.Pages) != 1 {
		t.Fatalf("%d pages: %v", len(res.Pages), err)
	}
	in, err := r.pool.GetInstance(openFor)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	doc, err := in.OpenDocument(&requests.OpenDocument{File: &b})
	if err != nil {
		t.Fatal(err)
	}
	d := document{handle: handle{in, doc.Document}}
	text, err := in.GetPageText(&requests.GetPageText{Page: d.page(1)})
	if err != nil {
		t.Fatal(err)
	}
	return res.Pages[0].Text, tidy(text.Text)
}

// Text that PDFium alone reads wrong.
func TestTextIsWhatIsSeen(t *testing.T) {
	r := warmed(t)
	show := func(ops string) string { return "BT /F1 20 Tf 50 700 Td " + ops + " ET" }
	for _, c := range []struct {
		name, want string
		pdf        []byte
	}{
		{"spaces within words", "another one will be there and over there again",
			page1(show("[(ano ) 500 (ther ) 0 (one ) 0 (will ) 0 (be ) 0 (th ) 500 (ere ) 0 (and ) 0 (ov ) 500 (er ) 0 (there ) 0 (ag ) 500 (ain)] TJ"), "")},
		{"gaps without spaces", "so he sat on",
			page1(show("(s) Tj 10 0 Td 5 Tc (oh) Tj 25 0 Td (es) Tj 25 0 Td 0 Tc (a) Tj 10 0 Td 5 Tc (to) Tj 25 0 Td (n) Tj"), "")},
		{"an accent of its own", "Jérôme",
			page1(show(`(J) Tj 10 0 Td (\264) Tj (er) Tj 20 0 Td (\210) Tj 0 0 Td (ome) Tj`), "")},
		{"chars without a name", "err � nil",
			page1(show("(err ) Tj /F2 20 Tf (\\001\\002) Tj /F1 20 Tf ( nil) Tj"), "")},
		{"a filled field", "Name\nAda Lovelace", annotated(t, "/Subtype/Widget/FT/Tx/V(Ada Lovelace)", "Ada Lovelace")},
		{"Hebrew that is drawn as it is read", "שלום ולום", hebrew("[(A) 1000 (B) 1000 (C) 1000 (D) 1000 ( ) 1000 (C) 1000 (B) 1000 (C) 1000 (D)] TJ")},
		{"Hebrew that is drawn as it is read, in parts", "שלום", hebrew("[(A) 1000 (B)] TJ ET BT /F1 20 Tf 180 150 Td [(C) 1000 (D)] TJ")},
		{"Arabic that is drawn as it is read, with a sign for two letters", "بلا", hebrew("(G) Tj ET BT /F1 20 Tf 190 150 Td /Span<</ActualText<FEFF06440627>>>BDC (E) Tj EMC")},
		{"Hebrew that is drawn as it is read, with points", "שָלוֹם ולום", hebrew("[(A) 500 (P) 1000 (B) 1000 (C) 500 (Q) 1000 (D) 1000 ( ) 1000 (C) 1000 (B) 1000 (C) 1000 (D)] TJ")},

		{"a page on its side", "one\ntwo\nthree", page1(show("(one) Tj 0 -30 Td (two) Tj 0 -30 Td (three) Tj"), "/Rotate 90")},
		{"a table on its side", "one\ntwo\nthree", page1("BT /F1 20 Tf 0 -1 1 0 400 700 Tm (one) Tj 0 -30 Td (two) Tj 0 -30 Td (three) Tj ET", "")},
		{"a field that others are to draw", "Name\nAda Lovelace", undrawn("/Subtype/Widget/FT/Tx/T(n)/V(Ada Lovelace)/DA(/F1 12 Tf 0 g)")},
		{"a note on the page", "Name\nsee page 9", annotated(t, "/Subtype/FreeText/Contents(see page 9)", "see page 9")},
	} {
		got, naive := textOf(t, r, c.pdf)
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if naive == c.want {
			t.Errorf("%s: PDFium alone reads %q as well", c.name, naive)
		}
	}
}

// Text whose spaces are as they are meant.
func TestTextIsLeftAlone(t *testing.T) {
	r := warmed(t)
	for _, c := range []struct{ want, ops string }{
		{"S P A C E D letters", "(S P A C E D letters) Tj"},
		{"set apart all along", "6 Tc (set apart all along) Tj"},
		{"set close all along", "-4 Tc (set close all along) Tj"},
		{"upright all along", "0 1 -1 0 300 100 Tm (upright all along) Tj"},
		{"aslant all along", "0.7 0.7 -0.7 0.7 300 100 Tm (aslant all along) Tj"},
		{"off the cuff if it fits", "(off the cuff if it fits) Tj"},
	} {
		if got, _ := textOf(t, r, page1("BT /F1 20 Tf 50 700 Td "+c.ops+" ET", "")); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// What mixes with the page has the page's white to mix with.
func TestPagesLieOnWhite(t *testing.T) {
	r := warmed(t)
	mixed := page1("0.1 0.1 0.8 rg 100 500 300 300 re f /G1 gs 0.7 0.2 0.2 rg 100 100 300 300 re f", "")
	colours := func(img image.Image) (up, down color.RGBA) {
		w, h := img.Bounds().Dx(), img.Bounds().Dy()
		rgba := color.RGBAModel
		return rgba.Convert(img.At(w*250/595, h*(842-650)/842)).(color.RGBA), rgba.Convert(img.At(w*250/595, h*(842-250)/842)).(color.RGBA)
	}
	res, err := r.Read(mixed, ask(""), quiet)
	if err != nil {
		t.Fatal(err)
	}
	img, err := jpeg.Decode(bytes.NewReader(res.Pages[0].Picture))
	if err != nil {
		t.Fatal(err)
	}
	// Half of a red on white.
	blue, red := colours(img)
	if red.R < 210 || red.R > 224 || red.G < 146 || red.G > 160 || blue.R > 40 || blue.B < 190 {
		t.Errorf("%v and %v", blue, red)
	}

	// The control: white that is laid under what is done.
	in, err := r.pool.GetInstance(openFor)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	doc, err := in.OpenDocument(&requests.OpenDocument{File: &mixed})
	if err != nil {
		t.Fatal(err)
	}
	d := document{handle: handle{in, doc.Document}}
	late, err := in.RenderPageInPixels(&requests.RenderPageInPixels{Page: d.page(1), Width: 595, Height: 842})
	if err != nil {
		t.Fatal(err)
	}
	defer late.Cleanup()
	under := image.NewRGBA(late.Result.Image.Rect)
	draw.Draw(under, under.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(under, under.Rect, late.Result.Image, image.Point{}, draw.Over)
	if _, red := colours(under); red.R > 200 {
		t.Errorf("the naive way draws %v as well", red)
	}
}

// Making annotations a part of a page leaves the rest of it alone: its size and
// what its text is drawn with, which it may have from the document.
func TestAnnotationsLeaveThePageAlone(t *testing.T) {
	r := warmed(t)
	whole := string(annotated(t, "/Subtype/FreeText/Contents(see page 9)", "see page 9"))
	from, to := strings.Index(whole, "/Resources<<"), strings.Index(whole, "/Contents 4 0 R")
	resources := whole[from:to]
	whole = whole[:from] + whole[to:]
	whole = strings.Replace(whole, "/MediaBox[0 0 595 842]", resources+"/MediaBox[100 200 1100 1200]/CropBox[0 300 700 1200]", 1)
	res, err := r.Read([]byte(whole), ask(""), quiet)
	if err != nil || res.Pages[0].Text != "Name\nsee page 9" {
		t.Errorf("%q %v", res.Pages[0].Text, err)
	}
	img, err := jpeg.Decode(bytes.NewReader(res.Pages[0].Picture))
	if err != nil || img.Bounds().Dx() != 1046 || img.Bounds().Dy() != 1568 {
		t.Errorf("%v %v", img.Bounds(), err)
	}
	if n := ink(img); n < 300 {
		t.Errorf("%d dark pixels", n)
	}
}

func ink(img image.Image) (n int) {
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, _, _, _ := img.At(x, y).RGBA(); r < 0x8000 {
				n++
			}
		}
	}
	return n
}

// Hebrew that is drawn from left to right PDFium reads right, and it stays so.
func TestHebrewIsLeftAlone(t *testing.T) {
	r := warmed(t)
	got, naive := textOf(t, r, hebrew("(DCBC DCBA) Tj"))
	if got != "שלום ולום" || naive != got {
		t.Errorf("%q, PDFium alone %q", got, naive)
	}
}

// A file that is pinned to a page is named like others, as often as the page is read.
func TestFilesPinnedToAPageAreNamed(t *testing.T) {
	r := warmed(t)
	doc := pageWith("", "", "/Annots[5 0 R]",
		"<</Type/Annot/Subtype/FileAttachment/F 4/Rect[50 50 70 70]/FS<</Type/Filespec/F(sums.csv)/UF(sums.csv)/EF<</F 6 0 R>>>>>>",
		pdftest.Stream("/Type/EmbeddedFile", "1,2"))
	for range 2 {
		res, err := r.Read(doc, ask(""), quiet)
		if err != nil || len(res.Attachments) != 1 || res.Attachments[0] != "sums.csv" {
			t.Errorf("%q %v", res.Attachments, err)
		}
	}
}

// hebrew is a page whose letters A to D mean Hebrew ones, P and Q points, G and E an Arabic letter and a sign for two.
func hebrew(ops string) []byte {
	names := "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /H def /CMapType 2 def 1 begincodespacerange <00> <ff> endcodespacerange " +
		"9 beginbfchar <20> <0020> <41> <05e9> <42> <05dc> <43> <05d5> <44> <05dd> <50> <05b8> <51> <05b9> <47> <0628> <45> <fefc> endbfchar endcmap end end"
	return pageWith("BT /F1 20 Tf 200 150 Td "+ops+" ET",
		"/Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica/FirstChar 32/LastChar 126/Widths["+strings.Repeat("500 ", 95)+"]/ToUnicode 5 0 R>>>>", "", pdftest.Stream("", names))
}

// What has no appearance of its own and is to have one made for it, is seen.
func TestMarksAreDrawn(t *testing.T) {
	r := warmed(t)
	for name, dict := range map[string]string{
		"a marker": "/Subtype/Highlight/C[1 1 0]/QuadPoints[150 530 350 530 150 500 350 500]",
		"a frame":  "/Subtype/Square/IC[1 1 0]/C[1 1 0]/BS<</W 1>>",
	} {
		res, err := r.Read(undrawn(dict), ask(""), quiet)
		if err != nil {
			t.Fatal(err)
		}
		img, err := jpeg.Decode(bytes.NewReader(res.Pages[0].Picture))
		if err != nil {
			t.Fatal(err)
		}
		w, h := img.Bounds().Dx(), img.Bounds().Dy()
		if c := color.RGBAModel.Convert(img.At(w*250/595, h*(842-515)/842)).(color.RGBA); c.R < 240 || c.G < 240 || c.B > 20 {
			t.Errorf("%s: %v", name, c)
		}
	}
}

// undrawn is a page with a name on it and an annotation without an appearance, in a
// document that asks for one to be made.
func undrawn(dict string) []byte {
	made := string(page1("BT /F1 20 Tf 150 700 Td (Name) Tj ET", "/Annots[6 0 R]", "<</Type/Annot/F 4/Rect[150 500 350 530]"+dict+">>"))
	return []byte(strings.Replace(made, "/Pages 2 0 R", "/AcroForm<</NeedAppearances true/Fields[6 0 R]/DR<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>/Pages 2 0 R", 1))
}

// annotated is a page with a name on it and an annotation.
func annotated(t *testing.T, dict, words string) []byte {
	t.Helper()
	form := "BT /F1 12 Tf 5 5 Td (" + words + ") Tj ET"
	return page1("BT /F1 20 Tf 150 700 Td (Name) Tj ET", "/Annots[6 0 R]",
		"<</Type/Annot/F 4/Rect[150 500 350 530]"+dict+"/AP<</N 7 0 R>>>>",
		fmt.Sprintf("<</Type/XObject/Subtype/Form/BBox[0 0 200 30]/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>/Length %d>>\nstream\n%s\nendstream", len(form), form))
}

// A page whose CropBox is outside its MediaBox does not break the document: it is shown
// without a crop, also if the size is the document's, with everything on it.
func TestAPageThatIsCutDownToNothingIsShown(t *testing.T) {
	r := warmed(t)
	page := func(own, all string) []byte {
		return pdftest.File("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1"+all+">>",
			"<</Type/Page/Parent 2 0 R/CropBox[1000 1000 1200 1200]/Contents 4 0 R"+own+">>", pdftest.Stream("", "1 0 0 rg 0 0 400 300 re f"))
	}
	const size, note = "/MediaBox[0 0 400 300]", "/Annots[<</Type/Annot/Subtype/Square/F 4/Rect[10 10 20 20]/C[0 0 1]>>]"
	for name, doc := range map[string][]byte{"own": page(size, ""), "inherited": page("", size), "noted": page(note, size)} {
		res, err := r.Read(doc, ask(""), quiet)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		img, err := jpeg.Decode(bytes.NewReader(res.Pages[0].Picture))
		if err != nil || img.Bounds().Size() != image.Pt(1568, 1176) {
			t.Errorf("%s: %v %v", name, img.Bounds(), err)
			continue
		}
		if c := color.RGBAModel.Convert(img.At(700, 500)).(color.RGBA); c.R < 240 || c.G > 20 {
			t.Errorf("%s: %v", name, c)
		}
	}
}
