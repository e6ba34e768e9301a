package goengine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"io"

	"github.com/klauspost/compress/zlib"
)

// errOther is the fact that a PNG is left to the library: it is of a rarer form,
// or damaged, of which the library's word counts.
var errOther = errors.New("goengine: this PNG is not read here")

// readPNG reads PNGs of 8 bits a sample, gray or in colours: nearly all that are
// large.
func readPNG(data []byte, w, h int, part image.Rectangle) (r raster, opaque bool, err error) {
	samples, packed, err := pngParts(data)
	if err != nil {
		return raster{}, false, err
	}
	out, opaque, err := readRows(packed, w, h, samples, true)
	if err != nil {
		return raster{}, false, err
	}
	if !opaque {
		if out, opaque = out.part(part); !opaque {
			out.multiply()
		}
		return out, opaque, nil
	}
	out.pix = out.pix[part.Min.Y*out.stride+part.Min.X*out.n:]
	out.w, out.h = part.Dx(), part.Dy()
	return out, true, nil
}

// readRows reads rows of samples as they stand, each with its filter first where
// they are filtered. One unpacks while another undoes the filters and a third puts
// rows where they belong, so that it takes half as long as one after the other.
func readRows(packed []byte, w, h, samples int, filtered bool) (raster, bool, error) {
	out := newRaster(w, h, map[int]int{1: 1, 3: 4, 4: 4}[samples])
	u := unfilter{samples: samples, length: w * samples, last: make([]byte, w*samples)}
	lead := 0
	if filtered {
		lead = 1
	}
	rows := unpacking(packed, h, u.length+lead)
	defer close(rows.stop)
	undone, placed := make(chan []byte, 1), make(chan bool, 1)
	go func() { placed <- out.place(undone, samples, lead, rows.free) }()
	for y := 0; y < h; {
		block, ok := <-rows.blocks
		if !ok || filtered && !u.undoBlock(block) {
			close(undone)
			return raster{}, false, errOther
		}
		y += len(block) / (u.length + lead)
		undone <- block
	}
	close(undone)
	opaque := <-placed
	if _, more := <-rows.blocks; more || rows.failed {
		return raster{}, false, errOther
	}
	return out, opaque, nil
}

// place puts rows, each behind so many other bytes, where they belong, gives their
// blocks back, and tells whether nothing shines through.
func (r raster) place(blocks <-chan []byte, samples, lead int, free chan<- []byte) (opaque bool) {
	opaque = true
	length, y := r.w*samples, 0
	for block := range blocks {
		for at := 0; at < len(block); at += length + lead {
			opaque = spread(r.row(y), block[at+lead:][:length], samples) && opaque
			y++
		}
		free <- block[:cap(block)]
	}
	return opaque
}

// pngParts are how many samples a pixel has, and the packed data.
func pngParts(data []byte) (samples int, packed []byte, err error) {
	if len(data) < 33 || data[24] != 8 || data[26]|data[27]|data[28] != 0 {
		return 0, nil, errOther
	}
	if samples = map[byte]int{0: 1, 2: 3, 6: 4}[data[25]]; samples == 0 {
		return 0, nil, errOther
	}
	for rest := data[8:]; len(rest) >= 12; {
		n := int(binary.BigEndian.Uint32(rest))
		if n < 0 || n+12 > len(rest) {
			return 0, nil, errOther
		}
		switch name := string(rest[4:8]); {
		case name == "IDAT" && packed == nil:
			packed = rest[8 : 8+n : 8+n]
		case name == "IDAT":
			if cap(packed) < len(data) {
				packed = append(make([]byte, 0, len(data)), packed...)
			}
			packed = append(packed, rest[8:8+n]...)
		case name == "tRNS":
			return 0, nil, errOther
		case name == "IEND":
			return samples, packed, nil
		}
		rest = rest[12+n:]
	}
	return 0, nil, errOther
}

// blockSize is about how many bytes of rows one hands to the other at once.
const blockSize = 256 << 10

// unpacked hands over blocks of rows, and is given them back.
type unpacked struct {
	blocks chan []byte
	free   chan []byte
	stop   chan struct{}
	failed bool // to be looked at when there are no more blocks
}

// unpacking begins to unpack h rows of so many bytes. It goes on until stop is closed,
// or all are there.
func unpacking(packed []byte, h, length int) *unpacked {
	u := &unpacked{blocks: make(chan []byte, 3), free: make(chan []byte, 6), stop: make(chan struct{})}
	each := max(blockSize/length, 1)
	for range cap(u.free) {
		u.free <- make([]byte, each*length)
	}
	go u.unpack(packed, h, length)
	return u
}

