package scaledjpeg

import "encoding/binary"

// bits reads a scan's data bit by bit. After its end it returns zeros and counts them, so
// that their use can be reported.
type bits struct {
	acc  uint64 // the next bits, from the top
	have int    // how many there are
	fake int    // how many of those are not in the file
}

// fill sees to it that there are at least 32 bits.
func (d *decoder) fill() {
	if d.pos+8 <= len(d.data) {
		w := binary.BigEndian.Uint64(d.data[d.pos:])
		// A byte of 0xff is stuffed or begins a marker.
		if x := ^w; (x-0x0101010101010101)&^x&0x8080808080808080 == 0 {
			k := (64 - d.have) >> 3
			d.acc |= w >> d.have
			d.have += k << 3
			d.pos += k
			return // more bits are there than counted, but they are the next ones
		}
	}
	d.fillSlowly()
}

func (d *decoder) fillSlowly() {
	for d.have <= 56 {
		var b byte
		switch {
		case d.pos+1 >= len(d.data):
			d.fake += 8
		case d.data[d.pos] != 0xff:
			b = d.data[d.pos]
			d.pos++
		case d.data[d.pos+1] == 0:
			b = 0xff
			d.pos += 2
		default: // a marker
			d.fake += 8
		}
		d.acc |= uint64(b) << (56 - d.have)
		d.have += 8
	}
}

// overran tells whether bits were used that are not in the file.
func (d *decoder) overran() bool { return d.have < d.fake }

// reset forgets what is left of the bits before a marker.
func (b *bits) reset() { *b = bits{} }

// bitsOf returns the next n bits, at most 16.
func (d *decoder) bitsOf(n uint) int32 {
	if n == 0 {
		return 0
	}
	if d.have < 32 {
		d.fill()
	}
	v := int32(d.acc >> (64 - n))
	d.acc <<= n
	d.have -= int(n)
	return v
}

// signed returns the next n bits as JPEG writes signed numbers.
func (d *decoder) signed(n uint) int32 { return extend(d.bitsOf(n), n) }

func extend(v int32, n uint) int32 {
	if n > 0 && v < 1<<(n-1) {
		v += -1<<n + 1
	}
	return v
}

// lookBits is the number of bits of one table look-up.
const lookBits = 10

// huffman is a table of codes.
type huffman struct {
	// fast has for each start of lookBits bits the symbol and the code's length,
	// 0 where the code is longer.
	fast [1 << lookBits]uint16
	// whole has, where the bits of the number fit in, too: the number in the
	// upper half, run and all bits in the lower; 0 where they do not. Without it a
	// photograph takes a quarter longer at half its size.
	whole  [1 << lookBits]int32
	limit  [18]int32 // the first code of no length up to that, left-aligned to 16 bits
	offset [17]int32
	values []byte
}

// huffmanTables reads tables of codes.
func (d *decoder) huffmanTables(seg []byte) error {
	for len(seg) > 0 {
		if len(seg) < 17 {
			return FormatError("a Huffman table is damaged")
		}
		class, at := seg[0]>>4, seg[0]&15
		total := 0
		for _, n := range seg[1:17] {
			total += int(n)
		}
		if class > 1 || at > 3 || total > 256 || len(seg) < 17+total {
			return FormatError("a Huffman table is damaged")
		}
		h, ok := newHuffman(seg[1:17], seg[17:17+total])
		if !ok {
			return FormatError("a Huffman table is damaged")
		}
		if class == 0 {
			d.dc[at] = h
		} else {
			d.ac[at] = h
		}
		seg = seg[17+total:]
	}
	return nil
}

func newHuffman(counts, values []byte) (*huffman, bool) {
	h := &huffman{values: values}
	code, k := int32(0), 0
	for n := 1; n <= 16; n++ {
		h.offset[n] = int32(k) - code
		for range counts[n-1] {
			if code >= 1<<n {
				return nil, false
			}
			if n <= lookBits {
				for i := code << (lookBits - n); i < (code+1)<<(lookBits-n); i++ {
					h.fast[i] = uint16(values[k])<<8 | uint16(n)
				}
			}
			code++
			k++
		}
		h.limit[n] = code << (16 - n)
		code <<= 1
	}
	h.limit[17] = 1 << 16
	h.widen()
	return h, true
}

// widen finds the starts that hold a code and its number.
func (h *huffman) widen() {
	for i, e := range h.fast {
		n, size := uint(e&0xff), uint(e>>8&15)
		if n == 0 || size == 0 || n+size > lookBits {
			continue
		}
		v := extend(int32(i)>>(lookBits-n-size)&(1<<size-1), size)
		h.whole[i] = v<<16 | int32(e>>12)<<8 | int32(n+size)
	}
}

// symbol reads one code; -1: there is no such code.
func (d *decoder) symbol(h *huffman) int32 {
	if d.have < 32 {
		d.fill()
	}
	if e := h.fast[d.acc>>(64-lookBits)]; e != 0 {
		n := uint(e & 0xff)
		d.acc <<= n
		d.have -= int(n)
		return int32(e >> 8)
	}
	code := int32(d.acc >> 48)
	for n := lookBits + 1; n <= 16; n++ {
		if code < h.limit[n] {
			i := h.offset[n] + code>>(16-n)
			if i < 0 || int(i) >= len(h.values) {
				return -1
			}
			d.acc <<= n
			d.have -= n
			return int32(h.values[i])
		}
	}
	return -1
}
