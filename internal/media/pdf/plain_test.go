package pdf

import (
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media"
)

// Pages that hold more than text come with a picture before those that do not;
// asked for in order, the first ones do.
func TestPicturesGoWhereTextDoesNotTell(t *testing.T) {
	const photo = "\nq 100 0 0 100 72 300 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q"
	rule, chart := "\n72 690 m 500 690 l S", strings.Repeat("\n72 100 50 80 re f", plainLines+1)
	b := drawn(9, "", func(page int) string {
		switch page {
		case 2, 4:
			return rule
		case 8:
			return chart
		case 9:
			return photo
		}
		return ""
	})
	r := New(cache())
	defer r.Close()
	for _, c := range []struct {
		change func(*media.PDFRequest)
		want   []int
	}{
		{func(*media.PDFRequest) {}, []int{1, 2, 3, 4, 5, 8, 9}},
		{func(q *media.PDFRequest) { q.Pictures = 2 }, []int{8, 9}},
		{func(q *media.PDFRequest) { q.Pictures = 3 }, []int{1, 8, 9}},
		{func(q *media.PDFRequest) { q.InOrder = true }, []int{1, 2, 3, 4, 5, 6, 7}},
		{func(q *media.PDFRequest) { q.Pictures = 0 }, nil},
		{func(q *media.PDFRequest) { q.Room = 70_000 }, []int{8}},
	} {
		q := ask("1-9")
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
		}
		if !slices.Equal(got, c.want) || len(res.Pages) != 9 {
			t.Errorf("%+v: pictures of %v, want %v", q, got, c.want)
		}
	}
}

// The text of one page that has no room is cut, and it is said by how much.
func TestALongPageSaysWhatIsMissing(t *testing.T) {
	r := New(cache())
	defer r.Close()
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
	r := New(cache())
	defer r.Close()
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
		if res, err := r.Read(b, q, quiet); err != nil || (res.Pages[0].Picture != nil) != c.drawn {
			t.Errorf("room for %d: %d bytes of picture, %v", c.room, len(res.Pages[0].Picture), err)
		}
	}
}
