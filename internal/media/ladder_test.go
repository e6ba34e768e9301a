package media

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// sized is an engine whose pictures have the size that a function says.
type sized struct {
	opaque bool
	bytes  func(PictureEncoding) int
	early  bool // gives up where more bytes come than are of use
	mu     sync.Mutex
	shots  []PictureEncoding // the JPEG before the PNG where both were asked for at once
	views  []WantedView
}

func (e *sized) Open(_ []byte, _ PictureFacts, v WantedView) (Picture, error) {
	e.views = append(e.views, v)
	return e, nil
}
func (*sized) Approximate() bool { return false }
func (e *sized) Opaque() bool    { return e.opaque }
func (e *sized) Close()          {}
func (e *sized) Render(s PictureEncoding) ([]byte, error) {
	most := s.Most
	s.Most = nil
	e.mu.Lock()
	defer e.mu.Unlock()
	e.shots = append(e.shots, s)
	if e.opaque && len(e.shots) == 2 && s.As == JPEG && e.shots[0].As == PNG {
		slices.Reverse(e.shots)
	}
	n := e.bytes(s)
	if e.early && most != nil && most.Load() > 0 && n > int(most.Load()) {
		return nil, ErrLonger
	}
	return make([]byte, n), nil
}

// header is a PNG of that size without pixels.
func header(w, h int) []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR")
	b = binary.BigEndian.AppendUint32(b, uint32(w))
	b = binary.BigEndian.AppendUint32(b, uint32(h))
	return append(b, 8, 2, 0, 0, 0, 0, 0, 0, 0)
}

func develop(t *testing.T, e *sized, w, h int, change func(*Request)) (FittedPicture, error) {
	t.Helper()
	q := Request{Kind: PNG, Limits: DefaultLimits(), Bounds: DefaultBounds()}
	if change != nil {
		change(&q)
	}
	return Fit(e, header(w, h), q)
}

func TestTheFirstThatFitsIsTaken(t *testing.T) {
	const limit = 500_004 // bytes: the token rule
	e := &sized{opaque: true, bytes: func(s PictureEncoding) int { return 100 }}
	r, err := develop(t, e, 4000, 3000, nil)
	if err != nil || r.As != PNG || r.Shown.DisplayWidth != 2000 || r.Shown.DisplayHeight != 1500 {
		t.Errorf("%+v %v", r.Shown, err)
	}
	// A JPEG under half is taken instead, but not where something shines through.
	under := func(s PictureEncoding) int {
		if s.As == JPEG {
			return 1000
		}
		return 2002
	}
	for _, opaque := range []bool{true, false} {
		e = &sized{opaque: opaque, bytes: under}
		if r, err = develop(t, e, 100, 100, nil); err != nil || (r.As == JPEG) != opaque {
			t.Errorf("opaque %v: %v %v", opaque, r.As, err)
		}
	}
	// Down all steps: nothing is tried twice, and each is smaller than the one before.
	e = &sized{opaque: true, bytes: func(s PictureEncoding) int { return limit + 1 }}
	if _, err = develop(t, e, 4000, 3000, nil); !errors.Is(err, ErrNoFit) {
		t.Errorf("%v", err)
	}
	want := []PictureEncoding{{Width: 2000, Height: 1500, As: JPEG, Quality: 90}, {Width: 2000, Height: 1500, As: PNG}}
	for _, w := range []int{1500, 1000, 500} {
		want = append(want, PictureEncoding{Width: w, Height: w * 3 / 4, As: PNG})
	}
	want = append(want, PictureEncoding{Width: 800, Height: 600, As: PNG, Colours: 64})
	for _, q := range []int{80, 60, 40, 20} {
		want = append(want, PictureEncoding{Width: 600, Height: 450, As: JPEG, Quality: q})
	}
	want = append(want, PictureEncoding{Width: 400, Height: 300, As: JPEG, Quality: 20})
	if !slices.Equal(e.shots, want) {
		t.Errorf("tried %+v\nwant %+v", e.shots, want)
	}
	for i := range want {
		e = &sized{opaque: true, bytes: func(s PictureEncoding) int {
			if s == want[i] {
				return limit
			}
			return limit + 1
		}}
		r, err := develop(t, e, 4000, 3000, nil)
		if err != nil || len(r.Data) != limit || r.Shown.DisplayWidth != want[i].Width || r.As != want[i].As {
			t.Errorf("step %d: %+v %v", i, r.Shown, err)
		}
	}
}

func TestAJpegOfThePngGoesDownAsJpeg(t *testing.T) {
	e := &sized{opaque: true, bytes: func(s PictureEncoding) int {
		switch {
		case s.As == PNG:
			return 3_000_000
		case s.Quality >= 60 && s.Width == 2000:
			return 600_000
		}
		return 400_000
	}}
	r, err := develop(t, e, 4000, 3000, nil)
	if err != nil || r.As != JPEG || e.shots[len(e.shots)-1] != (PictureEncoding{Width: 2000, Height: 1500, As: JPEG, Quality: 40}) || len(e.shots) != 5 {
		t.Errorf("%+v %v", e.shots, err)
	}
}

