package scaledjpeg

import "slices"

// scan holds the header of one scan.
type scan struct {
	comps            []*component
	from, to         int
	high, low        uint
	eobRun           int
	sinceRestart     int
	restartsExpected byte
}

// zigzag is the place of the k-th coefficient in its block. Numbers beyond 63
// only damaged files reach.
const zigzag = "" +
	"\x00\x01\x08\x10\x09\x02\x03\x0a\x11\x18\x20\x19\x12\x0b\x04\x05" +
	"\x0c\x13\x1a\x21\x28\x30\x29\x22\x1b\x14\x0d\x06\x07\x0e\x15\x1c" +
	"\x23\x2a\x31\x38\x39\x32\x2b\x24\x1d\x16\x0f\x17\x1e\x25\x2c\x33" +
	"\x3a\x3b\x34\x2d\x26\x1f\x27\x2e\x35\x3c\x3d\x36\x2f\x37\x3e\x3f"

const errCode = FormatError("its image data holds codes that make no sense")

// scanned reads a scan's header, and its data or passes over it.
func (d *decoder) scanned(seg []byte) error {
	if d.comps == nil {
		return FormatError("its image data comes before its header")
	}
	if err := d.scanHeader(seg); err != nil {
		return err
	}
	if d.headers {
		d.passOver()
	} else if err := d.decodeScan(); err != nil {
		return err
	}
	for _, c := range d.scan.comps {
		if d.low == 0 {
			for k := d.from; k <= d.to; k++ {
				c.known |= 1 << k
			}
		}
	}
	return nil
}

// decodeScan reads a scan's data.
func (d *decoder) decodeScan() error {
	d.reader.reset()
	d.sinceRestart, d.restartsExpected, d.eobRun = 0, 0, 0
	for _, c := range d.scan.comps {
		c.dc = 0
		if d.progressive && c.coefs == nil {
			c.coefs = make([]int16, 64*c.padX*c.padY)
		}
		d.allocate(c)
	}
	var err error
	if len(d.scan.comps) == 1 {
		err = d.alone(d.scan.comps[0])
	} else {
		err = d.interleaved()
	}
	if err != nil {
		return err
	}
	return d.filling()
}

// scanHeader reads which components a scan has, by which tables, and which of their
// coefficients.
func (d *decoder) scanHeader(seg []byte) error {
	const errHeader = FormatError("a scan's header is damaged")
	if len(seg) < 1 || len(seg) < 4+2*int(seg[0]) || seg[0] < 1 || int(seg[0]) > len(d.comps) {
		return errHeader
	}
	n := int(seg[0])
	s := scan{}
	blocks := 0
	for i := range n {
		id, tables := seg[1+2*i], seg[2+2*i]
		c := d.named(id)
		if c == nil || slices.Contains(s.comps, c) || tables>>4 > 3 || tables&15 > 3 {
			return errHeader
		}
		c.dcTable, c.acTable, c.quant = d.dc[tables>>4], d.ac[tables&15], d.quant[c.tq]
		s.comps = append(s.comps, c)
		blocks += int(c.h) * int(c.v)
	}
	s.from, s.to = int(seg[1+2*n]), int(seg[2+2*n])
	s.high, s.low = uint(seg[3+2*n]>>4), uint(seg[3+2*n]&15)
	if !d.progressive {
		s.from, s.to, s.high, s.low = 0, 63, 0, 0
	}
	if s.to > 63 || s.from > s.to || s.high > 13 || s.low > 13 || s.from > 0 && n > 1 || s.from == 0 && s.to != 0 && d.progressive || n > 1 && blocks > 10 {
		return errHeader
	}
	for _, c := range s.comps {
		needDC, needAC := s.from == 0 && s.high == 0, s.to > 0
		if needDC && c.dcTable == nil || needAC && c.acTable == nil || !d.progressive && c.quant == nil {
			return FormatError("a table that a scan needs is missing")
		}
	}
	d.scan = s
	return nil
}

// named returns the component with an identifier, and the last of several; nil: there is none.
func (d *decoder) named(id byte) (c *component) {
	for k := range d.comps {
		if d.comps[k].id == id {
			c = &d.comps[k]
		}
	}
	return c
}

