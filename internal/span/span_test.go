package span

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// drawSplices makes splices of size bytes that ascend and do not overlap.
func drawSplices(rnd *rand.Rand, size int) (out []Splice) {
	at := 0
	for range rnd.IntN(5) {
		start := at + rnd.IntN(size-at+1)
		end := start + rnd.IntN(size-start+1)
		out = append(out, Splice{int64(start), int64(end), bytes.Repeat([]byte{'+'}, rnd.IntN(6))})
		at = end
	}
	return out
}

func TestEveryFormOfTheNewFileIsTheSame(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		old := []byte("0123456789abcdefghij")[:rnd.IntN(21)]
		splices := drawSplices(rnd, len(old))
		if !Fit(splices, int64(len(old))) {
			t.Fatalf("%v does not fit %d bytes", splices, len(old))
		}
		want := old // the splices one by one, the last one first
		for i := len(splices) - 1; i >= 0; i-- {
			s := splices[i]
			want = bytes.Join([][]byte{want[:s.Start], s.New, want[s.End:]}, nil)
		}
		if got := Apply(old, splices); !bytes.Equal(got, want) {
			t.Fatalf("%q with %v is %q, want %q", old, splices, got, want)
		}
		if got := Growth(splices); got != int64(len(want)-len(old)) {
			t.Fatalf("%v lengthen by %d, want %d", splices, got, len(want)-len(old))
		}
		if got, err := io.ReadAll(NewReader(old, splices)); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("read %q, %v, want %q", got, err, want)
		}
		start := rnd.IntN(len(want) + 1)
		part := Span{int64(start), int64(start + rnd.IntN(len(want)-start+1))}
		var got bytes.Buffer
		if err := Copy(&got, bytes.NewReader(old), int64(len(old)), splices, part); err != nil || !bytes.Equal(got.Bytes(), want[part.Start:part.End]) {
			t.Fatalf("%v of %q is %q, %v", part, want, got.Bytes(), err)
		}
	}
}

func TestCopyMissesBytesThatAreGone(t *testing.T) {
	err := Copy(io.Discard, bytes.NewReader([]byte("short")), 9, nil, Span{0, 9})
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}

func TestFitRefuses(t *testing.T) {
	for _, splices := range [][]Splice{
		{{-1, 2, nil}}, {{3, 2, nil}}, {{0, 11, nil}}, {{0, 5, nil}, {4, 6, nil}}, {{5, 6, nil}, {0, 1, nil}},
	} {
		if Fit(splices, 10) {
			t.Errorf("%v fits", splices)
		}
	}
}

func TestTouches(t *testing.T) {
	others := []Span{{2, 4}, {6, 6}, {8, 9}}
	for _, c := range []struct {
		span Span
		want bool
	}{{Span{0, 1}, false}, {Span{0, 2}, true}, {Span{3, 3}, true}, {Span{4, 5}, true}, {Span{5, 6}, true}, {Span{7, 7}, false}, {Span{9, 12}, true}, {Span{10, 12}, false}} {
		if got := c.span.Touches(others); got != c.want {
			t.Errorf("%v touches %v: %v", c.span, others, got)
		}
	}
}
