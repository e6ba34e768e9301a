package goengine

import (
	"encoding/binary"
	"image"
	"math"
)

// table converts colours to sRGB for profiles made of tables: those of printers,
// and so all of CMYK, and of some scanners. It holds sRGB for a lattice of
// colours, between which it is linear.
type table struct {
	inputs int // samples a colour: 3 or 4
	nodes  int // along each side of the lattice
	colour []float32
}

// The lattice: finer than those of most profiles, and small enough to be worked
// out for one picture.
const (
	nodesRGB  = 33
	nodesCMYK = 17
)

// stages carry a colour, 0 to 1 a sample, to the profile connection space.
type stages func(in [4]float64) [3]float64

// parseTable reads a profile for RGB or CMYK that is made of tables; nil where it
// cannot be read. The colours are as measured where the profile says how, since
// that is what libvips takes, too.
func parseTable(icc []byte) *table {
	t := &table{inputs: 3, nodes: nodesRGB}
	switch string(icc[16:20]) {
	case "RGB ":
	case "CMYK":
		t.inputs, t.nodes = 4, nodesCMYK
	default:
		return nil
	}
	pcs := string(icc[20:24])
	if pcs != "Lab " && pcs != "XYZ " {
		return nil
	}
	tags := tagsOf(icc)
	tag := tags["A2B1"]
	if tag == nil {
		tag = tags["A2B0"]
	}
	if len(tag) < 32 || int(tag[8]) != t.inputs || tag[9] != 3 {
		return nil
	}
	var f stages
	var lab [3]func(float64) float64 // from 0 to 1 to L, a and b
	switch string(tag[:4]) {
	case "mft1":
		f = oldStages(tag, 1)
		lab = labOf(100, 255)
	case "mft2":
		f = oldStages(tag, 2)
		lab = labOf(100.*65535/65280, 65535./256)
	case "mAB ":
		f = newStages(tag)
		lab = labOf(100, 255)
	}
	if f == nil {
		return nil
	}
	t.fill(func(in [4]float64) [3]float64 {
		v := f(in)
		if pcs == "XYZ " {
			for i := range v {
				v[i] *= 1 + 32767./32768
			}
			return v
		}
		return xyzOf(lab[0](v[0]), lab[1](v[1]), lab[2](v[2]))
	})
	return t
}

// labOf says what 1 stands for in an encoding of Lab.
func labOf(light, colour float64) [3]func(float64) float64 {
	ab := func(v float64) float64 { return v*colour - 128 }
	return [3]func(float64) float64{func(v float64) float64 { return v * light }, ab, ab}
}

// xyzOf turns Lab into XYZ, both under the light of the connection space.
func xyzOf(l, a, b float64) [3]float64 {
	f := func(t float64) float64 {
		if t > 6./29 {
			return t * t * t
		}
		return 3 * 6 / 29. * 6 / 29. * (t - 4./29)
	}
	y := (l + 16) / 116
	return [3]float64{0.9642 * f(y+a/500), f(y), 0.8249 * f(y-b/200)}
}

// fill works out the lattice.
func (t *table) fill(toXYZ stages) {
	total := 1
	for range t.inputs {
		total *= t.nodes
	}
	t.colour = make([]float32, 3*total)
	sideBySide(total, func(from, to int) {
		var in [4]float64
		for n := from; n < to; n++ {
			for i, rest := t.inputs-1, n; i >= 0; i-- {
				in[i] = float64(rest%t.nodes) / float64(t.nodes-1)
				rest /= t.nodes
			}
			xyz := toXYZ(in)
			for k := range 3 {
				m := &fromD50[k]
				t.colour[3*n+k] = float32(255 * encoded(m[0]*xyz[0]+m[1]*xyz[1]+m[2]*xyz[2]))
			}
		}
	})
}

// encoded is light as sRGB has it, both from 0 to 1.
func encoded(v float64) float64 {
	switch {
	case !(v > 0):
		return 0
	case v <= 0.0031308:
		return 12.92 * v
	}
	return min(1.055*math.Pow(v, 1/2.4)-0.055, 1)
}

// at is sRGB for a colour of 0 to 255 a sample.
func (t *table) at(in ...uint8) (out [3]uint8) {
	var base int
	var part [4]float32
	var step [4]int
	stride := 1
	for i := len(in) - 1; i >= 0; i-- {
		v := float32(in[i]) / 255 * float32(t.nodes-1)
		n := min(int(v), t.nodes-2)
		part[i], step[i] = v-float32(n), 3*stride
		base += n * 3 * stride
		stride *= t.nodes
	}
	var sum [3]float32
	for corner := range 1 << len(in) {
		at, weight := base, float32(1)
		for i := range in {
			if corner>>i&1 != 0 {
				at += step[i]
				weight *= part[i]
			} else {
				weight *= 1 - part[i]
			}
		}
		if weight > 0 {
			for k := range sum {
				sum[k] += weight * t.colour[at+k]
			}
		}
	}
	for k := range out {
		out[k] = uint8(min(max(sum[k], 0), 255) + 0.5)
	}
	return out
}

// printed makes colours of planes of ink.
func (t *table) printed(m model, planes []raster, w, h int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	sideBySide(h, func(from, to int) {
		var last, now [4]uint8
		rgb := t.at(last[:]...)
		for y := from; y < to; y++ {
			row := out.Pix[y*out.Stride:][:4*w]
			for x := range w {
				for i := range now {
					now[i] = planes[i].pix[y*planes[i].stride+x]
				}
				if m == ycck {
					now[0], now[1], now[2] = papers(now[0], now[1], now[2])
				}
				for i := range now { // of the paper that is left, the ink
					now[i] = 255 - now[i]
				}
				if now != last {
					last, rgb = now, t.at(now[:]...)
				}
				copy(row[4*x:], []uint8{rgb[0], rgb[1], rgb[2], 255})
			}
		}
	})
	return out
}