// alone reads a scan of one component, which has no filling.
func (d *decoder) alone(c *component) error {
	for by := range c.blocksY {
		for bx := range c.blocksX {
			if err := d.restarted(); err != nil {
				return err
			}
			if err := d.one(c, bx, by); err != nil {
				return err
			}
		}
		if d.overran() {
			return errTruncated
		}
	}
	return nil
}

// interleaved reads a scan of several components.
func (d *decoder) interleaved() error {
	for my := range d.mcusY {
		for mx := range d.mcusX {
			if err := d.restarted(); err != nil {
				return err
			}
			for _, c := range d.scan.comps {
				for v := range int(c.v) {
					for h := range int(c.h) {
						if err := d.one(c, mx*int(c.h)+h, my*int(c.v)+v); err != nil {
							return err
						}
					}
				}
			}
		}
		if d.overran() {
			return errTruncated
		}
	}
	return nil
}

// restarted reads the marker before each restart interval.
func (d *decoder) restarted() error {
	if d.restart == 0 {
		return nil
	}
	if d.sinceRestart < d.restart {
		d.sinceRestart++
		return nil
	}
	if d.overran() {
		return errTruncated
	}
	if d.pos+2 > len(d.data) || d.data[d.pos] != 0xff || d.data[d.pos+1] != 0xd0+d.restartsExpected {
		return FormatError("a restart marker is missing in its image data")
	}
	d.pos += 2
	d.restartsExpected = (d.restartsExpected + 1) & 7
	d.reader.reset()
	d.sinceRestart, d.eobRun = 1, 0
	for _, c := range d.scan.comps {
		c.dc = 0
	}
	return nil
}

// one reads one block.
func (d *decoder) one(c *component, bx, by int) error {
	if d.progressive {
		b := c.coefs[64*(by*c.padX+bx):][:64]
		switch {
		case d.from == 0 && d.high == 0:
			return d.firstDC(c, b)
		case d.from == 0:
			if d.bitsOf(1) != 0 {
				b[0] |= 1 << d.low
			}
			return nil
		case d.high == 0:
			return d.firstAC(c, b)
		}
		return d.refineAC(c, b)
	}
	wanted := bx >= c.bx0 && bx < c.bx1 && by >= c.by0 && by < c.by1
	last, err := d.baseline(c)
	if err != nil || !wanted {
		if last > 0 {
			d.block = [64]int32{}
		}
		return err
	}
	d.store(c, bx, by, last)
	return nil
}

// store transforms the block that was read, and clears it.
func (d *decoder) store(c *component, bx, by, last int) {
	at := (by-c.by0)*d.n*c.stride + (bx-c.bx0)*d.n
	transform(c.pix[at:], c.stride, &d.block, d.n, last)
	if last > 0 {
		d.block = [64]int32{}
	}
}

// mostCoef keeps what damaged files multiply within the transform's range.
const mostCoef = 1 << 15

func clampCoef(v int32) int32 { return min(max(v, -mostCoef), mostCoef) }

func (d *decoder) difference(c *component) error {
	n := d.symbol(c.dcTable)
	if n < 0 || n > 15 {
		return errCode
	}
	c.dc = clampCoef(c.dc + d.signed(uint(n)))
	return nil
}

