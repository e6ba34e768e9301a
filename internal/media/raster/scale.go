package raster

import (
	"image"
	"image/draw"
	"math"

	"github.com/kovidgoyal/go-parallel"
	"github.com/kovidgoyal/imaging"
)

// Resized returns a transparent picture at another size, in memory of its own.
func Resized(img *image.NRGBA, w, h int) image.Image {
	return imaging.Resize(img, w, h, imaging.Lanczos)
}

// resized returns a picture at a size, or img itself if it has that size: of an
// *image.Gray another, of any other opaque picture an *image.RGBA, else an
// *image.NRGBA.
func resized(img image.Image, w, h int, opaque bool) image.Image {
	if img.Bounds().Size() == image.Pt(w, h) {
		return img
	}
	if !opaque {
		return imaging.Resize(img, w, h, imaging.Lanczos)
	}
	if gray, ok := img.(*image.Gray); ok {
		out := image.NewGray(image.Rect(0, 0, w, h))
		resample(gray, w, h, func(y int, row []uint64) {
			for x, px := range row {
				out.Pix[y*out.Stride+x] = uint8(px)
			}
		})
		return out
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	resample(img, w, h, func(y int, row []uint64) {
		to := out.Pix[y*out.Stride:][:4*w]
		for _, px := range row {
			to[0], to[1], to[2], to[3] = uint8(px), uint8(px>>lane), uint8(px>>(2*lane)), 255
			to = to[4:]
		}
	})
	return out
}

// A pixel is packed into one number, a colour in each of three lanes, so that one
// multiplication weighs all three. A lane has room for the sum of eight bits times
// weights that add up to one, some of them negative: bias keeps the sum positive.
const (
	lane = 21
	one  = 1 << 12   // the weights' unit
	bias = 128 * one // Lanczos falls short by 0.27 of 255 at most
	each = 1 | 1<<lane | 1<<(2*lane)
)

// clamped is a lane's sum, in units of one and with the bias, as a sample.
var clamped = func() (of [1 << lane / one]uint8) {
	for i := range of {
		of[i] = uint8(min(max(i-bias/one, 0), 255))
	}
	return of
}()

// packed rounds the sums of three lanes.
func packed(sum uint64) uint64 {
	sum += each * (bias + one/2)
	const mask = 1<<lane/one - 1
	return uint64(clamped[sum/one&mask]) | uint64(clamped[sum>>lane/one&mask])<<lane | uint64(clamped[sum>>(2*lane)/one&mask])<<(2*lane)
}

// taps are the samples that one sample of the result is made of.
type taps struct {
	first   int
	weights []uint64 // negative ones wrap around; they add up to one
}

// lanczos returns the taps of each sample of a line that is scaled.
func lanczos(from, to int) []taps {
	out := make([]taps, to)
	ratio := float64(from) / float64(to)
	scale := max(ratio, 1)
	reach := scale * imaging.Lanczos.Support
	for i := range out {
		centre := (float64(i)+0.5)*ratio - 0.5
		first, last := max(0, int(centre-reach)), min(from-1, int(centre+reach)+1)
		kernel := make([]float64, last-first+1)
		total := 0.0
		for k := range kernel {
			kernel[k] = imaging.Lanczos.Kernel((float64(first+k) - centre) / scale)
			total += kernel[k]
		}
		// Each weight is rounded with what the ones before it lost.
		weights := make([]uint64, len(kernel))
		sum, before := 0.0, int64(0)
		for k, v := range kernel {
			sum += v
			upTo := int64(math.Round(sum / total * one))
			weights[k], before = uint64(upTo-before), upTo
		}
		out[i] = taps{first, weights}
	}
	return out
}

// resample scales an opaque picture, and gives each row of the result to emit, on all
// processors. Of a gray picture only the first lane counts.
//
// A band of rows holds only the scaled lines that its next row is made of.
func resample(img image.Image, w, h int, emit func(y int, row []uint64)) {
	at, size := img.Bounds().Min, img.Bounds().Size()
	across, down := lanczos(size.X, w), lanczos(size.Y, h)
	held := 0
	for _, t := range down {
		held = max(held, len(t.weights))
	}
	band := func(begin, end int) {
		line := image.NewRGBA(image.Rect(0, 0, size.X, 1))
		in, sums := make([]uint64, size.X), make([]uint64, w)
		ring := make([][]uint64, held)
		for i := range ring {
			ring[i] = make([]uint64, w)
		}
		next := 0
		for y := begin; y < end; y++ {
			t := down[y]
			for next = max(next, t.first); next < t.first+len(t.weights); next++ {
				draw.Draw(line, line.Rect, img, at.Add(image.Pt(0, next)), draw.Src)
				for x := range in {
					px := line.Pix[4*x : 4*x+4 : 4*x+4]
					in[x] = uint64(px[0]) | uint64(px[1])<<lane | uint64(px[2])<<(2*lane)
				}
				row := ring[next%held]
				for x := range row {
					weights := across[x].weights
					from := in[across[x].first:][:len(weights)]
					sum := uint64(0)
					for k, weight := range weights {
						sum += weight * from[k]
					}
					row[x] = packed(sum)
				}
			}
			clear(sums)
			row := func(k int) []uint64 { return ring[(t.first+k)%held][:len(sums)] }
			k := 0
			for ; k+4 <= len(t.weights); k += 4 { // with one load and store of the sums for four rows
				w0, w1, w2, w3 := t.weights[k], t.weights[k+1], t.weights[k+2], t.weights[k+3]
				r0, r1, r2, r3 := row(k), row(k+1), row(k+2), row(k+3)
				for x, sum := range sums {
					sums[x] = sum + w0*r0[x] + w1*r1[x] + w2*r2[x] + w3*r3[x]
				}
			}
			for ; k < len(t.weights); k++ {
				weight, rest := t.weights[k], row(k)
				for x, px := range rest {
					sums[x] += weight * px
				}
			}
			for x, sum := range sums {
				sums[x] = packed(sum)
			}
			emit(y, sums)
		}
	}
	if err := parallel.Run_in_parallel_over_range(0, band, 0, h); err != nil { // band has panicked
		panic(err)
	}
}
