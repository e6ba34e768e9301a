package goengine

import (
	"encoding/binary"
	"image"
	"math"
	"slices"
)

// table converts colours to sRGB for profiles made of tables: those of printers,
// and so all of CMYK, and of some scanners. It holds sRGB for a lattice of
// colours, between which it is linear.
type table struct{ lattice }

// newTable has so many samples a colour, and nodes along each side; it is to be filled.
func newTable(inputs, nodes int) *table {
	return &table{lattice{sides: slices.Repeat([]int{nodes}, inputs)}}
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
	var t *table
	switch string(icc[16:20]) {
	case "RGB ":
		t = newTable(3, nodesRGB)
	case "CMYK":
		t = newTable(4, nodesCMYK)
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
	if len(tag) < 32 || int(tag[8]) != len(t.sides) || tag[9] != 3 {
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

// fill works out the lattice: sRGB, to 255.
func (t *table) fill(toXYZ stages) {
	t.values = make([]float32, t.size())
	sideBySide(len(t.values)/3, func(from, to int) {
		for n := from; n < to; n++ {
			xyz := toXYZ(t.node(n))
			for k := range 3 {
				m := &fromD50[k]
				t.values[3*n+k] = float32(255 * encoded(m[0]*xyz[0]+m[1]*xyz[1]+m[2]*xyz[2]))
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
	var share [4]float32
	for i, v := range in {
		share[i] = float32(v) / 255
	}
	for k, v := range t.between(share) {
		out[k] = uint8(min(max(v, 0), 255) + 0.5)
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
	g := lattice{sides: slices.Repeat([]int{side}, inputs)}
	size := g.size()
	if size == 0 || before < 2 || behind < 2 || len(tag) < body+width*(inputs*before+size+3*behind) {
		return nil
	}
	line := func(from, n int) func(float64) float64 {
		values := numbers(tag[from:], width, n)
		return func(x float64) float64 {
			v := min(max(x, 0), 1) * float64(n-1)
			i := min(int(v), n-2)
			at, next := float64(values[i]), float64(values[i+1])
			return at + (v-float64(i))*(next-at)
		}
	}
	var first []func(float64) float64
	for i := range inputs {
		first = append(first, line(body+width*i*before, before))
	}
	g.values = numbers(tag[body+width*inputs*before:], width, size)
	var last [3]func(float64) float64
	for k := range last {
		last[k] = line(body+width*(inputs*before+size+k*behind), behind)
	}
	return func(in [4]float64) (out [3]float64) {
		var v [4]float32
		for i, f := range first {
			v[i] = float32(f(in[i]))
		}
		for k, mid := range g.between(v) {
			out[k] = last[k](float64(mid))
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
	g := lattice{}
	for i := range inputs {
		g.sides = append(g.sides, int(tag[at+i]))
	}
	width, size := int(tag[at+16]), g.size()
	if size == 0 || width < 1 || width > 2 || at+20+width*size > len(tag) {
		return nil
	}
	g.values = numbers(tag[at+20:], width, size)
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
		var v [4]float32
		for i, f := range a {
			v[i] = float32(f(in[i]))
		}
		var mid [3]float64
		for k, w := range g.between(v) {
			mid[k] = m[k](float64(w))
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