// baseline reads a whole block into d.block, multiplied; last is the place of
// its last coefficient in their order. The bits are kept in variables of its own: code
// by code, by symbol and signed, a photograph takes 1.7 times as long at half its size.
func (d *decoder) baseline(c *component) (last int, err error) {
	if err := d.difference(c); err != nil {
		return 0, err
	}
	d.block[0] = clampCoef(c.dc * c.quant[0])
	table, quant := c.acTable, c.quant
	acc, have := d.acc, d.have
	for k := 1; k < 64; k++ {
		if have < 32 { // enough for a code and its number
			d.acc, d.have = acc, have
			d.fill()
			acc, have = d.acc, d.have
		}
		start := acc >> (64 - lookBits)
		if w := table.whole[start]; w != 0 {
			n := uint(w & 0xff)
			acc <<= n & 63
			have -= int(n)
			if k += int(w >> 8 & 15); k > 63 {
				return last, errCode
			}
			d.block[zigzag[k&63]&63] = clampCoef(w >> 16 * quant[k&63])
			last = k
			continue
		}
		rs := int32(table.fast[start] >> 8)
		if n := uint(table.fast[start] & 0xff); n != 0 {
			acc <<= n & 63
			have -= int(n)
		} else {
			d.acc, d.have = acc, have
			if rs = d.symbol(table); rs < 0 {
				return last, errCode
			}
			acc, have = d.acc, d.have
		}
		run, size := int(rs>>4), uint(rs&15)
		if size == 0 {
			if run != 15 {
				break
			}
			k += 15
			continue
		}
		if k += run; k > 63 {
			return last, errCode
		}
		v := extend(int32(acc>>(64-size)), size)
		acc <<= size
		have -= int(size)
		d.block[zigzag[k&63]&63] = clampCoef(v * min(quant[k&63], mostCoef))
		last = k
	}
	d.acc, d.have = acc, have
	return last, nil
}

func (d *decoder) firstDC(c *component, b []int16) error {
	if err := d.difference(c); err != nil {
		return err
	}
	b[0] = int16(c.dc << d.low)
	return nil
}

func (d *decoder) firstAC(c *component, b []int16) error {
	if d.eobRun > 0 {
		d.eobRun--
		return nil
	}
	for k := d.from; k <= d.to; k++ {
		rs := d.symbol(c.acTable)
		if rs < 0 {
			return errCode
		}
		run, size := int(rs>>4), uint(rs&15)
		if size == 0 {
			if run != 15 {
				d.eobRun = 1<<run - 1 + int(d.bitsOf(uint(run)))
				return nil
			}
			k += 15
			continue
		}
		if k += run; k > 63 {
			return errCode
		}
		b[zigzag[k]] = int16(d.signed(size) << d.low)
	}
	return nil
}

// refineAC adds one bit to the coefficients that are there, and new ones.
func (d *decoder) refineAC(c *component, b []int16) error {
	bit := int16(1) << d.low
	k := d.from
	if d.eobRun == 0 {
		for ; k <= d.to; k++ {
			rs := d.symbol(c.acTable)
			if rs < 0 {
				return errCode
			}
			run, size := int(rs>>4), rs&15
			var add int16
			switch {
			case size == 1:
				if add = -bit; d.bitsOf(1) != 0 {
					add = bit
				}
			case size != 0:
				return errCode
			case run != 15:
				d.eobRun = 1<<run + int(d.bitsOf(uint(run)))
			}
			if d.eobRun > 0 {
				break
			}
			if k = d.refine(b, k, run, bit); k > d.to {
				if add != 0 {
					return errCode
				}
				break
			}
			if add != 0 {
				b[zigzag[k]] = add
			}
		}
	}
	if d.eobRun > 0 {
		d.refine(b, k, 64, bit)
		d.eobRun--
	}
	return nil
}

// refine goes over so many zeros from k on and adds a bit to all between them;
// it returns the place behind.
func (d *decoder) refine(b []int16, k, zeros int, bit int16) int {
	for ; k <= d.to; k++ {
		at := zigzag[k]
		if b[at] == 0 {
			if zeros == 0 {
				break
			}
			zeros--
			continue
		}
		if d.bitsOf(1) != 0 && b[at]&bit == 0 {
			if b[at] > 0 {
				b[at] += bit
			} else {
				b[at] -= bit
			}
		}
	}
	return k
}

// transformAll makes samples of a progressive component.
func (d *decoder) transformAll(c *component) {
	quant := c.quant
	for by := c.by0; by < c.by1; by++ {
		for bx := c.bx0; bx < c.bx1; bx++ {
			b := c.coefs[64*(by*c.padX+bx):][:64]
			last := 0
			for k := range 64 {
				if v := b[zigzag[k]]; v != 0 {
					d.block[zigzag[k]] = clampCoef(int32(v) * min(quant[k], mostCoef))
					last = k
				}
			}
			d.store(c, bx, by, max(last, 1))
		}
	}
	c.coefs = nil
}
