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
	// A pixel of zeros stands before each row, for those that look to the left.
	f.this, f.last = make([]byte, f.length+s.samples), make([]byte, f.length+s.samples)
	for i := range f.tried {
		f.tried[i] = make([]byte, 1+f.length)
		f.tried[i][0] = byte(i)
	}
	return f
}

// append appends a row with its filter. Rows come in their order; this is the one
// before.
func (f *filters) append(b []byte, y int) []byte {
	f.this, f.last = f.last, f.this
	row := f.this[f.samples:]
	f.row(row, y)
	if f.palette != nil { // numbers of colours have no differences
		return append(append(b, 0), row...)
	}
	return append(b, f.tried[f.best()]...)
}

func size(v byte) int {
	m := int(int8(v))
	return (m ^ m>>63) - m>>63
}

// best applies all filters and returns the number of the best one.
func (f *filters) best() int {
	n, k := f.length, f.samples
	row, left := f.this[k:][:n], f.this[:n]
	up, corner := f.last[k:][:n], f.last[:n]
	none, sub, above, mean, paeth := f.tried[0][1:][:n], f.tried[1][1:][:n], f.tried[2][1:][:n], f.tried[3][1:][:n], f.tried[4][1:][:n]
	if bytes.Equal(row, up) { // nothing packs better
		clear(above)
		return 2
	}
	var sums [5]int
	for i, v := range row {
		none[i] = v
		a, b := v-left[i], v-up[i]
		sub[i], above[i] = a, b
		sums[0] += size(v)
		sums[1] += size(a)
		sums[2] += size(b)
	}
	if sums[1] == 0 { // all of one colour
		return 1
	}
	for i, v := range row {
		l, u := int(left[i]), int(up[i])
		m, p := v-byte((l+u)/2), v-predicted(l, u, int(corner[i]))
		mean[i], paeth[i] = m, p
		sums[3] += size(m)
		sums[4] += size(p)
	}
	at := 0
	for i, s := range sums {
		if s < sums[at] {
			at = i
		}
	}
	return at
}

// predicted is PNG's Paeth predictor: of left, up and corner the one that is
// nearest to left + up - corner.
func predicted(a, b, c int) byte {
	pa, pb := b-c, a-c
	pc := abs(pa + pb)
	pa, pb = abs(pa), abs(pb)
	switch {
	case pa <= pb && pa <= pc:
		return byte(a)
	case pb <= pc:
		return byte(b)
	}
	return byte(c)
}

func abs(v int) int { return (v ^ v>>63) - v>>63 }
