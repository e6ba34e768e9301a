package goengine

import (
	"image"
	"image/color"
	"slices"
)

// reduced brings a picture down to so many colours by cutting, again and again,
// the box of colours with the most pixels times extent at its median. Nothing is
// dithered: what is read of such a picture is text.
func reduced(m *image.NRGBA, colours int) *image.Paletted {
	count := map[uint32]int{}
	for y := range m.Rect.Dy() {
		row := m.Pix[y*m.Stride:][:4*m.Rect.Dx()]
		for i := 0; i < len(row); i += 4 {
			count[coarse(row[i:i+4])]++
		}
	}
	first := make(box, 0, len(count))
	for c, n := range count {
		first = append(first, shade{c, n})
	}
	slices.SortFunc(first, func(a, b shade) int { return int(int64(a.colour) - int64(b.colour)) })
	boxes := []box{first}
	for len(boxes) < colours {
		i := widest(boxes)
		if len(boxes[i]) < 2 {
			break
		}
		a, b := boxes[i].cut()
		boxes[i] = a
		boxes = append(boxes, b)
	}
	return painted(m, boxes)
}

// coarse joins the four samples, 6 bits of each: the rest makes no difference
// among 64 colours.
func coarse(p []uint8) uint32 {
	return uint32(p[0]&0xfc)<<24 | uint32(p[1]&0xfc)<<16 | uint32(p[2]&0xfc)<<8 | uint32(p[3]&0xfc)
}

type shade struct {
	colour uint32
	count  int
}

type box []shade

func sample(c uint32, channel int) int { return int(c >> (24 - 8*channel) & 0xff) }

// extent is the longest side of a box, and how long it is.
func (b box) extent() (channel, length int) {
	for c := range 4 {
		lo, hi := 255, 0
		for _, s := range b {
			v := sample(s.colour, c)
			lo, hi = min(lo, v), max(hi, v)
		}
		if hi-lo > length {
			channel, length = c, hi-lo
		}
	}
	return channel, length
}

func (b box) pixels() (n int) {
	for _, s := range b {
		n += s.count
	}
	return n
}

func widest(boxes []box) (best int) {
	most := -1
	for i, b := range boxes {
		if len(b) < 2 {
			continue
		}
		if _, length := b.extent(); length*b.pixels() > most {
			best, most = i, length*b.pixels()
		}
	}
	return best
}

// cut divides a box at the median of its longest side.
func (b box) cut() (box, box) {
	channel, _ := b.extent()
	slices.SortStableFunc(b, func(x, y shade) int { return sample(x.colour, channel) - sample(y.colour, channel) })
	half, at, n := b.pixels()/2, 0, 0
	for at < len(b)-1 && n < half {
		n += b[at].count
		at++
	}
	at = min(max(at, 1), len(b)-1)
	return b[:at:at], b[at:]
}

// painted gives each pixel the mean of its box.
func painted(m *image.NRGBA, boxes []box) *image.Paletted {
	index := map[uint32]uint8{}
	out := image.NewPaletted(m.Rect, nil)
	for i, b := range boxes {
		var sum [4]int
		for _, s := range b {
			index[s.colour] = uint8(i)
			for c := range sum {
				sum[c] += sample(s.colour, c) * s.count
			}
		}
		n := max(b.pixels(), 1)
		mean := func(c int) uint8 {
			v := sum[c] / n
			return uint8(v | v>>6) // 6 bits of white are white
		}
		out.Palette = append(out.Palette, color.NRGBA{mean(0), mean(1), mean(2), mean(3)})
	}
	for y := range m.Rect.Dy() {
		row, to := m.Pix[y*m.Stride:], out.Pix[y*out.Stride:][:m.Rect.Dx()]
		for x := range to {
			to[x] = index[coarse(row[4*x:4*x+4])]
		}
	}
	return out
}
