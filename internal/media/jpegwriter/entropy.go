package jpegwriter

import (
	"encoding/binary"
	"math/bits"
)

// writer writes coefficients as codes.
type writer struct {
	*file
	dc, ac [2]*[256]code // of light and of colour
	last   [3]int16      // the mean of each component's last block
}

func newWriter(f *file) *writer {
	return &writer{file: f,
		dc: [2]*[256]code{codesOf(countsDCY, valuesDC), codesOf(countsDCC, valuesDC)},
		ac: [2]*[256]code{codesOf(countsACY, valuesACY), codesOf(countsACC, valuesACC)},
	}
}

// row writes a row of MCUs.
func (w *writer) row(row []coefs) {
	if w.gray {
		for i := range row {
			w.block(&row[i], 0, 0)
		}
		return
	}
	for len(row) >= 6 {
		for i := range 4 {
			w.block(&row[i], 0, 0)
		}
		w.block(&row[4], 1, 1)
		w.block(&row[5], 2, 1)
		row = row[6:]
	}
}

func (w *writer) block(c *coefs, component, kind int) {
	ac := w.ac[kind]
	diff := int32(c.v[0] - w.last[component])
	w.last[component] = c.v[0]
	w.number(w.dc[kind], 0, diff)
	at := 0
	for set := c.set &^ 1; set != 0; set &= set - 1 {
		k := bits.TrailingZeros64(set)
		run := k - at - 1
		for ; run > 15; run -= 16 {
			w.put(uint64(ac[0xf0].bits), uint(ac[0xf0].n))
		}
		w.number(ac, run, int32(c.v[k&63]))
		at = k
	}
	if at != 63 {
		w.put(uint64(ac[0].bits), uint(ac[0].n))
	}
}

// number writes a number behind so many zeros: the code of both, then the bits.
func (w *writer) number(codes *[256]code, run int, v int32) {
	sign := v >> 31
	n := uint(bits.Len32(uint32((v ^ sign) - sign)))
	c := codes[(run<<4|int(n))&255]
	w.put(uint64(c.bits)<<n|uint64(uint32(v+sign))&(1<<n-1), uint(c.n)+n)
}

// put writes the lowest n bits, at most 32, of v, which has no others.
func (f *file) put(v uint64, n uint) {
	f.have += n
	f.acc |= v << (64 - f.have)
	if f.have >= 32 {
		f.spill()
	}
}

// spill writes the first 32 bits.
func (f *file) spill() {
	word := uint32(f.acc >> 32)
	f.acc <<= 32
	f.have -= 32
	if x := ^word; (x-0x01010101)&^x&0x80808080 == 0 {
		f.b = binary.BigEndian.AppendUint32(f.b, word)
		return
	}
	for shift := 24; shift >= 0; shift -= 8 { // a byte of 0xff is followed by 0
		if f.b = append(f.b, byte(word>>shift)); byte(word>>shift) == 0xff {
			f.b = append(f.b, 0)
		}
	}
}

// flush fills the last byte with ones.
func (f *file) flush() {
	for f.have > 0 {
		v := byte(f.acc >> 56)
		if f.have < 8 {
			v |= 0xff >> f.have
		}
		if f.b = append(f.b, v); v == 0xff {
			f.b = append(f.b, 0)
		}
		f.acc <<= 8
		f.have -= min(f.have, 8)
	}
}