// unpack sends h rows of so many bytes, all of them or none of the last ones.
func (u *unpacked) unpack(packed []byte, h, length int) {
	defer close(u.blocks)
	u.failed = true
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return
	}
	for h > 0 {
		var block []byte
		select {
		case block = <-u.free:
		case <-u.stop:
			return
		}
		n := min(h, len(block)/length)
		if _, err := io.ReadFull(z, block[:n*length]); err != nil {
			return
		}
		h -= n
		select {
		case u.blocks <- block[:n*length]:
		case <-u.stop:
			return
		}
	}
	var more [1]byte
	n, err := z.Read(more[:]) // the checksum is behind the last row
	u.failed = n > 0 || err != io.EOF
}

// unfilter undoes the filters of rows.
type unfilter struct {
	samples, length int
	last            []byte // the row above
	room            []byte
}

// undoBlock undoes the filters of the rows of a block, each of which stands before its
// row. The block may be another's afterwards.
func (u *unfilter) undoBlock(block []byte) bool {
	for at := 0; at < len(block); at += 1 + u.length {
		if !u.undo(block[at], block[at+1:][:u.length]) {
			return false
		}
	}
	u.own()
	return true
}

// own makes the row above one that nobody else writes to.
func (u *unfilter) own() {
	if u.room == nil {
		u.room = make([]byte, u.length)
	}
	copy(u.room, u.last)
	u.last = u.room
}

// undo undoes the filter of a row, which is the row above for the next one.
func (u *unfilter) undo(filter byte, row []byte) bool {
	n, last := u.samples, u.last[:len(row)]
	switch filter {
	case 0:
	case 1:
		for i := n; i < len(row); i++ {
			row[i] += row[i-n]
		}
	case 2:
		addRows(row, last)
	case 3:
		for c := range min(n, len(row)) {
			left := 0
			for i := c; i < len(row); i += n {
				v := row[i] + byte((left+int(last[i]))/2)
				row[i], left = v, int(v)
			}
		}
	case 4:
		for c := range min(n, len(row)) {
			left, corner := 0, 0
			for i := c; i < len(row); i += n {
				up := int(last[i])
				v := row[i] + nearest(left, up, corner)
				row[i], left, corner = v, int(v), up
			}
		}
	default:
		return false
	}
	u.last = row
	return true
}

// addRows adds eight bytes at once.
func addRows(row, last []byte) {
	const low = 0x7f7f7f7f7f7f7f7f
	for len(row) >= 8 && len(last) >= 8 {
		a, b := binary.LittleEndian.Uint64(row), binary.LittleEndian.Uint64(last)
		binary.LittleEndian.PutUint64(row, (a&low+b&low)^(a^b)&^low)
		row, last = row[8:], last[8:]
	}
	for i := range row {
		row[i] += last[i]
	}
}

// nearest is PNG's Paeth predictor: of left, up and corner the one that is
// nearest to left + up - corner.
func nearest(left, up, corner int) byte {
	dl, du := up-corner, left-corner
	dc := magnitude(dl + du)
	dl, du = magnitude(dl), magnitude(du)
	switch {
	case dl <= du && dl <= dc:
		return byte(left)
	case du <= dc:
		return byte(up)
	}
	return byte(corner)
}

func magnitude(v int) int { return (v ^ v>>63) - v>>63 }

// spread copies a row into a raster's; opaque tells whether nothing shines
// through.
func spread(to, row []byte, samples int) (opaque bool) {
	switch samples {
	case 3:
		for len(to) >= 4 && len(row) >= 3 {
			to[0], to[1], to[2], to[3] = row[0], row[1], row[2], 255
			to, row = to[4:], row[3:]
		}
		return true
	case 4:
		copy(to, row)
		return solid(row)
	}
	copy(to, row)
	return true
}

// part is a part of a raster; opaque tells whether nothing shines through it.
func (r raster) part(at image.Rectangle) (out raster, opaque bool) {
	out = raster{at.Dx(), at.Dy(), r.n, r.stride, r.pix[at.Min.Y*r.stride+at.Min.X*r.n:]}
	for y := 0; r.n == 4 && y < out.h; y++ {
		if !solid(out.row(y)) {
			return out, false
		}
	}
	return out, true
}

// solid tells whether nothing shines through a row of four samples a pixel.
func solid(row []byte) bool {
	all := byte(255)
	for i := 3; i < len(row); i += 4 {
		all &= row[i]
	}
	return all == 255
}