// grid is a lattice of a profile.
type grid struct {
	sides []int
	value func(i int) float64
}

// at is linear between the nodes.
func (g grid) at(in [4]float64) (out [3]float64) {
	base, stride := 0, 3
	var part [4]float64
	var step [4]int
	for i := len(g.sides) - 1; i >= 0; i-- {
		v := min(max(in[i], 0), 1) * float64(g.sides[i]-1)
		n := min(int(v), g.sides[i]-2)
		part[i], step[i] = v-float64(n), stride
		base += n * stride
		stride *= g.sides[i]
	}
	for corner := range 1 << len(g.sides) {
		at, weight := base, 1.
		for i := range g.sides {
			if corner>>i&1 != 0 {
				at += step[i]
				weight *= part[i]
			} else {
				weight *= 1 - part[i]
			}
		}
		if weight > 0 {
			for k := range out {
				out[k] += weight * g.value(at+k)
			}
		}
	}
	return out
}

// size is how many values a lattice has; 0 where that makes no sense.
func (g grid) size() int {
	n := 3
	for _, s := range g.sides {
		if s < 2 || n > mostProfile {
			return 0
		}
		n *= s
	}
	return n
}

// numbers reads values of 0 to 1, of one byte or two.
func numbers(b []byte, width int) func(int) float64 {
	if width == 1 {
		return func(i int) float64 { return float64(b[i]) / 255 }
	}
	return func(i int) float64 { return float64(binary.BigEndian.Uint16(b[2*i:])) / 65535 }
}

// oldStages reads what profiles had before version 4: tables of one length each,
// a lattice, tables.
func oldStages(tag []byte, width int) stages {
	inputs, side, before, behind, body := int(tag[8]), int(tag[10]), 256, 256, 48
	if width == 2 {
		if len(tag) < 52 {
			return nil
		}
		before, behind, body = int(binary.BigEndian.Uint16(tag[48:])), int(binary.BigEndian.Uint16(tag[50:])), 52
	}
	g := grid{}
	for range inputs {
		g.sides = append(g.sides, side)
	}
	size := g.size()
	if size == 0 || before < 2 || behind < 2 || len(tag) < body+width*(inputs*before+size+3*behind) {
		return nil
	}
	line := func(from, n int) func(float64) float64 {
		value := numbers(tag[from:], width)
		return func(x float64) float64 {
			v := min(max(x, 0), 1) * float64(n-1)
			i := min(int(v), n-2)
			return value(i) + (v-float64(i))*(value(i+1)-value(i))
		}
	}
	var first []func(float64) float64
	for i := range inputs {
		first = append(first, line(body+width*i*before, before))
	}
	g.value = numbers(tag[body+width*inputs*before:], width)
	var last [3]func(float64) float64
	for k := range last {
		last[k] = line(body+width*(inputs*before+size+k*behind), behind)
	}
	return func(in [4]float64) [3]float64 {
		var v [4]float64
		for i, f := range first {
			v[i] = f(in[i])
		}
		out := g.at(v)
		for k := range out {
			out[k] = last[k](out[k])
		}
		return out
	}
}

// newStages reads what profiles of version 4 have: curves, a lattice, curves, a
// matrix, curves, of which some may be missing.
func newStages(tag []byte) stages {
	inputs := int(tag[8])
	offset := func(at int) int { return int(binary.BigEndian.Uint32(tag[at:])) }
	b, m, a := curves(tag, offset(12), 3), curves(tag, offset(20), 3), curves(tag, offset(28), inputs)
	at := offset(24)
	if b == nil || m == nil || a == nil || at < 0 || at+20 > len(tag) || at == 0 {
		return nil
	}
	g := grid{}
	for i := range inputs {
		g.sides = append(g.sides, int(tag[at+i]))
	}
	width := int(tag[at+16])
	if size := g.size(); size == 0 || width < 1 || width > 2 || at+20+width*size > len(tag) {
		return nil
	}
	g.value = numbers(tag[at+20:], width)
	matrix := [12]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
	if from := offset(16); from > 0 {
		if from+48 > len(tag) {
			return nil
		}
		for i := range matrix {
			matrix[i] = fixed(tag[from+4*i:])
		}
	}
	return func(in [4]float64) (out [3]float64) {
		var v [4]float64
		for i, f := range a {
			v[i] = f(in[i])
		}
		mid := g.at(v)
		for k := range mid {
			mid[k] = m[k](mid[k])
		}
		for k := range out {
			out[k] = b[k](matrix[3*k]*mid[0] + matrix[3*k+1]*mid[1] + matrix[3*k+2]*mid[2] + matrix[9+k])
		}
		return out
	}
}

// curves reads so many curves that follow each other; those at 0 change nothing.
func curves(tag []byte, at, n int) (all []func(float64) float64) {
	for range n {
		if at == 0 {
			all = append(all, func(x float64) float64 { return x })
			continue
		}
		if at < 0 || at+12 > len(tag) {
			return nil
		}
		var f func(float64) float64
		size := 12
		switch string(tag[at : at+4]) {
		case "curv":
			f = sampled(tag[at+8:])
			size += 2 * int(binary.BigEndian.Uint32(tag[at+8:]))
		case "para":
			f = parametric(tag[at+8:])
			if kind := int(binary.BigEndian.Uint16(tag[at+8:])); kind < 5 {
				size += 4 * []int{1, 3, 4, 5, 7}[kind]
			}
		}
		if f == nil {
			return nil
		}
		all = append(all, func(x float64) float64 { return f(min(max(x, 0), 1)) })
		at += (size + 3) &^ 3
	}
	return all
}
