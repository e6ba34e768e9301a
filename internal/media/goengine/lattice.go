package goengine

import "encoding/binary"

// lattice holds three values for each node of a lattice of colours, between which it
// is linear. The last sample's nodes stand next to each other.
type lattice struct {
	sides  []int // nodes for each sample of a colour, of which there are at most 4
	values []float32
}

// size is how many values a lattice has; 0 where that makes no sense.
func (l *lattice) size() int {
	n := 3
	for _, s := range l.sides {
		if s < 2 || n > mostProfile {
			return 0
		}
		n *= s
	}
	return n
}

// node is the colour of the nth node, 0 to 1 a sample.
func (l *lattice) node(n int) (in [4]float64) {
	for i := len(l.sides) - 1; i >= 0; i-- {
		in[i] = float64(n%l.sides[i]) / float64(l.sides[i]-1)
		n /= l.sides[i]
	}
	return in
}

// between are the values for a colour of 0 to 1 a sample, or the nearest: those of the nodes around
// it, each by how near it is.
func (l *lattice) between(in [4]float32) (out [3]float32) {
	var at [16]int // the nodes around it: twice as many with each sample
	near := [16]float32{1}
	around, stride := 1, 3
	for i := len(l.sides) - 1; i >= 0; i-- {
		share := min(in[i], 1)
		if !(share > 0) { // curves may yield what is no number
			share = 0
		}
		v := share * float32(l.sides[i]-1)
		n := min(int(v), l.sides[i]-2)
		part := v - float32(n)
		for c := range around {
			at[c] += n * stride
			at[around+c], near[around+c] = at[c]+stride, near[c]*part
			near[c] *= 1 - part
		}
		around *= 2
		stride *= l.sides[i]
	}
	for c := range around {
		values := l.values[at[c]:][:3]
		for k := range out {
			out[k] += near[c] * values[k]
		}
	}
	return out
}

// numbers reads n values of 0 to 1, of one byte or two.
func numbers(b []byte, width, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		if width == 1 {
			out[i] = float32(b[i]) / 255
		} else {
			out[i] = float32(binary.BigEndian.Uint16(b[2*i:])) / 65535
		}
	}
	return out
}
