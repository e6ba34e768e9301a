package scaledjpeg

import (
	"bytes"
	"encoding/binary"
)

// reader reads a file, and a scan's data bit by bit. After the end of a scan it returns zeros
// and counts them, so that their use can be reported.
type reader struct {
	data []byte
	pos  int

	acc  uint64 // the next bits, from the top
	have int    // how many there are
	fake int    // how many of those are not in the file
}

// fill reads until there are at least 32 bits.
func (r *reader) fill() {
	if r.pos+8 <= len(r.data) {
		w := binary.BigEndian.Uint64(r.data[r.pos:])
		// A byte of 0xff is stuffed or begins a marker.
		if x := ^w; (x-0x0101010101010101)&^x&0x8080808080808080 == 0 {
			k := (64 - r.have) >> 3
			r.acc |= w >> r.have
			r.have += k << 3
			r.pos += k
			return // more bits are there than counted, but they are the next ones
		}
	}
	r.fillSlowly()
}

func (r *reader) fillSlowly() {
	for r.have <= 56 {
		var b byte
		switch {
		case r.pos+1 >= len(r.data):
			r.fake += 8
		case r.data[r.pos] != 0xff:
			b = r.data[r.pos]
			r.pos++
		case r.data[r.pos+1] == 0:
			b = 0xff
			r.pos += 2
		default: // a marker
			r.fake += 8
		}
		r.acc |= uint64(b) << (56 - r.have)
		r.have += 8
	}
}

// overran reports whether bits were used that are not in the file.
func (r *reader) overran() bool { return r.have < r.fake }

// reset forgets what is left of the bits before a marker.
func (r *reader) reset() { r.acc, r.have, r.fake = 0, 0, 0 }

// bitsOf returns the next n bits, at most 16.
func (r *reader) bitsOf(n uint) int32 {
	if n == 0 {
		return 0
	}
	if r.have < 32 {
		r.fill()
	}
	v := int32(r.acc >> (64 - n))
	r.acc <<= n
	r.have -= int(n)
	return v
}

// signed returns the next n bits as JPEG writes signed numbers.
func (r *reader) signed(n uint) int32 { return extend(r.bitsOf(n), n) }

func extend(v int32, n uint) int32 {
	if n > 0 && v < 1<<(n-1) {
		v += -1<<n + 1
	}
	return v
}

// symbol reads one code; -1: there is no such code.
func (r *reader) symbol(h *huffman) int32 {
	if r.have < 32 {
		r.fill()
	}
	if e := h.fast[r.acc>>(64-lookBits)]; e != 0 {
		n := uint(e & 0xff)
		r.acc <<= n
		r.have -= int(n)
		return int32(e >> 8)
	}
	code := int32(r.acc >> 48)
	for n := lookBits + 1; n <= 16; n++ {
		if code < h.limit[n] {
			i := h.offset[n] + code>>(16-n)
			if i < 0 || int(i) >= len(h.values) {
				return -1
			}
			r.acc <<= n
			r.have -= n
			return int32(h.values[i])
		}
	}
	return -1
}

// marker reads the next marker; segment reads the bytes after one.
func (r *reader) marker() (byte, error) {
	for r.pos+1 < len(r.data) && r.data[r.pos] == 0xff && r.data[r.pos+1] == 0xff {
		r.pos++
	}
	if r.pos+2 > len(r.data) {
		return 0, errTruncated
	}
	if r.data[r.pos] != 0xff {
		return 0, FormatError("a marker is missing between its segments")
	}
	r.pos += 2
	return r.data[r.pos-1], nil
}

func (r *reader) segment() ([]byte, error) {
	if r.pos+2 > len(r.data) {
		return nil, errTruncated
	}
	n := int(binary.BigEndian.Uint16(r.data[r.pos:]))
	if n < 2 || r.pos+n > len(r.data) {
		return nil, errTruncated
	}
	seg := r.data[r.pos+2 : r.pos+n]
	r.pos += n
	return seg, nil
}

// passOver goes on to the marker behind a scan's data.
func (r *reader) passOver() {
	for r.pos < len(r.data) {
		at := bytes.IndexByte(r.data[r.pos:], 0xff)
		if at < 0 || r.pos+at+1 == len(r.data) {
			r.pos = len(r.data)
			return
		}
		r.pos += at
		if next := r.data[r.pos+1]; next != 0 && (next < 0xd0 || next > 0xd7) {
			return
		}
		r.pos += 2
	}
}

// mostFilling bounds the bytes after a scan's last code that are no sign of a decoding
// error.
const mostFilling = 64

// filling passes the few bytes that may be between the last code and the next
// marker.
func (r *reader) filling() error {
	behind := r.pos
	for r.pos+1 < len(r.data) && (r.data[r.pos] != 0xff || r.data[r.pos+1] == 0 || r.data[r.pos+1] >= 0xd0 && r.data[r.pos+1] <= 0xd7) {
		r.pos++
	}
	if r.pos-behind > mostFilling {
		return errCode
	}
	return nil
}
