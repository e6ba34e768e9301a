package jpegwriter

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

// Both passes keep three bits behind the point: coefficients come eightfold.
const (
	firstShift  = 9
	secondShift = 12
)

// forward transforms a block: rows, then columns.
func forward(b *[64]int32) {
	for y := range 8 {
		r := (*[8]int32)(b[8*y:])
		eight(&r[0], &r[1], &r[2], &r[3], &r[4], &r[5], &r[6], &r[7], firstShift)
	}
	for x := range 8 {
		c := (*[57]int32)(b[x:])
		eight(&c[0], &c[8], &c[16], &c[24], &c[32], &c[40], &c[48], &c[56], secondShift)
	}
}

// eight is the transform of eight points.
func eight(p0, p1, p2, p3, p4, p5, p6, p7 *int32, shift uint) {
	s0, s1, s2, s3 := *p0+*p7, *p1+*p6, *p2+*p5, *p3+*p4
	d0, d1, d2, d3 := *p0-*p7, *p1-*p6, *p2-*p5, *p3-*p4
	round := int32(1) << (shift - 1)
	a, b := s0+s3, s1+s2
	c, d := s0-s3, s1-s2
	*p0 = ((a+b)*c4 + round) >> shift
	*p4 = ((a-b)*c4 + round) >> shift
	*p2 = (c*c2 + d*c6 + round) >> shift
	*p6 = (c*c6 - d*c2 + round) >> shift
	*p1 = (d0*c1 + d1*c3 + d2*c5 + d3*c7 + round) >> shift
	*p3 = (d0*c3 - d1*c7 - d2*c1 - d3*c5 + round) >> shift
	*p5 = (d0*c5 - d1*c1 + d2*c7 + d3*c3 + round) >> shift
	*p7 = (d0*c7 - d1*c5 + d2*c3 - d3*c1 + round) >> shift
}
