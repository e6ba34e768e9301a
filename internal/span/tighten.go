package span

import (
	"bytes"
	"slices"
)

// Tighten returns splices without the bytes at their ends that they leave as they are.
func Tighten(splices []Splice, old []byte) []Splice {
	out := slices.Clone(splices)
	for i, s := range out {
		was := old[s.Start:s.End]
		n := commonPrefix(was, s.New)
		s.Start, s.New, was = s.Start+int64(n), s.New[n:], was[n:]
		n = commonSuffix(was, s.New)
		s.End, s.New = s.End-int64(n), s.New[:len(s.New)-n]
		out[i] = s
	}
	return out
}

func commonPrefix(a, b []byte) (n int) {
	most := min(len(a), len(b))
	for _, step := range compareSteps {
		for n+step <= most && bytes.Equal(a[n:n+step], b[n:n+step]) {
			n += step
		}
	}
	return n
}

func commonSuffix(a, b []byte) (n int) {
	most := min(len(a), len(b))
	for _, step := range compareSteps {
		for n+step <= most && bytes.Equal(a[len(a)-n-step:len(a)-n], b[len(b)-n-step:len(b)-n]) {
			n += step
		}
	}
	return n
}

// compareSteps are numbers of bytes that are compared at once: processors are quick at
// blocks.
var compareSteps = []int{256, 1}
