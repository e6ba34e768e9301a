package scaledjpeg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"

	"github.com/fsmcp/fsmcp/internal/media"
)

// Model says what the planes of a picture mean.
type Model uint8

// The colour models.
const (
	Gray Model = iota
	YCbCr
	RGB
	CMYK // with 255 for no ink
	YCCK // likewise for black; the first three as YCbCr, of ink
)

// Plane is one component, possibly of fewer samples than the picture.
type Plane struct {
	// Pix holds Height rows of Stride samples, from (X, Y) of the component on.
	Pix                   []uint8
	Stride, Width, Height int
	X, Y                  int
	// PerX and PerY are the pixels of the original per sample.
	PerX, PerY float64
}

// Image is a decoded picture, or a part of it.
type Image struct {
	Model  Model
	Planes []Plane
	// Profile is the file's ICC profile, its parts joined in the order of the file.
	Profile []byte
}

// FormatError says why a file cannot be decoded.
type FormatError string

func (e FormatError) Error() string { return string(e) }

const errTruncated = FormatError("its image data ends too soon")

// Decode decodes a part of a JPEG, in pixels of the original, at 1/scale; scale is 1, 2, 4 or
// 8. The planes hold at least that part. The error is a FormatError or a media.RareError.
func Decode(data []byte, scale int, part image.Rectangle) (*Image, error) {
	d := &decoder{reader: reader{data: data}, n: 8 / scale, part: part}
	if err := d.run(); err != nil {
		return nil, err
	}
	return d.image()
}

// Headers looks at all of a JPEG but its image data, and returns its ICC profile. The error
// is that of Decode for a file that lacks a part or has a rare form. libjpeg says nothing of a
// missing scan, which holds one colour or the finer shades.
func Headers(data []byte) (profile []byte, err error) {
	d := &decoder{reader: reader{data: data}, n: 8, headers: true}
	err = d.run()
	return d.profile, err
}

// component is one of the picture's, with all that its blocks need.
type component struct {
	id, h, v, tq     byte
	blocksX, blocksY int // of the component, as scans of its own count them
	padX, padY       int // with those that only fill up MCUs
	bx0, by0         int // first block of the part
	bx1, by1         int // behind the last
	pix              []uint8
	stride           int
	coefs            []int16 // progressive: all of them, blocks in rows of padX
	dc               int32
	known            uint64 // coefficients that are there to their last bit
	dcTable, acTable *huffman
	quant            *[64]int32
}

// decoder is one decoding under way.
type decoder struct {
	n    int // pixels that a block becomes, in each direction
	part image.Rectangle
	// headers: the image data is passed over.
	headers bool

	width, height int
	comps         []component
	hmax, vmax    int
	mcusX, mcusY  int
	progressive   bool
	restart       int
	quant         [4]*[64]int32
	dc, ac        [4]*huffman
	adobe         int // transform, -1: none said
	jfif          bool
	profile       []byte

	reader
	scan
	block [64]int32
}

// run reads marker after marker to the end of the picture.
func (d *decoder) run() error {
	d.adobe = -1
	if len(d.data) < 2 || d.data[0] != 0xff || d.data[1] != 0xd8 {
		return FormatError("it has no JPEG header")
	}
	for d.pos = 2; ; {
		marker, err := d.marker()
		if err != nil {
			return err
		}
		switch {
		case marker == 0xd9:
			return d.ended()
		case marker >= 0xd0 && marker <= 0xd7, marker == 1:
			continue
		}
		seg, err := d.segment()
		if err != nil {
			return err
		}
		if err := d.take(marker, seg); err != nil {
			return err
		}
	}
}

// take reads one segment, and the scan behind it.
func (d *decoder) take(marker byte, seg []byte) error {
	switch marker {
	case 0xc0, 0xc1, 0xc2:
		d.progressive = marker == 0xc2
		return d.frame(seg)
	case 0xc4:
		return d.huffmanTables(seg)
	case 0xdb:
		return d.quantTables(seg)
	case 0xdd:
		if len(seg) < 2 {
			return FormatError("its restart interval has no length")
		}
		d.restart = int(binary.BigEndian.Uint16(seg))
	case 0xda:
		return d.scanned(seg)
	case 0xe0:
		d.jfif = d.jfif || len(seg) >= 5 && string(seg[:5]) == "JFIF\x00"
	case 0xe2:
		if len(seg) > 14 && string(seg[:12]) == "ICC_PROFILE\x00" {
			d.profile = append(d.profile, seg[14:]...)
		}
	case 0xee:
		if len(seg) >= 12 && string(seg[:5]) == "Adobe" {
			d.adobe = int(seg[11])
		}
	case 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf:
		return media.RareError("it uses a way of coding (lossless, hierarchical or arithmetic) that is not decoded")
	}
	return nil
}

