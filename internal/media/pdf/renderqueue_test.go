package pdf

import (
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/media"
)

// A page is drawn the same by either PDFium, at any time, after any other page.
func TestAPageIsTheSameWhoeverDrawsIt(t *testing.T) {
	sheet := func(page int) string { return strings.Repeat(" 0.2 0.4 0.9 rg 80 80 400 300 re f", page%3) }
	one, other := drawn(9, "", sheet), sample(9, "")
	fresh := map[*byte][]media.PDFPage{&one[0]: alone(t, one), &other[0]: alone(t, other)}
	r := warmed(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))))
	for _, c := range []struct {
		b     []byte
		pages string
	}{{one, "1-5"}, {one, "6-9"}, {other, "6-9"}, {one, "1-9"}, {one, "4,2"}, {other, "1"}, {other, "1-7"}} {
		res, err := r.Read(c.b, ask(c.pages), quiet)
		if err != nil {
			t.Fatal(err)
		}
		if res.Count != 9 || len(res.Pages) != len(res.Set.Pages) {
			t.Errorf("%d pages of %d", len(res.Pages), res.Count)
		}
		for i, p := range res.Pages {
			want := fresh[&c.b[0]][p.Number-1]
			if i >= media.PagePictures {
				want.Picture = nil
			}
			if !reflect.DeepEqual(p, want) {
				t.Errorf("page %d of pages %s differs from that of a fresh reader", p.Number, c.pages)
			}
		}
	}
}

// alone returns the nine pages of a document, each with its picture, as readers of their own
// draw them with one PDFium.
func alone(t *testing.T, b []byte) (pages []media.PDFPage) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, some := range []string{"1-5", "6-9"} {
		r := New(cache())
		res, err := r.Read(b, ask(some), quiet)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, res.Pages...)
	}
	for _, p := range pages {
		if p.Picture == nil {
			t.Fatalf("page %d has no picture", p.Number)
		}
	}
	return pages
}

// When the time for drawing is over, the pages that are left come as text alone.
func TestPagesThatAreLeftWhenTimeIsOver(t *testing.T) {
	sheet := func(int) string { return " 0.2 0.4 0.9 rg 80 80 400 300 re f" }
	r := warmed(t)
	for _, c := range []struct {
		within    time.Duration
		pictures  int
		outOfTime bool
	}{{1, 1, true}, {time.Hour, 5, false}, {0, 5, false}} {
		q := ask("1-5")
		q.DrawFor = c.within
		res, err := r.Read(drawn(9, "", sheet), q, quiet)
		if err != nil {
			t.Fatal(err)
		}
		pictures := 0
		for _, p := range res.Pages {
			if p.Picture != nil {
				pictures++
			}
		}
		if pictures != c.pictures || res.OutOfTime != c.outOfTime || len(res.Pages) != 5 {
			t.Errorf("within %v: %d pictures of %d pages, out of time %v", c.within, pictures, len(res.Pages), res.OutOfTime)
		}
	}
}

// Only the document that was read last stays open, and none that is damaged.
func TestWhatStaysOpen(t *testing.T) {
	r := warmed(t)
	a, b := sample(12, ""), sample(3, "")
	if _, err := r.Read(b, ask("1-3"), quiet); err != nil || r.kept == nil {
		t.Fatalf("%v %v", r.kept, err)
	}
	in := r.kept.in
	if _, err := r.Read(append([]byte(nil), b...), ask("2"), quiet); err != nil || r.kept == nil || r.kept.in != in {
		t.Errorf("the same document was opened anew: %v", err)
	}
	var choose *media.OutlineError
	if _, err := r.Read(a, ask(""), quiet); !errors.As(err, &choose) || r.kept == nil || r.kept.in == in {
		t.Errorf("another document was read where the last one was: %v", err)
	}
	if _, err := r.Read([]byte("%PDF-1.4\nnothing"), ask(""), quiet); err == nil || r.kept != nil {
		t.Errorf("%v is open after %v", r.kept, err)
	}
}

// Where not all pictures have room, those have it whose pages hold more than text.
func TestRoomIsGivenInOrder(t *testing.T) {
	b := drawn(4, "", func(page int) string {
		if page < 3 {
			return ""
		}
		return strings.Repeat(" 0.2 0.4 0.9 rg 80 80 400 300 re f 1 0 0 rg 90 90 5 5 re f", 30)
	})
	r := warmed(t)
	q := ask("1-4")
	q.Choose = true
	all, err := r.Read(b, q, quiet)
	if err != nil {
		t.Fatal(err)
	}
	q.Room = media.Base64Len(len(all.Pages[2].Picture)) + media.Base64Len(len(all.Pages[3].Picture)) + 1000
	res, err := r.Read(b, q, quiet)
	if err != nil || res.Pages[2].Picture == nil || res.Pages[3].Picture == nil || res.Pages[0].Picture != nil || res.Pages[1].Picture != nil {
		t.Errorf("%v", err)
	}
}
