package quickjpeg

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"io"
	"math/bits"
)

// Encode writes a JPEG of a quality to 100. The error is the writer's, or that of image/jpeg.
func Encode(w io.Writer, img image.Image, quality int) error {
	options := &jpeg.Options{Quality: quality}
	at := img.Bounds()
	var sample image.Image
	switch img.(type) {
	case *image.RGBA:
		sample = image.NewRGBA(image.Rect(0, 0, 1, 1))
	case *image.Gray:
		sample = image.NewGray(image.Rect(0, 0, 1, 1))
	}
	if sample == nil || at.Empty() || max(at.Dx(), at.Dy()) > 0xffff {
		return jpeg.Encode(w, img, options)
	}
	var one bytes.Buffer
	if err := jpeg.Encode(&one, sample, options); err != nil {
		return err
	}
	e := newEncoder(w, one.Bytes(), at.Dx(), at.Dy())
	switch m := img.(type) {
	case *image.RGBA:
		e.colours(m)
	case *image.Gray:
		e.gray(m)
	}
	e.put(0x7f, 7) // the last byte is filled with ones
	e.flush()
	e.out = append(e.out, 0xff, 0xd9)
	e.write()
	return e.err
}

// code is a Huffman code, and its length in bits.
type code struct {
	bits uint32
	size uint8
}

// block holds the samples of eight rows and columns, and after transform their frequencies.
type block [64]float32

// table holds the numbers that encode blocks of one kind.
type table struct {
	factors [64]float32 // of the frequencies, in the order of a block
	dc, ac  [256]code
}

// encoder writes one JPEG.
type encoder struct {
	to     io.Writer
	err    error
	out    []byte // not written yet
	room   uint64 // bits that are not in out yet, the last one lowest
	filled uint   // how many
	tables [2]table
	last   [3]int32 // the mean of each colour's last block
	block  block
}

// zigzag is the place in a block of each frequency as JPEG orders them (ISO/IEC 10918-1,
// figure A.6).
var zigzag = [64]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

// newEncoder takes headers and tables from a JPEG of one pixel.
func newEncoder(w io.Writer, one []byte, width, height int) *encoder {
	e := &encoder{to: w}
	for at := 2; ; {
		end := at + 2 + int(binary.BigEndian.Uint16(one[at+2:]))
		body := one[at+4 : end]
		switch one[at+1] {
		case 0xc0:
			binary.BigEndian.PutUint16(body[1:], uint16(height))
			binary.BigEndian.PutUint16(body[3:], uint16(width))
		case 0xdb:
			e.quantTables(body)
		case 0xc4:
			e.huffmanTables(body)
		case 0xda:
			e.out = append(make([]byte, 0, 64<<10), one[:end]...)
			return e
		}
		at = end
	}
}

// gains are the factors by which transform makes rows and columns too large, beside a factor
// of 8 in all (Arai, Agui and Nakajima, 1988).
var gains = [8]float32{1, 1.387039845, 1.306562965, 1.175875602, 1, 0.785694958, 0.541196100, 0.275899379}

func (e *encoder) quantTables(b []byte) {
	for ; len(b) >= 65; b = b[65:] {
		t := &e.tables[b[0]&1]
		for k, q := range b[1:65] {
			at := zigzag[k]
			t.factors[at] = 1 / (8 * float32(q) * gains[at/8] * gains[at%8])
		}
	}
}

func (e *encoder) huffmanTables(b []byte) {
	for len(b) >= 17 {
		t := &e.tables[b[0]&1].dc
		if b[0]>>4 == 1 {
			t = &e.tables[b[0]&1].ac
		}
		counts, values := b[1:17], b[17:]
		next := uint32(0)
		for size, n := range counts {
			for range n {
				t[values[0]] = code{next, uint8(size + 1)}
				next, values = next+1, values[1:]
			}
			next <<= 1
		}
		b = values
	}
}

// put writes some bits, at most 32.
func (e *encoder) put(v uint32, n uint8) {
	e.room = e.room<<n | uint64(v)
	if e.filled += uint(n); e.filled >= 32 {
		e.flush()
	}
}

