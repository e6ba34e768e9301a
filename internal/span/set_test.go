package span

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// naive is a set of bytes as a table, for comparison.
type naive [64]bool

func (n *naive) set(s Span) {
	for i := s.Start; i < s.End; i++ {
		n[i] = true
	}
}

func (n *naive) same(t *testing.T, r Set) {
	t.Helper()
	var got naive
	last := int64(-1)
	for _, s := range r {
		if s.Start >= s.End || s.Start <= last {
			t.Fatalf("not canonical: %v", r)
		}
		last = s.End
		got.set(s)
	}
	if got != *n {
		t.Fatalf("got %v, want %v", r, *n)
	}
}

func TestSetAgreesWithATableOfBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var r Set
		var n naive
		for range rnd.IntN(8) {
			a := rnd.Int64N(60)
			s := Span{a, min(a+rnd.Int64N(12), 64)}
			r = r.Add(s)
			n.set(s)
		}
		n.same(t, r)
		a := rnd.Int64N(60)
		s := Span{a, min(a+rnd.Int64N(12), 64)}
		all := true
		for i := s.Start; i < s.End; i++ {
			all = all && n[i]
		}
		if r.Covers(s) != all {
			t.Fatalf("%v.Covers(%v) = %v", r, s, !all)
		}
		var hole naive
		for i := range hole[:40] {
			hole[i] = !n[i]
		}
		hole.same(t, r.Missing(40))
	}
}

func TestUnionHasTheBytesOfBoth(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		var r [2]Set
		var n naive
		for i := range r {
			for range rnd.IntN(6) {
				a := rnd.Int64N(60)
				s := Span{a, min(a+rnd.Int64N(9), 64)}
				r[i] = r[i].Add(s)
				n.set(s)
			}
		}
		before := slices.Clone(r[0])
		n.same(t, r[0].Union(r[1]))
		if !slices.Equal(r[0], before) {
			t.Fatalf("%v became %v", before, r[0])
		}
	}
}

func TestSetMovesWithTheBytesItNames(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		old := make([]byte, 30) // each byte says whether it was shown
		var r Set
		for i := range old {
			if rnd.IntN(2) == 0 {
				old[i] = 1
				r = r.Add(Span{int64(i), int64(i) + 1})
			}
		}
		var splices []Splice
		var now []byte
		at := 0
		for range rnd.IntN(4) {
			start := at + rnd.IntN(len(old)-at+1)
			end := start + rnd.IntN(min(5, len(old)-start+1))
			n := rnd.IntN(5)
			now = append(now, old[at:start]...)
			for range n {
				now = append(now, 1)
			}
			splices = append(splices, Splice{int64(start), int64(end), make([]byte, n)})
			at = end
		}
		now = append(now, old[at:]...)
		moved := r.Through(splices, true)
		for i, b := range now {
			if got := moved.Covers(Span{int64(i), int64(i) + 1}); got != (b == 1) {
				t.Fatalf("%v through %v: byte %d shown %v, want %v (%v)", r, splices, i, got, b == 1, moved)
			}
		}
	}
}
