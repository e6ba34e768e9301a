package goengine

import (
	"image"
	"math"
	"runtime"
	"sync"
)

// raster is h rows of w pixels of n samples.
type raster struct {
	w, h, n, stride int
	pix             []uint8
}

func newRaster(w, h, n int) raster {
	return raster{w: w, h: h, n: n, stride: w * n, pix: make([]uint8, w*h*n)}
}

func (r raster) row(y int) []uint8 { return r.pix[y*r.stride:][:r.w*r.n] }

// tight is the raster with nothing between its rows.
func (r raster) tight() raster {
	if r.stride == r.w*r.n {
		return r
	}
	out := newRaster(r.w, r.h, r.n)
	for y := range r.h {
		copy(out.row(y), r.row(y))
	}
	return out
}

// area is a part of a raster, between samples too.
type area struct{ x, y, w, h float64 }

// size is a raster's size in samples, and how much of the last column and row
// belongs to the picture: half a picture's width may lie between two samples.
type size struct {
	w, h   int
	ew, eh float64
}

func exactly(w, h int) size { return size{w, h, float64(w), float64(h)} }

// lobes of the Lanczos kernel.
const lobes = 3

func lanczos(x float64) float64 {
	if x == 0 {
		return 1
	}
	if x <= -lobes || x >= lobes {
		return 0
	}
	p := math.Pi * x
	return lobes * math.Sin(p) * math.Sin(p/lobes) / (p * p)
}

// unit is 1 in weights; samples times weights stay within 32 bits.
const (
	unitBits = 14
	unit     = 1 << unitBits
)

// taps are the weights of the samples from first on that make one new sample.
type taps struct {
	first   int
	weights []int32
}

// kernel works out the taps for n samples that cover extent of what begins at
// x and is w long; only samples in [lo, hi) are there.
func kernel(n int, extent, x, w float64, lo, hi int) []taps {
	out := make([]taps, n)
	step := w / extent
	blur := max(step, 1)
	for i := range out {
		centre := x + (float64(i)+0.5)*step
		from := max(int(math.Floor(centre-lobes*blur)), lo)
		to := min(int(math.Ceil(centre+lobes*blur)), hi)
		if from >= to { // beside the picture: the nearest sample
			from = min(max(int(centre), lo), hi-1)
			out[i] = taps{from, []int32{unit}}
			continue
		}
		out[i] = taps{from, weigh(from, to, centre, blur)}
	}
	return out
}

// weigh returns whole-number weights that add up to unit.
func weigh(from, to int, centre, blur float64) []int32 {
	ws := make([]float64, to-from)
	sum := 0.0
	for k := range ws {
		ws[k] = lanczos((float64(from+k) + 0.5 - centre) / blur)
		sum += ws[k]
	}
	out := make([]int32, len(ws))
	left, best := int32(unit), 0
	for k, w := range ws {
		out[k] = int32(math.Round(w / sum * unit))
		left -= out[k]
		if w > ws[best] {
			best = k
		}
	}
	out[best] += left
	return out
}

// resample makes a raster of that size of an area of src; opaque tells that
// nothing shines through.
func resample(src raster, a area, s size, opaque bool) raster {
	x0, x1 := int(a.x), min(int(math.Ceil(a.x+a.w)), src.w)
	y0, y1 := int(a.y), min(int(math.Ceil(a.y+a.h)), src.h)
	x0, y0 = min(x0, x1-1), min(y0, y1-1)
	cut := raster{w: x1 - x0, h: y1 - y0, n: src.n, stride: src.stride, pix: src.pix[y0*src.stride+x0*src.n:]}
	a.x, a.y = a.x-float64(x0), a.y-float64(y0)
	// A box first where much is left out, as the kernel would be long.
	if k := int(min(a.w/s.ew, a.h/s.eh) / 2); k >= 2 {
		cut = cut.boxed(k)
		f := float64(k)
		a = area{a.x / f, a.y / f, a.w / f, a.h / f}
	}
	if opaque || cut.n == 1 {
		var across []taps
		if a.w != s.ew || a.x != 0 || cut.w != s.w {
			across = kernel(s.w, s.ew, a.x, a.w, 0, cut.w)
		}
		if a.h != s.eh || a.y != 0 || cut.h != s.h || across != nil {
			if out, ok := packedResize(cut, across, kernel(s.h, s.eh, a.y, a.h, 0, cut.h), s.w); ok {
				return out
			}
		}
	}
	mid := cut
	if a.h != s.eh || a.y != 0 || cut.h != s.h {
		mid = cut.vertical(kernel(s.h, s.eh, a.y, a.h, 0, cut.h))
	}
	if a.w != s.ew || a.x != 0 || cut.w != s.w {
		mid = mid.horizontal(kernel(s.w, s.ew, a.x, a.w, 0, cut.w))
	}
	return mid
}

// sideBySide runs f over shares of n rows.
func sideBySide(n int, f func(from, to int)) {
	shares := min(runtime.GOMAXPROCS(0), n)
	var wait sync.WaitGroup
	for i := range shares {
		wait.Go(func() { f(i*n/shares, (i+1)*n/shares) })
	}
	wait.Wait()
}

