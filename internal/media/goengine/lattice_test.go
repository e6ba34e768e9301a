package goengine

import (
	"math"
	"testing"
)

// TestBetweenNodes: a lattice of values that are linear is exact between its nodes,
// whatever its sides, and what lies beyond counts as its edge.
func TestBetweenNodes(t *testing.T) {
	linear := func(in [4]float64) [3]float64 {
		return [3]float64{in[0] + 2*in[1], in[2] - in[3], 7 - in[0]*1.5 + in[3]}
	}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, sides := range [][]int{{2, 3, 5}, {4, 2, 3, 2}, {33, 33, 33}} {
		l := &lattice{sides: sides}
		for n := range l.size() / 3 {
			for _, v := range linear(l.node(n)) {
				l.values = append(l.values, float32(v))
			}
		}
		for _, c := range []struct{ in, means [4]float32 }{
			{[4]float32{}, [4]float32{}},
			{[4]float32{1, 1, 1, 1}, [4]float32{1, 1, 1, 1}},
			{[4]float32{0.3, 0.55, 0.9, 0.1}, [4]float32{0.3, 0.55, 0.9, 0.1}},
			{[4]float32{-3, 2, inf, nan}, [4]float32{0, 1, 1, 0}},
			{[4]float32{nan, -inf, 0.5, 9}, [4]float32{0, 0, 0.5, 1}},
		} {
			var means [4]float64
			for i := range sides {
				means[i] = float64(c.means[i])
			}
			want, got := linear(means), l.between(c.in)
			for k := range want {
				if d := math.Abs(want[k] - float64(got[k])); !(d < 1e-5) {
					t.Errorf("%v at %v: %v, not %v", sides, c.in, got, want)
				}
			}
		}
	}
}
