package pdf

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media"
)

// Pages that are text alone come without a picture where a choice is made, and
// others with one; without a choice the first ones have one. A page that is named by
// itself always has.
func TestPicturesGoWhereTextDoesNotTell(t *testing.T) {
	const photo = "\nq 100 0 0 100 72 300 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q"
	rule, chart, box := "\n72 690 m 500 690 l S", strings.Repeat("\n72 100 m 500 100 l S", plainLines+1), "\n72 100 50 80 re f"
	b := drawn(10, "", func(page int) string {
		switch page {
		case 2, 4:
			return rule
		case 7:
			return box
		case 8:
			return chart
		case 9:
			return photo
		case 10:
			return "\n72 100 m 500 300 l S"
		}
		return ""
	})
	r := warmed(t)
	for _, c := range []struct {
		pages  string
		change func(*media.PDFRequest)
		want   []int
	}{
		{"1-10", func(*media.PDFRequest) {}, []int{1, 2, 3, 4, 5, 6, 7}},
		{"1-10", func(q *media.PDFRequest) { q.Choose = true }, []int{7, 8, 9, 10}},
		{"", func(q *media.PDFRequest) { q.Choose = true }, []int{7, 8, 9, 10}},
		{"1-10", func(q *media.PDFRequest) { q.Choose, q.Pictures = true, 2 }, []int{7, 8}},
		{"1-10", func(q *media.PDFRequest) { q.Choose, q.Pictures = true, 0 }, nil},
		{"2", func(q *media.PDFRequest) { q.Choose = true }, []int{2}},
		{"2-3", func(q *media.PDFRequest) { q.Choose = true }, nil},
	} {
		q := ask(c.pages)
		c.change(&q)
		res, err := r.Read(b, q, quiet)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, p := range res.Pages {
			if p.Picture != nil {
				got = append(got, p.Number)
			}
			if p.Plain && (p.Picture != nil || !q.Choose) || !p.Plain && q.Choose && c.pages != "2" && p.Number < 7 {
				t.Errorf("%+v: page %d is plain: %v", q, p.Number, p.Plain)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: pictures of %v, want %v", q, got, c.want)
		}
	}
}

// A page whose font does not say what its signs mean has a picture, though they look
// like letters; so has one of whose text nothing is known.
func TestTextThatIsNotKnownHasAPicture(t *testing.T) {
	const descriptor = "<</Type/FontDescriptor/FontName/X/Flags 4/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 800/Descent 0/CapHeight 800/StemV 80>>"
	fonts := map[string]string{
		"known":   helvetica,
		"unknown": "<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[<</Type/Font/Subtype/CIDFontType2/BaseFont/X/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor 6 0 R>>]>>",
	}
	r := warmed(t)
	for name, font := range fonts {
		content := "BT /F 20 Tf 20 100 Td (Some text that is long enough.) Tj ET"
		doc := pageWith(content, "/Font<</F 5 0 R>>", "", font, descriptor)
		q := ask("")
		q.Choose = true
		res, err := r.Read(doc, q, quiet)
		if err != nil || res.Pages[0].Plain != (name == "known") || res.Pages[0].Plain != (res.Pages[0].Picture == nil) {
			t.Errorf("%s: plain %v, %d bytes of picture, text %q, %v", name, res.Pages[0].Plain, len(res.Pages[0].Picture), res.Pages[0].Text, err)
		}
	}
	q := ask("")
	q.Choose = true
	if res, err := r.Read(pageWith("", "", ""), q, quiet); err != nil || res.Pages[0].Picture == nil {
		t.Errorf("an empty page has no picture: %v", err)
	}
}

// A page that takes more than its share of the room steps down in quality and size
// before its picture is left out.
func TestPicturesStepDown(t *testing.T) {
	noise := func(page int) string {
		if page == 3 {
			return ""
		}
		var b strings.Builder
		for i := range 4000 {
			fmt.Fprintf(&b, "\n%.2f %.2f %.2f rg %d %d 8 8 re f", float64(i*7%11)/11, float64(i*5%13)/13, float64(i*3%17)/17, i*37%590, i*91%840)
		}
		return b.String()
	}
	b := drawn(3, "", noise)
	r := warmed(t)
	read := func(q media.PDFRequest) media.PDFResult {
		res, err := r.Read(b, q, quiet)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	size := func(p media.PDFPage) int { return media.Base64Len(len(p.Picture)) }
	best := read(ask(""))
	texts := 0
	for _, p := range best.Pages {
		if p.Coarse {
			t.Errorf("page %d is coarse", p.Number)
		}
		texts += media.JSONLen(p.Text)
	}
	for _, c := range []struct{ percent, coarse, left int }{{100, 0, 2}, {90, 1, 2}, {60, 2, 2}, {40, 1, 1}, {20, 0, 0}, {4, 0, 0}} {
		q := ask("")
		q.Room = texts + size(best.Pages[2]) + 2*size(best.Pages[0])*c.percent/100
		if c.percent == 100 {
			q.Room = texts + size(best.Pages[0]) + size(best.Pages[1]) + size(best.Pages[2])
		}
		res := read(q)
		used, coarse, left := texts+size(res.Pages[2]), 0, 0
		for i, p := range res.Pages[:2] {
			used += size(p)
			if p.Picture == nil {
				continue
			}
			left++
			if p.Coarse {
				coarse++
			}
			if got, err := jpeg.DecodeConfig(bytes.NewReader(p.Picture)); err != nil || got.Height != 1568 && got.Height != 1176 || p.Coarse != (size(p) < size(best.Pages[i])) {
				t.Errorf("%d %%: %d pixels high, %d characters, %v", c.percent, got.Height, size(p), err)
			}
		}
		if used > q.Room || coarse != c.coarse || left != c.left || res.Pages[2].Coarse || res.Pages[2].Picture == nil {
			t.Errorf("%d %%: %d characters used of %d, %d pictures, %d coarse", c.percent, used, q.Room, left, coarse)
		}
	}
}

// The text of one page that has no room is cut, and it is said by how much.
func TestALongPageSaysWhatIsMissing(t *testing.T) {
	r := warmed(t)
	q := ask("")
	q.Text = 10
	res, err := r.Read(sample(1, ""), q, quiet)
	whole := "This is page 1 of the sample.\nA second line."
	if err != nil || res.Pages[0].Text != whole[:10] || res.Pages[0].Cut != len(whole)-10 {
		t.Errorf("%+v %v", res.Pages, err)
	}
}

// Text takes the room that it takes as it is sent.
func TestTextIsCountedAsItIsSent(t *testing.T) {
	r := warmed(t)
	b := drawn(1, "", func(int) string { return ` BT /F1 12 Tf 72 500 Td (` + strings.Repeat(`"quoted" `, 8) + `) Tj ET` })
	q := ask("")
	res, err := r.Read(b, q, quiet)
	if err != nil || strings.Count(res.Pages[0].Text, `"`) != 16 {
		t.Fatalf("%+v %v", res.Pages, err)
	}
	for _, c := range []struct {
		room  int
		drawn bool
	}{{media.JSONLen(res.Pages[0].Text), true}, {len(res.Pages[0].Text), false}} {
		q.Room = c.room + media.Base64Len(len(res.Pages[0].Picture))
		if res, err := r.Read(b, q, quiet); err != nil || (res.Pages[0].Picture != nil && !res.Pages[0].Coarse) != c.drawn {
			t.Errorf("room for %d: %d bytes of picture, %v", c.room, len(res.Pages[0].Picture), err)
		}
	}
}
