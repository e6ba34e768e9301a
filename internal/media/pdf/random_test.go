package pdf

import (
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Whatever a page is made of, with pictures laid under it it looks as PDFium alone
// draws it. FSMCP_PDF_PAGES says how many pages are made up, FSMCP_SEED the first, and
// FSMCP_PDF_KEEP a folder for those that look other than they should.
func TestRandomPagesLookAsPDFiumDrawsThem(t *testing.T) {
	pages, seed := number64(t, "FSMCP_PDF_PAGES", 40), number64(t, "FSMCP_SEED", 1)
	r := New(cache())
	defer r.Close()
	if err := r.Warm(quiet); err != nil {
		t.Fatal(err)
	}
	laid, seen, off := 0, 0, 0
	for s := seed; s < seed+pages; s++ {
		w := &writer{t: t, r: rand.New(rand.NewPCG(s, 6))}
		doc, moved := w.document()
		want, got, some := drawnTwice(t, r, s, doc)
		if how := looksOther(got, want); how != "" {
			t.Errorf("page %d %s:\n%s", s, how, w.content.String())
			if dir := os.Getenv("FSMCP_PDF_KEEP"); dir != "" {
				os.WriteFile(fmt.Sprintf("%s/%d.pdf", dir, s), doc, 0o600)
			}
		}
		if !some {
			continue
		}
		laid++
		if moved == nil {
			continue
		}
		beside, _, _ := drawnTwice(t, r, s, moved)
		if off++; looksOther(got, beside) != "" {
			seen++
		}
	}
	t.Logf("%d pages, %d of them with pictures laid under them; of %d with a picture a pixel off %d were seen", pages, laid, off, seen)
	if laid < int(pages)/4 {
		t.Errorf("pictures were laid under %d pages of %d", laid, pages)
	}
	if seen < off*8/10 || off < int(pages)/12 {
		t.Errorf("of %d pages with a picture a pixel off %d were seen", off, seen)
	}
}

// drawnTwice draws a made-up page by PDFium alone, and with what is laid under it.
func drawnTwice(t *testing.T, r *Reader, page uint64, doc []byte) (alone, over *image.RGBA, laid bool) {
	t.Helper()
	d, err := openIn(r.pool, doc)
	if err != nil {
		t.Fatalf("page %d: %v", page, err)
	}
	defer d.close()
	alone, _ = drawnOn(t, d, false)
	over, laid = drawnOn(t, d, true)
	return alone, over, laid
}

// number64 is a number of the environment.
func number64(t *testing.T, name string, otherwise uint64) uint64 {
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		t.Fatal(name, err)
	}
	return n
}

// looksOther says by what a page looks other than it should; empty: by nothing
// that anybody would see. The first mean is that of blocks of two by two pixels, for
// how sharp edges come out of resizing is a matter of taste.
func looksOther(got, want *image.RGBA) string {
	if mean := differBy2(got, want); mean > 6 {
		return fmt.Sprintf("differs by %.2f on the mean", mean)
	}
	if mean, _ := differ(got, want); mean > 4 {
		return fmt.Sprintf("differs by %.2f on the mean of the page", mean)
	}
	const side = 8
	for y := 0; y+side <= want.Rect.Dy(); y += side {
		for x := 0; x+side <= want.Rect.Dx(); x += side {
			for c := range 3 {
				by := 0
				for i := range side * side {
					at := want.PixOffset(x+i%side, y+i/side) + c
					by += int(got.Pix[at]) - int(want.Pix[at])
				}
				if by = max(by, -by) / (side * side); by > 40 {
					return fmt.Sprintf("differs by %d at %d,%d", by, x, y)
				}
			}
		}
	}
	return ""
}

// differBy2 is the mean difference where there is not only white.
func differBy2(a, b *image.RGBA) float64 {
	sum, n := 0, 1
	for y := 0; y+2 <= a.Rect.Dy(); y += 2 {
		for x := 0; x+2 <= a.Rect.Dx(); x += 2 {
			by, light := [3]int{}, 0
			for i := range 4 {
				at := a.PixOffset(x+i%2, y+i/2)
				for c := range by {
					by[c] += int(a.Pix[at+c]) - int(b.Pix[at+c])
					light += int(min(a.Pix[at+c], b.Pix[at+c]))
				}
			}
			if light == 12*255 {
				continue
			}
			for _, v := range by {
				sum, n = sum+max(v, -v), n+4
			}
		}
	}
	return float64(sum) / float64(n)
}