// A picture with transparency is a PNG where that is within the limits, however much less
// a JPEG takes. Else it is a JPEG of the same size before it is made smaller.
func TestTransparencyGoesBeforeSize(t *testing.T) {
	full := func(as Kind, quality int) PictureEncoding {
		return PictureEncoding{Width: 1900, Height: 1400, As: as, Quality: quality}
	}
	order := []PictureEncoding{full(PNG, 0), full(JPEG, 90), full(JPEG, 80), full(JPEG, 60), full(JPEG, 40), full(JPEG, 20), {Width: 1425, Height: 1050, As: JPEG, Quality: 80}}
	for i, want := range order {
		e := &sized{bytes: func(s PictureEncoding) int {
			if s == want {
				return 400_000
			}
			return 600_000
		}}
		r, err := develop(t, e, 1900, 1400, nil)
		if err != nil || r.As != want.As || r.Shown.DisplayWidth != want.Width || r.OnWhite != (want.As == JPEG) || !slices.Equal(e.shots, order[:i+1]) {
			t.Errorf("step %d: %+v, on white %v, %v; tried %+v", i, r.Shown, r.OnWhite, err, e.shots)
		}
	}
	e := &sized{opaque: true, bytes: func(s PictureEncoding) int { return 100 * int(s.As) }}
	if r, err := develop(t, e, 1900, 1400, nil); err != nil || r.OnWhite {
		t.Errorf("of an opaque picture: %+v %v", r, err)
	}
}

// An engine that gives up early changes nothing but the time it takes.
func TestGivingUpEarlyChangesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for i := range shortrun.Count(t, 300, 60, "pictures") {
		opaque, seed, scale := i%3 > 0, r.Uint64(), 1+r.Float64()*3000
		bytes := func(s PictureEncoding) int { // a size for each shot, smaller as the picture is
			h := fnv.New64a()
			fmt.Fprint(h, s, seed)
			return 1 + int(float64(s.Width+s.Quality)*scale*float64(h.Sum64()%1000)/1000)
		}
		early, late := &sized{opaque: opaque, bytes: bytes, early: true}, &sized{opaque: opaque, bytes: bytes}
		a, errA := develop(t, early, 3000, 2000, nil)
		b, errB := develop(t, late, 3000, 2000, nil)
		if !reflect.DeepEqual(a, b) || !errors.Is(errA, errB) || !slices.Equal(early.shots, late.shots) {
			t.Fatalf("%v %v\n%v %v", a.Shown, errA, b.Shown, errB)
		}
		if errA == nil && !DefaultLimits().Takes(len(a.Data)) {
			t.Fatalf("%d bytes", len(a.Data))
		}
	}
}

// The largest number of bytes that is of use is the largest that is taken.
func TestMostIsTaken(t *testing.T) {
	for tokens := 1; tokens < 300; tokens++ {
		l := Limits{Bytes: 1200, Tokens: tokens}
		if n := l.most(); !l.Takes(n) || l.Takes(n+1) {
			t.Errorf("%d tokens: %d bytes", tokens, n)
		}
	}
}

func TestSmallPicturesAreNeverEnlarged(t *testing.T) {
	e := &sized{bytes: func(PictureEncoding) int { return 1 << 20 }}
	if _, err := develop(t, e, 30, 7000, nil); !errors.Is(err, ErrNoFit) {
		t.Error(err)
	}
	for _, s := range e.shots {
		if s.Width > 30 || s.Height > 2000 || s.Width < 1 {
			t.Errorf("%+v", s)
		}
	}
}

func TestRegionsAreCutAtFullSize(t *testing.T) {
	e := &sized{bytes: func(PictureEncoding) int { return 1 }}
	r, err := develop(t, e, 4000, 3000, func(q *Request) { q.Region = &Rect{3900, -10, 500, 500} })
	if err != nil || e.views[0] != (WantedView{Rect{3900, 0, 100, 490}, 100, 490}) || r.Shown.Line() != "[Image: region 3900,0,100,490 of original 4000x3000, displayed at 100x490. Multiply coordinates by 1.00 and add 3900,0 to map to original image.]" {
		t.Errorf("%+v %+v %v", e.views, r.Shown, err)
	}
}