// flush moves whole bytes to out. A byte of ones has a zero behind it.
func (e *encoder) flush() {
	for e.filled >= 8 {
		e.filled -= 8
		b := byte(e.room >> e.filled)
		e.out = append(e.out, b)
		if b == 0xff {
			e.out = append(e.out, 0)
		}
	}
}

// write passes on what is in out.
func (e *encoder) write() {
	if e.err == nil {
		_, e.err = e.to.Write(e.out)
	}
	e.out = e.out[:0]
}

// plane holds the rows of one colour that are encoded next, each padded to whole blocks.
type plane struct {
	pix    []uint8
	stride int
}

func newPlane(width, rows, unit int) plane {
	stride := (width + unit - 1) / unit * unit
	return plane{make([]uint8, stride*rows), stride}
}

// pad repeats the last sample of each row.
func (p plane) pad(width int) {
	for y := 0; y < len(p.pix); y += p.stride {
		row := p.pix[y : y+p.stride]
		for x := width; x < p.stride; x++ {
			row[x] = row[width-1]
		}
	}
}

// gray encodes a picture of one colour.
func (e *encoder) gray(m *image.Gray) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	p := newPlane(w, 8, 8)
	for y := 0; y < h && e.err == nil; y += 8 {
		for row := range 8 {
			copy(p.pix[row*p.stride:], m.Pix[min(y+row, h-1)*m.Stride:][:w])
		}
		p.pad(w)
		for x := 0; x < p.stride; x += 8 {
			e.encode(p, x, 0, 0)
		}
		e.write()
	}
}

// colours encodes a picture with half as many rows and columns of colour as of brightness.
func (e *encoder) colours(m *image.RGBA) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	luma, cb, cr := newPlane(w, 16, 16), newPlane((w+1)/2, 8, 8), newPlane((w+1)/2, 8, 8)
	for y := 0; y < h && e.err == nil; y += 16 {
		for row := 0; row < 16; row += 2 {
			upper, lower := m.Pix[min(y+row, h-1)*m.Stride:][:4*w], m.Pix[min(y+row+1, h-1)*m.Stride:][:4*w]
			toLuma(luma.pix[row*luma.stride:][:w], upper)
			toLuma(luma.pix[(row+1)*luma.stride:][:w], lower)
			toChroma(cb.pix[row/2*cb.stride:][:(w+1)/2], cr.pix[row/2*cr.stride:][:(w+1)/2], upper, lower)
		}
		luma.pad(w)
		cb.pad((w + 1) / 2)
		cr.pad((w + 1) / 2)
		for x := 0; x < luma.stride; x += 16 {
			e.encode(luma, x, 0, 0)
			e.encode(luma, x+8, 0, 0)
			e.encode(luma, x, 8, 0)
			e.encode(luma, x+8, 8, 0)
			e.encode(cb, x/2, 0, 1)
			e.encode(cr, x/2, 0, 2)
		}
		e.write()
	}
}

// toLuma makes brightness of pixels (JFIF 1.02, "Conversion to and from RGB").
func toLuma(to, from []uint8) {
	for i := range to {
		px := from[4*i : 4*i+3 : 4*i+3]
		to[i] = uint8((19595*uint32(px[0]) + 38470*uint32(px[1]) + 7471*uint32(px[2]) + 1<<15) >> 16)
	}
}

// toChroma makes one sample of each colour of two pixels of two rows.
func toChroma(cb, cr, upper, lower []uint8) {
	for i := range cb {
		a, b := 8*i, min(8*i+4, len(upper)-4)
		p, q, s, t := upper[a:a+3:a+3], upper[b:b+3:b+3], lower[a:a+3:a+3], lower[b:b+3:b+3]
		red := int32(p[0]) + int32(q[0]) + int32(s[0]) + int32(t[0])
		green := int32(p[1]) + int32(q[1]) + int32(s[1]) + int32(t[1])
		blue := int32(p[2]) + int32(q[2]) + int32(s[2]) + int32(t[2])
		const middle = 128<<18 + 1<<17 - 1
		cb[i] = uint8((-11056*red - 21712*green + 32768*blue + middle) >> 18)
		cr[i] = uint8((32768*red - 27440*green - 5328*blue + middle) >> 18)
	}
}

