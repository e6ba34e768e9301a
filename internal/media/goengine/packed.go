package goengine

import "bytes"

// Three samples lie in one word, in lanes of 21 bits each: one multiplication
// weighs all three. A weighed sum of samples of 8 bits with weights of 12 stays
// within its lane, as long as what is left of nothing is added first.
const (
	laneBits   = 21
	packedBits = 12
	packedUnit = 1 << packedBits
	below      = 64 // samples that a sum may lie below 0, and above 255
	lanes      = 1 | 1<<laneBits | 1<<(2*laneBits)
	startAt    = (below*packedUnit + packedUnit/2) * lanes
	sumMask    = 511
)

// clamped is a sample of a lane's sum.
type clamped [sumMask + 1]uint8

func newClamped() *clamped {
	t := new(clamped)
	for i := range t {
		t[i] = clamp(int32(i) - below)
	}
	return t
}

// three are the samples of a word of sums.
func (t *clamped) three(sum uint64) (a, b, c uint8) {
	sum >>= packedBits
	return t[sum&sumMask], t[sum>>laneBits&sumMask], t[sum>>(2*laneBits)&sumMask]
}

func pack(a, b, c uint8) uint64 {
	return uint64(a) | uint64(b)<<laneBits | uint64(c)<<(2*laneBits)
}

// packedTaps are taps with weights for packed samples.
type packedTaps struct {
	first   int
	weights []uint64
}

// packedKernel turns weights into those for packed samples; nil where a sum might
// not stay within its lane.
func packedKernel(ks []taps) []packedTaps {
	out := make([]packedTaps, len(ks))
	for i, k := range ks {
		t := packedTaps{k.first, make([]uint64, len(k.weights))}
		left, under, best := int32(packedUnit), int32(0), 0
		for j, w := range k.weights {
			v := (w + 1<<(unitBits-packedBits-1)) >> (unitBits - packedBits)
			t.weights[j] = uint64(int64(v))
			left -= v
			under -= min(v, 0)
			if w > k.weights[best] {
				best = j
			}
		}
		t.weights[best] += uint64(int64(left)) // they add up to the unit
		if (under+max(left, -left))*255 >= below*packedUnit {
			return nil
		}
		out[i] = t
	}
	return out
}

// shrinker makes rows of a resized raster out of rows of the original.
type shrinker struct {
	src    raster
	across []packedTaps // nil: as wide as the original
	down   []packedTaps
	width  int
	clamp  *clamped
}

// packedResize resizes a raster of one sample a pixel, or of four of which the
// last is always 255; ok is false where it cannot.
func packedResize(src raster, across, down []taps, w int) (out raster, ok bool) {
	s := &shrinker{src: src, width: w, clamp: newClamped(), down: packedKernel(down)}
	if across != nil {
		s.across = packedKernel(across)
	}
	if s.down == nil || across != nil && s.across == nil {
		return raster{}, false
	}
	out = newRaster(w, len(down), src.n)
	sideBySide(out.h, func(from, to int) {
		if src.n == 1 {
			s.planes(out, from, to)
		} else {
			s.colours(out, from, to)
		}
	})
	return out, true
}

// ring keeps the rows that are needed at once.
type ring struct {
	rows [][]uint64
	next int // the row that is made next
}

func newRing(down []packedTaps, from, width int) *ring {
	most := 1
	for _, t := range down {
		most = max(most, len(t.weights))
	}
	r := &ring{rows: make([][]uint64, most), next: down[from].first}
	for i := range r.rows {
		r.rows[i] = make([]uint64, width)
	}
	return r
}

func (r *ring) row(y int) []uint64 { return r.rows[y%len(r.rows)] }

// sum adds the weighed rows of taps.
func (r *ring) sum(acc []uint64, t packedTaps) {
	for i := range acc {
		acc[i] = startAt
	}
	k := 0
	for ; k+4 <= len(t.weights); k += 4 {
		a, b, c, d := r.row(t.first + k)[:len(acc)], r.row(t.first + k + 1)[:len(acc)], r.row(t.first + k + 2)[:len(acc)], r.row(t.first + k + 3)[:len(acc)]
		wa, wb, wc, wd := t.weights[k], t.weights[k+1], t.weights[k+2], t.weights[k+3]
		for i := range acc {
			acc[i] += wa*a[i] + wb*b[i] + wc*c[i] + wd*d[i]
		}
	}
	for ; k < len(t.weights); k++ {
		w, row := t.weights[k], r.row(t.first + k)[:len(acc)]
		for i := range acc {
			acc[i] += w * row[i]
		}
	}
}

