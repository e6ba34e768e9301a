package pngwriter

import "bytes"

// filters finds for each row the way of writing it that packs best, as a rule:
// that with the smallest sum of differences.
type filters struct {
	shape
	length     int // of a row in bytes
	this, last []byte
	tried      [5][]byte // with the filter's number first
}

func newFilters(s shape) *filters {
	f := &filters{shape: s, length: s.w * s.samples}
	// A pixel of zeros stands before each row, for those that look to the left, and
	// behind it room for eight bytes at once.
	f.this, f.last = make([]byte, s.samples+f.length+8), make([]byte, s.samples+f.length+8)
	for i := range f.tried {
		f.tried[i] = make([]byte, 1+f.length+8)
		f.tried[i][0] = byte(i)
	}
	return f
}

// append appends a row with its filter. Rows come in their order; this is the one
// before.
func (f *filters) append(b []byte, y int) []byte {
	f.this, f.last = f.last, f.this
	row := f.this[f.samples:][:f.length]
	f.row(row, y)
	if f.palette != nil { // numbers of colours have no differences
		return append(append(b, 0), row...)
	}
	return append(b, f.tried[f.best()][:1+f.length]...)
}

// best applies all filters and returns the number of the best one.
func (f *filters) best() int {
	n, k := f.length, f.samples
	if bytes.Equal(f.this[k:][:n], f.last[k:][:n]) { // nothing packs better
		clear(f.tried[2][1:])
		return 2
	}
	var sums [5]int
	for i := 0; i < n; i += 8 {
		row, left := load(f.this[k+i:]).first(n-i), load(f.this[i:]).first(n-i)
		up, corner := load(f.last[k+i:]).first(n-i), load(f.last[i:]).first(n-i)
		for filter, guess := range [...]eight{0, left, up, mean(left, up), predicted(left, up, corner)} {
			d, _ := row.minus(guess)
			d.store(f.tried[filter][1+i:])
			sums[filter] += d.sum()
		}
	}
	at := 0
	for i, s := range sums {
		if s < sums[at] {
			at = i
		}
	}
	return at
}