// encode writes the block of a plane that begins at (x, y), of the colour-th colour.
func (e *encoder) encode(p plane, x, y, colour int) {
	from := p.pix[y*p.stride+x:]
	t := &e.tables[min(colour, 1)]
	if first, ok := even(from, p.stride); ok {
		e.mean(t, quantized(64*(float32(first)-128)*t.factors[0]), colour)
		e.code(t.ac[0])
		return
	}
	e.block.load(from, p.stride)
	e.block.transform()
	var values [64]int32
	known := uint64(0)
	for k, at := range zigzag {
		v := quantized(e.block[at&63] * t.factors[at&63])
		values[k] = v
		known |= uint64(uint32(v|-v)>>31) << k
	}
	e.mean(t, values[0], colour)
	before := 0
	for known &^= 1; known != 0; known &= known - 1 {
		k := bits.TrailingZeros64(known)
		run := k - before - 1
		for ; run > 15; run -= 16 {
			e.code(t.ac[0xf0])
		}
		e.value(&t.ac, uint8(run)<<4, values[k])
		before = k
	}
	if before < 63 {
		e.code(t.ac[0])
	}
}

// even reports whether all samples of a block are the same, and returns it.
func even(from []uint8, stride int) (sample uint8, ok bool) {
	const each = 0x0101010101010101
	first := uint64(from[0]) * each
	for row := range 8 {
		if binary.LittleEndian.Uint64(from[row*stride:]) != first {
			return 0, false
		}
	}
	return from[0], true
}

// quantized rounds to the nearest whole number.
func quantized(v float32) int32 { return int32(v+16384.5) - 16384 }

// mean writes the difference of a block's mean to that of the block before.
func (e *encoder) mean(t *table, v int32, colour int) {
	e.value(&t.dc, 0, v-e.last[colour])
	e.last[colour] = v
}

func (e *encoder) code(c code) { e.put(c.bits, c.size) }

// value writes the code of a run of zeros and of a value's length, and the value.
func (e *encoder) value(codes *[256]code, run uint8, v int32) {
	size := uint8(bits.Len32(uint32(max(v, -v))))
	c := codes[run|size]
	if v < 0 { // the lower bits of the number below it are written
		v--
	}
	e.put(c.bits<<size|uint32(v)&(1<<size-1), c.size+size)
}

// load reads samples, so that 0 is in their middle.
func (b *block) load(from []uint8, stride int) {
	for y := range 8 {
		row, to := from[y*stride:][:8:8], b[8*y:][:8:8]
		for x, v := range row {
			to[x] = float32(v) - 128
		}
	}
}

// transform makes frequencies of the rows, and then of the columns.
func (b *block) transform() {
	for y := 0; y < 64; y += 8 {
		r := b[y:][:8:8]
		r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7] = frequencies(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7])
	}
	for x := range 8 {
		c := b[x:][:57:57]
		c[0], c[8], c[16], c[24], c[32], c[40], c[48], c[56] = frequencies(c[0], c[8], c[16], c[24], c[32], c[40], c[48], c[56])
	}
}

// frequencies is the discrete cosine transform of eight samples, each too large by its gain.
func frequencies(a, b, c, d, e, f, g, h float32) (float32, float32, float32, float32, float32, float32, float32, float32) {
	ah, bg, cf, de := a+h, b+g, c+f, d+e
	outer, inner := ah+de, bg+cf
	odd, even := ah-de, bg-cf
	slant := (even + odd) * 0.707106781

	h1, g1, f1, e1 := a-h, b-g, c-f, d-e
	low, middle, high := e1+f1, (f1+g1)*0.707106781, g1+h1
	turn := (low - high) * 0.382683433
	low, high = 0.541196100*low+turn, 1.306562965*high+turn
	sum, difference := h1+middle, h1-middle
	return outer + inner, sum + high, odd + slant, difference - low, outer - inner, difference + low, odd - slant, sum - high
}