// sumAcross is the weighed sum of a place in a packed row.
func sumAcross(row []uint64, t *packedTaps) uint64 {
	sum := uint64(startAt)
	in := row[t.first:][:len(t.weights)]
	for k, w := range t.weights {
		sum += w * in[k]
	}
	return sum
}

// colours makes rows of red, green and blue.
func (s *shrinker) colours(out raster, from, to int) {
	r := newRing(s.down, from, s.width)
	wide, acc := make([]uint64, s.src.w), make([]uint64, s.width)
	var above []uint8
	for y := from; y < to; y++ {
		t := s.down[y]
		for ; r.next < t.first+len(t.weights); r.next++ {
			row := s.src.row(r.next)
			if bytes.Equal(row, above) { // as many of a screen's are
				copy(r.row(r.next), r.row(r.next-1))
			} else {
				s.colourRow(r.row(r.next), wide, row)
			}
			above = row
		}
		r.sum(acc, t)
		row := out.row(y)
		for _, sum := range acc {
			a, b, c := s.clamp.three(sum)
			p := row[:4:4]
			p[0], p[1], p[2], p[3] = a, b, c, 255
			row = row[4:]
		}
	}
}

func (s *shrinker) colourRow(to, wide []uint64, row []uint8) {
	packed := wide
	if s.across == nil {
		packed = to
	}
	for i := range packed {
		p := row[4*i:][:3:3]
		packed[i] = pack(p[0], p[1], p[2])
	}
	for x := range s.across {
		to[x] = pack(s.clamp.three(sumAcross(packed, &s.across[x])))
	}
}

// planes makes rows of one sample a pixel: three rows at once lie packed on the
// way across, and three parts of a row on the way down.
func (s *shrinker) planes(out raster, from, to int) {
	third := (s.width + 2) / 3
	r := newRing(s.down, from, third)
	wide, acc := make([]uint64, s.src.w), make([]uint64, third)
	var rows [3][]uint8
	for i := range rows {
		rows[i] = make([]uint8, 3*third)
	}
	ready, at := rows[:0], 0 // rows that have been made across and wait for their turn
	last := s.down[to-1]
	for y := from; y < to; y++ {
		t := s.down[y]
		for ; r.next < t.first+len(t.weights); r.next++ {
			if at == len(ready) {
				ready, at = rows[:min(3, last.first+len(last.weights)-r.next)], 0
				s.threeRows(ready, wide, r.next)
			}
			a, packed := ready[at], r.row(r.next)
			for i, b := 0, a[third:]; i < third; i++ {
				packed[i] = pack(a[i], b[i], b[third+i])
			}
			at++
		}
		r.sum(acc, t)
		whole := rows3(out.row(y), third)
		for i, sum := range acc {
			a, b, c := s.clamp.three(sum)
			whole[0][i] = a
			if i < len(whole[1]) {
				whole[1][i] = b
			}
			if i < len(whole[2]) {
				whole[2][i] = c
			}
		}
	}
}

// rows3 are the three parts of a row.
func rows3(row []uint8, third int) [3][]uint8 {
	second := min(third, len(row))
	last := min(2*third, len(row))
	return [3][]uint8{row[:second], row[second:last], row[last:]}
}

// threeRows makes up to three rows, from y on, as wide as they become.
func (s *shrinker) threeRows(to [][]uint8, wide []uint64, y int) {
	var in [3][]uint8
	for i := range in {
		in[i] = s.src.row(y + min(i, len(to)-1))[:s.src.w]
	}
	if s.across == nil {
		for i := range to {
			copy(to[i], in[i])
		}
		return
	}
	a, b, c := in[0][:len(wide)], in[1][:len(wide)], in[2][:len(wide)]
	for i := range wide {
		wide[i] = pack(a[i], b[i], c[i])
	}
	var spare [3][]uint8
	for i := range spare {
		spare[i] = to[min(i, len(to)-1)]
	}
	for x := range s.across {
		p, q, v := s.clamp.three(sumAcross(wide, &s.across[x]))
		spare[2][x], spare[1][x], spare[0][x] = v, q, p
	}
}
