package scaledjpeg

// lookBits is the number of bits of one table look-up.
const lookBits = 10

// huffman is a table of codes.
type huffman struct {
	// fast has for each start of lookBits bits the symbol and the code's length,
	// 0 if the code is longer.
	fast [1 << lookBits]uint16
	// whole has for each such start that also holds the bits of the number: the number in the
	// upper half, run and count of all bits in the lower; else 0. Without it a photograph
	// takes a quarter longer at half its size.
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

// widen fills h.whole: for each beginning of the data that holds a code and the number behind
// it, both in one entry.
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
