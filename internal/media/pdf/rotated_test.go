package pdf

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"

	"github.com/fsmcp/fsmcp/internal/media/pdftest"
)

// columns is a page of words that stand in columns from right to left, each with its
// letters below each other.
func columns(t *testing.T, page string, words ...string) []byte {
	t.Helper()
	font, err := sfnt.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	var content, names strings.Builder
	known := map[rune]bool{}
	for i, word := range words {
		fmt.Fprintf(&content, "BT /F 14 Tf %d 280 Td <", 350-30*i)
		for _, letter := range word {
			glyph, err := font.GlyphIndex(nil, letter)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&content, "%04x", glyph)
			if !known[letter] {
				known[letter] = true
				fmt.Fprintf(&names, "<%04x> <%04x> ", glyph, letter)
			}
		}
		content.WriteString("> Tj ET ")
	}
	return pageWith(content.String(), "/Font<</F 5 0 R>>", page,
		"<</Type/Font/Subtype/Type0/BaseFont/Go/Encoding/Identity-V/DescendantFonts[6 0 R]/ToUnicode 9 0 R>>",
		"<</Type/Font/Subtype/CIDFontType2/BaseFont/Go/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor 7 0 R/DW 600/CIDToGIDMap/Identity>>",
		"<</Type/FontDescriptor/FontName/Go/Flags 4/FontBBox[0 -300 1000 1000]/ItalicAngle 0/Ascent 900/Descent -200/CapHeight 700/StemV 80/FontFile2 8 0 R>>",
		pdftest.Stream("", string(goregular.TTF)),
		pdftest.Stream("", fmt.Sprintf("/CIDInit/ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <0000><ffff> endcodespacerange %d beginbfchar %sendbfchar endcmap end end", len(known), names.String())))
}

// Columns of vertical writing are read from right to left, however the page is turned.
func TestVerticalWritingIsReadFromRightToLeft(t *testing.T) {
	r := warmed(t)
	for _, page := range []string{"", "/Rotate 90"} {
		got, naive := textOf(t, r, columns(t, page, "first", "second", "third", "fourth"))
		if want := "first\nsecond\nthird\nfourth"; got != want {
			t.Errorf("%s: %q", page, got)
		} else if page == "" && naive == want {
			t.Error("PDFium alone reads it so, too")
		}
	}
}