// boxed takes the mean of k x k samples.
func (r raster) boxed(k int) raster {
	out := newRaster((r.w+k-1)/k, (r.h+k-1)/k, r.n)
	sideBySide(out.h, func(from, to int) {
		sums := make([]uint32, out.w*r.n)
		for y := from; y < to; y++ {
			clear(sums)
			rows := min(k, r.h-y*k)
			for dy := range rows {
				addRow(sums, r.row(y*k+dy), k, r.n)
			}
			row := out.row(y)
			for x := range out.w {
				count := uint32(rows * min(k, r.w-x*k))
				for c := range r.n {
					row[x*r.n+c] = uint8((sums[x*r.n+c] + count/2) / count)
				}
			}
		}
	})
	return out
}

func addRow(sums []uint32, row []uint8, k, n int) {
	for x, i := 0, 0; i < len(row); x++ {
		for range min(k, (len(row)-i)/n) {
			for c := range n {
				sums[x*n+c] += uint32(row[i+c])
			}
			i += n
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

// vertical weighs rows.
func (r raster) vertical(ks []taps) raster {
	out := newRaster(r.w, len(ks), r.n)
	sideBySide(out.h, func(from, to int) {
		acc := make([]int32, r.w*r.n)
		for y := from; y < to; y++ {
			t := ks[y]
			for i := range acc {
				acc[i] = unit / 2
			}
			k := 0
			for ; k+4 <= len(t.weights); k += 4 {
				addFour(acc, r.row(t.first+k), r.row(t.first+k+1), r.row(t.first+k+2), r.row(t.first+k+3), t.weights[k:])
			}
			for ; k < len(t.weights); k++ {
				w, row := t.weights[k], r.row(t.first + k)[:len(acc)]
				for i := range acc {
					acc[i] += w * int32(row[i])
				}
			}
			row := out.row(y)[:len(acc)]
			for i, v := range acc {
				row[i] = clamp(v >> unitBits)
			}
		}
	})
	return out
}

// addFour adds four weighed rows at once, which saves going over acc.
func addFour(acc []int32, a, b, c, d []uint8, w []int32) {
	wa, wb, wc, wd := w[0], w[1], w[2], w[3]
	a, b, c, d = a[:len(acc)], b[:len(acc)], c[:len(acc)], d[:len(acc)]
	for i := range acc {
		acc[i] += wa*int32(a[i]) + wb*int32(b[i]) + wc*int32(c[i]) + wd*int32(d[i])
	}
}

// horizontal weighs columns.
func (r raster) horizontal(ks []taps) raster {
	out := newRaster(len(ks), r.h, r.n)
	sideBySide(out.h, func(from, to int) {
		for y := from; y < to; y++ {
			switch r.n {
			case 1:
				acrossOne(out.row(y), r.row(y), ks)
			default:
				acrossFour(out.row(y), r.row(y), ks)
			}
		}
	})
	return out
}

func acrossOne(out, row []uint8, ks []taps) {
	for x := range ks {
		t := &ks[x]
		in := row[t.first:][:len(t.weights)]
		sum := int32(unit / 2)
		for k, w := range t.weights {
			sum += w * int32(in[k])
		}
		out[x] = clamp(sum >> unitBits)
	}
}

func acrossFour(out, row []uint8, ks []taps) {
	for x := range ks {
		t := &ks[x]
		in := row[4*t.first:][:4*len(t.weights)]
		r, g, b, a := int32(unit/2), int32(unit/2), int32(unit/2), int32(unit/2)
		for _, w := range t.weights {
			p := in[:4:4]
			r += w * int32(p[0])
			g += w * int32(p[1])
			b += w * int32(p[2])
			a += w * int32(p[3])
			in = in[4:]
		}
		p := out[4*x:][:4:4]
		alpha := clamp(a >> unitBits)
		// A colour that was multiplied by its alpha is never above it.
		p[0], p[1], p[2], p[3] = min(clamp(r>>unitBits), alpha), min(clamp(g>>unitBits), alpha), min(clamp(b>>unitBits), alpha), alpha
	}
}

// upright turns a raster by EXIF's orientation.
func (r raster) upright(orientation int) raster {
	if orientation <= 1 || orientation > 8 {
		return r
	}
	w, h := r.w, r.h
	if orientation >= 5 {
		w, h = h, w
	}
	out := newRaster(w, h, r.n)
	for y := range h {
		row := out.row(y)
		for x := range w {
			sx, sy := stored(orientation, x, y, r.w, r.h)
			copy(row[x*r.n:(x+1)*r.n], r.pix[sy*r.stride+sx*r.n:])
		}
	}
	return out
}

// stored is the place in a picture of w x h, as it is stored, of a pixel of the
// upright one.
func stored(orientation, x, y, w, h int) (sx, sy int) {
	switch orientation {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return y, h - 1 - x
	case 7:
		return w - 1 - y, h - 1 - x
	case 8:
		return w - 1 - y, x
	}
	return x, y
}

// storedRect is the place of a part of the upright picture.
func storedRect(orientation int, r image.Rectangle, w, h int) image.Rectangle {
	ax, ay := stored(orientation, r.Min.X, r.Min.Y, w, h)
	bx, by := stored(orientation, r.Max.X-1, r.Max.Y-1, w, h)
	return image.Rect(min(ax, bx), min(ay, by), max(ax, bx)+1, max(ay, by)+1)
}
