package span

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Two lists of splices, one after the other, do what Then makes of them does at once, which
// keeps each byte that both keep; and Inverse takes them back.
func TestThenIsOneAfterTheOther(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	random := func(size int) (out []Splice) {
		at := 0
		for at <= size && rng.IntN(4) > 0 {
			start := at + rng.IntN(size-at+1)
			end := start + rng.IntN(size-start+1)
			out = append(out, Splice{int64(start), int64(end), []byte("xyzzy")[:rng.IntN(6)]})
			if at = end; rng.IntN(2) == 0 {
				at++
			}
		}
		return out
	}
	for range 20_000 {
		old := []byte("0123456789abcdef")[:rng.IntN(17)]
		first := random(len(old))
		middle := Apply(old, first)
		second := random(len(middle))
		want := Apply(middle, second)
		both := Then(first, second, int64(len(old)))
		if !Fit(both, int64(len(old))) || !bytes.Equal(Apply(old, both), want) {
			t.Fatalf("seed %d: %q by %v and %v: %v", seed, old, first, second, both)
		}
		all := Set{{0, int64(len(old))}}
		if len(old) > 0 && all.Through(first, false).Through(second, false).Len() != all.Through(both, false).Len() {
			t.Fatalf("seed %d: %q by %v and %v: %v replaces more", seed, old, first, second, both)
		}
		if back := Apply(want, Inverse(old, both)); !bytes.Equal(back, old) {
			t.Fatalf("seed %d: %q comes back as %q", seed, old, back)
		}
	}
}