// A small region is shown a whole number of times as large.
func TestSmallRegionsAreEnlarged(t *testing.T) {
	for _, c := range []struct{ w, h, side, times int }{
		{400, 10, 2000, 1}, {399, 300, 2000, 2}, {300, 399, 2000, 2}, {267, 10, 2000, 2}, {266, 266, 2000, 3}, {200, 100, 2000, 4}, {201, 1, 2000, 3}, {1, 1, 2000, 4},
		{200, 100, 450, 2}, {200, 100, 200, 1}, {200, 100, 100, 0},
	} {
		e := &sized{bytes: func(PictureEncoding) int { return 1 }}
		r, err := develop(t, e, 4000, 3000, func(q *Request) { q.Region, q.Limits.Side = &Rect{10, 20, c.w, c.h}, c.side })
		w, h := c.w*c.times, c.h*c.times
		if c.times == 0 {
			w, h = 100, 50
		}
		if err != nil || r.Shown.DisplayWidth != w || r.Shown.DisplayHeight != h || e.views[0].Width != w {
			t.Errorf("%+v: %+v %v", c, r.Shown, err)
		}
	}
	e := &sized{bytes: func(PictureEncoding) int { return 1 }}
	r, _ := develop(t, e, 4000, 3000, func(q *Request) { q.Region = &Rect{10, 20, 200, 150} })
	if line := "[Image: region 10,20,200,150 of original 4000x3000, displayed at 800x600. Multiply coordinates by 0.25 and add 10,20 to map to original image.]"; r.Shown.Line() != line {
		t.Error(r.Shown.Line())
	}
}

// A region of a file that keeps its pixels stays a PNG where that is within the limits,
// however much less a JPEG takes.
func TestRegionsStayLossless(t *testing.T) {
	sizes := func(png int) func(PictureEncoding) int {
		return func(s PictureEncoding) int {
			if s.As == JPEG {
				return 100
			}
			return png
		}
	}
	region := func(q *Request) { q.Region = &Rect{0, 0, 1000, 500} }
	for _, c := range []struct {
		name   string
		bytes  func(PictureEncoding) int
		change func(*Request)
		want   Kind
	}{
		{"whole", sizes(300), nil, JPEG},
		{"region", sizes(300), region, PNG},
		{"over the limits", sizes(600_000), region, JPEG},
		{"scaled down", sizes(300), func(q *Request) { q.Region = &Rect{0, 0, 3000, 500} }, JPEG},
	} {
		r, err := develop(t, &sized{opaque: true, bytes: c.bytes}, 4000, 3000, c.change)
		if err != nil || r.As != c.want {
			t.Errorf("%s: %v %v", c.name, r.As, err)
		}
	}
	chunk := func(name string, size int) string {
		return name + string(binary.LittleEndian.AppendUint32(nil, uint32(size))) + strings.Repeat("x", size)
	}
	for data, want := range map[string]bool{
		chunk("VP8L", 4): true, chunk("VP8 ", 4): false, chunk("VP8X", 10) + chunk("ICCP", 3) + "\x00" + chunk("VP8L", 4): true,
		chunk("VP8X", 10) + chunk("ALPH", 2) + chunk("VP8 ", 4): false, chunk("VP8X", 10) + "ANMF\x1a\x00\x00\x00" + strings.Repeat("y", 16) + chunk("VP8L", 2): true,
		chunk("VP8X", 10) + chunk("ANMF", 16) + "ANMF\x1a\x00\x00\x00" + strings.Repeat("y", 16) + chunk("VP8L", 2): true, "": false,
	} {
		if lossless(WebP, []byte("RIFF....WEBP"+data)) != want {
			t.Errorf("%q", data)
		}
	}
	if lossless(JPEG, nil) || !lossless(BMP, nil) || !lossless(GIF, nil) {
		t.Error("kinds")
	}
}

func TestBoundsRefuseBeforeAnythingIsDecoded(t *testing.T) {
	for _, c := range []struct {
		f    PictureFacts
		want bool
	}{
		{PictureFacts{Width: 10_000, Height: 10_000, Bytes: 400e6}, true},
		{PictureFacts{Width: 10_000, Height: 10_001, Bytes: 4}, false},
		{PictureFacts{Width: 16_384, Height: 6_000, Bytes: 4}, true},
		{PictureFacts{Width: 16_385, Height: 1, Bytes: 4}, false},
		{PictureFacts{Width: 10_000, Height: 10_000, Bytes: 512<<20 + 1}, false},
	} {
		if got := DefaultBounds().Admits(c.f); got != c.want {
			t.Errorf("%+v: %v", c.f, got)
		}
	}
	e := &sized{bytes: func(PictureEncoding) int { return 1 }}
	if _, err := develop(t, e, 5, 5, func(q *Request) { q.Bounds.Side = 4 }); !errors.Is(err, ErrTooLarge) || len(e.views) > 0 {
		t.Errorf("%v", err)
	}
}

func TestKindsBecomeWhatModelsAreShown(t *testing.T) {
	lossless := "RIFF....WEBPVP8L\x00\x00\x00\x00"
	for _, c := range []struct {
		kind   Kind
		data   string
		opaque bool
		want   Kind
	}{
		{WebP, "RIFF....WEBPVP8 ", true, JPEG}, {WebP, "RIFF....WEBPVP8 ", false, PNG}, {WebP, lossless, true, PNG}, {WebP, lossless, false, PNG},
		{GIF, "", false, PNG}, {TIFF, "", true, PNG}, {JPEG, "", true, JPEG},
	} {
		if got := target(c.kind, []byte(c.data), c.opaque); got != c.want {
			t.Errorf("%v %q, opaque %v: %v", c.kind, c.data, c.opaque, got)
		}
	}
}
