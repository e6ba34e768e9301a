package scaledjpeg

// The cosines of the transform in 1/4096: half of cos(k*pi/16).
const (
	c1 = 2009
	c2 = 1892
	c3 = 1703
	c4 = 1448
	c5 = 1138
	c6 = 784
	c7 = 400
)

// The first pass keeps so many bits behind the point; the second drops them,
// and the 12 of the cosines.
const (
	keep  = 3
	shift = 12 - keep
	round = 1 << (shift - 1)
	drop  = 12 + keep
	half  = 1<<(drop-1) + 128<<drop // 128 is the middle of the samples
)

// transform makes n x n samples (n is 8, 4, 2 or 1) of a block whose last
// coefficient, in their order, is the given one: the inverse transform of n
// points over its n lowest frequencies.
func transform(out []uint8, stride int, b *[64]int32, n, last int) {
	if last == 0 || n == 1 {
		flat(out, stride, n, clamp((b[0]+4)>>3+128))
		return
	}
	switch n {
	case 8:
		whole(out, stride, b)
	case 4:
		quarter(out, stride, b)
	case 2:
		sixteenth(out, stride, b)
	}
}

func flat(out []uint8, stride, n int, v uint8) {
	for y := range n {
		row := out[y*stride:][:n]
		for x := range row {
			row[x] = v
		}
	}
}

func clamp(v int32) uint8 {
	if uint32(v) > 255 {
		if v < 0 {
			return 0
		}
		return 255
	}
	return uint8(v)
}

// whole is the transform of 8 points: columns, then rows.
func whole(out []uint8, stride int, b *[64]int32) {
	for x := range 8 {
		if b[8+x]|b[16+x]|b[24+x]|b[32+x]|b[40+x]|b[48+x]|b[56+x] == 0 {
			v := (b[x]*c4 + round) >> shift
			for y := 0; y < 64; y += 8 {
				b[y+x] = v
			}
			continue
		}
		e, o := eight(b[x], b[8+x], b[16+x], b[24+x], b[32+x], b[40+x], b[48+x], b[56+x])
		for i := range 4 {
			b[8*i+x] = (e[i] + o[i] + round) >> shift
			b[8*(7-i)+x] = (e[i] - o[i] + round) >> shift
		}
	}
	for y := range 8 {
		r := (*[8]int32)(b[8*y:])
		e, o := eight(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7])
		row := (*[8]uint8)(out[y*stride:])
		for i := range 4 {
			row[i] = clamp((e[i] + o[i] + half) >> drop)
			row[7-i] = clamp((e[i] - o[i] + half) >> drop)
		}
	}
}

// eight returns the even and the odd half of a transform of 8 points.
func eight(x0, x1, x2, x3, x4, x5, x6, x7 int32) (e, o [4]int32) {
	a, b := (x0+x4)*c4, (x0-x4)*c4
	p, q := x2*c2+x6*c6, x2*c6-x6*c2
	e = [4]int32{a + p, b + q, b - q, a - p}
	o = [4]int32{
		x1*c1 + x3*c3 + x5*c5 + x7*c7,
		x1*c3 - x3*c7 - x5*c1 - x7*c5,
		x1*c5 - x3*c1 + x5*c7 + x7*c3,
		x1*c7 - x3*c5 + x5*c3 - x7*c1,
	}
	return e, o
}

// quarter is the transform of 4 points over the 16 lowest frequencies.
func quarter(out []uint8, stride int, b *[64]int32) {
	for x := range 4 {
		s0, s1, s2, s3 := four(b[x], b[8+x], b[16+x], b[24+x])
		b[x], b[8+x], b[16+x], b[24+x] = (s0+round)>>shift, (s1+round)>>shift, (s2+round)>>shift, (s3+round)>>shift
	}
	for y := range 4 {
		s0, s1, s2, s3 := four(b[8*y], b[8*y+1], b[8*y+2], b[8*y+3])
		row := (*[4]uint8)(out[y*stride:])
		row[0], row[1], row[2], row[3] = clamp((s0+half)>>drop), clamp((s1+half)>>drop), clamp((s2+half)>>drop), clamp((s3+half)>>drop)
	}
}

func four(x0, x1, x2, x3 int32) (s0, s1, s2, s3 int32) {
	a, b := (x0+x2)*c4, (x0-x2)*c4
	p, q := x1*c2+x3*c6, x1*c6-x3*c2
	return a + p, b + q, b - q, a - p
}

// sixteenth is the transform of 2 points over the 4 lowest frequencies.
func sixteenth(out []uint8, stride int, b *[64]int32) {
	a, c := b[0]+b[1], b[0]-b[1]
	p, q := b[8]+b[9], b[8]-b[9]
	const half = 4 + 128<<3
	out[0], out[1] = clamp((a+p+half)>>3), clamp((c+q+half)>>3)
	out[stride], out[stride+1] = clamp((a-p+half)>>3), clamp((c-q+half)>>3)
}