// frame reads the picture's size and components, and lays out the planes.
func (d *decoder) frame(seg []byte) error {
	if d.comps != nil {
		return FormatError("it has more than one frame")
	}
	if len(seg) < 6 || len(seg) < 6+3*int(seg[5]) {
		return errTruncated
	}
	if seg[0] != 8 {
		return media.RareError(fmt.Sprintf("it has %d bits a sample, of which only 8 are decoded", seg[0]))
	}
	d.height, d.width = int(binary.BigEndian.Uint16(seg[1:])), int(binary.BigEndian.Uint16(seg[3:]))
	n := int(seg[5])
	if d.width == 0 || d.height == 0 || n != 1 && n != 3 && n != 4 {
		return FormatError(fmt.Sprintf("its header says %d x %d pixels of %d components", d.width, d.height, n))
	}
	comps := make([]component, n)
	for i := range comps {
		s := seg[6+3*i:]
		c := &comps[i]
		c.id, c.h, c.v, c.tq = s[0], s[1]>>4, s[1]&15, s[2]
		if c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4 || c.tq > 3 {
			return FormatError("its header names a sampling that JPEG does not have")
		}
		if n == 1 { // with one component sampling means nothing
			c.h, c.v = 1, 1
		}
		d.hmax, d.vmax = max(d.hmax, int(c.h)), max(d.vmax, int(c.v))
	}
	d.comps = comps
	d.layOut()
	return nil
}

// layOut finds each component's blocks, and those of the part.
func (d *decoder) layOut() {
	d.mcusX, d.mcusY = ceil(d.width, 8*d.hmax), ceil(d.height, 8*d.vmax)
	w := d.part.Intersect(image.Rect(0, 0, d.width, d.height))
	for i := range d.comps {
		c := &d.comps[i]
		h, v := int(c.h), int(c.v)
		c.blocksX, c.blocksY = ceil(d.width*h, 8*d.hmax), ceil(d.height*v, 8*d.vmax)
		c.padX, c.padY = d.mcusX*h, d.mcusY*v
		// One block around, for resizing.
		c.bx0, c.by0 = max(w.Min.X*h/(8*d.hmax)-1, 0), max(w.Min.Y*v/(8*d.vmax)-1, 0)
		c.bx1, c.by1 = min(ceil(w.Max.X*h, 8*d.hmax)+1, c.blocksX), min(ceil(w.Max.Y*v, 8*d.vmax)+1, c.blocksY)
		c.stride = (c.bx1 - c.bx0) * d.n
	}
}

func ceil(a, b int) int { return (a + b - 1) / b }

// quantTables reads quantisation tables, in the order of the coefficients.
func (d *decoder) quantTables(seg []byte) error {
	for len(seg) > 0 {
		wide, at := seg[0]>>4, seg[0]&15
		size := 64 + 64*int(wide)
		if wide > 1 || at > 3 || len(seg) < 1+size {
			return FormatError("a quantisation table is damaged")
		}
		t := new([64]int32)
		for i := range t {
			if wide == 1 {
				t[i] = int32(binary.BigEndian.Uint16(seg[1+2*i:]))
			} else {
				t[i] = int32(seg[1+i])
			}
		}
		d.quant[at] = t
		seg = seg[1+size:]
	}
	return nil
}

// ended returns an error if image data is missing. Of a progressive picture it transforms the
// coefficients that the scans have gathered.
func (d *decoder) ended() error {
	if d.comps == nil {
		return FormatError("it has no image data")
	}
	for i := range d.comps {
		if d.comps[i].known != 1<<64-1 {
			return FormatError("a part of its image data is missing")
		}
	}
	if !d.progressive || d.headers {
		return nil
	}
	for i := range d.comps {
		c := &d.comps[i]
		if c.quant = d.quant[c.tq]; c.quant == nil {
			return FormatError("a quantisation table is missing")
		}
		d.transformAll(c)
	}
	return nil
}

// allocate makes room for a component's samples.
func (d *decoder) allocate(c *component) {
	if c.pix == nil {
		c.pix = make([]uint8, c.stride*(c.by1-c.by0)*d.n)
	}
}

// image hands over the planes.
func (d *decoder) image() (*Image, error) {
	img := &Image{Model: d.model(), Profile: d.profile}
	for i := range d.comps {
		c := &d.comps[i]
		perX, perY := float64(d.hmax)/float64(c.h)*8/float64(d.n), float64(d.vmax)/float64(c.v)*8/float64(d.n)
		p := Plane{Pix: c.pix, Stride: c.stride, X: c.bx0 * d.n, Y: c.by0 * d.n, PerX: perX, PerY: perY}
		// Samples beyond the picture's edge are filling.
		p.Width = min(c.stride, ceil(d.width*int(c.h)*d.n, d.hmax*8)-p.X)
		p.Height = min((c.by1-c.by0)*d.n, ceil(d.height*int(c.v)*d.n, d.vmax*8)-p.Y)
		if p.Pix == nil || p.Width <= 0 || p.Height <= 0 {
			return nil, errors.New("scaledjpeg: a plane is empty")
		}
		img.Planes = append(img.Planes, p)
	}
	return img, nil
}

func (d *decoder) model() Model {
	switch len(d.comps) {
	case 1:
		return Gray
	case 4:
		if d.adobe > 0 {
			return YCCK
		}
		return CMYK
	}
	if d.jfif { // which knows but one, whatever else is said
		return YCbCr
	}
	if d.adobe == 0 || d.adobe < 0 && d.comps[0].id == 'R' && d.comps[1].id == 'G' && d.comps[2].id == 'B' {
		return RGB
	}
	return YCbCr
}
