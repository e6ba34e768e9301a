// Package pngwriter writes PNGs. It promises the pixels that it was given, and to
// stop as soon as a picture becomes longer than whoever asks can use: for a
// picture that has to be brought within limits, most attempts end that way.
package pngwriter

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"runtime"

	"github.com/klauspost/compress/zlib"
)

// ErrLonger is the fact that a picture takes more bytes than were allowed.
var ErrLonger = errors.New("pngwriter: the picture takes more bytes than were allowed")

// Options say how to write.
type Options struct {
	Best bool // packed small, in twice the time
	Most int  // bytes that are of use; 0: any
}

// Levels of packing: the first makes files about 3 % larger than the second, in
// half the time; levels beyond save nothing more.
const (
	usual = 5
	best  = 8
)

// shape is how a PNG holds pixels.
type shape struct {
	w, h    int
	colour  byte // PNG's number for it
	samples int  // bytes a pixel
	row     func(to []byte, y int)
	palette color.Palette
}

// Encode writes a *image.Gray, *image.NRGBA or *image.Paletted with its alpha, or
// the colours of a *image.RGBA, nothing of which may shine through.
func Encode(img image.Image, o Options) ([]byte, error) {
	s, err := shapeOf(img)
	if err != nil {
		return nil, err
	}
	out := &chunks{most: o.Most}
	out.b = append(out.b, "\x89PNG\r\n\x1a\n"...)
	head := binary.BigEndian.AppendUint32(nil, uint32(s.w))
	head = binary.BigEndian.AppendUint32(head, uint32(s.h))
	out.chunk("IHDR", append(head, 8, s.colour, 0, 0, 0))
	if s.palette != nil {
		out.colours(s.palette)
	}
	if err := out.pixels(s, o.Best); err != nil {
		return nil, err
	}
	out.chunk("IEND", nil)
	if o.Most > 0 && len(out.b) > o.Most {
		return nil, ErrLonger
	}
	return out.b, nil
}

func shapeOf(img image.Image) (shape, error) {
	s := shape{w: img.Bounds().Dx(), h: img.Bounds().Dy(), samples: 1}
	switch m := img.(type) {
	case *image.Gray:
		s.row = func(to []byte, y int) { copy(to, m.Pix[y*m.Stride:]) }
	case *image.Paletted:
		s.colour, s.palette = 3, m.Palette
		s.row = func(to []byte, y int) { copy(to, m.Pix[y*m.Stride:]) }
	case *image.NRGBA:
		s.colour, s.samples = 6, 4
		s.row = func(to []byte, y int) { copy(to, m.Pix[y*m.Stride:]) }
	case *image.RGBA:
		s.colour, s.samples = 2, 3
		s.row = func(to []byte, y int) {
			from := m.Pix[y*m.Stride:][:4*s.w]
			for len(to) >= 3 && len(from) >= 4 {
				to[0], to[1], to[2] = from[0], from[1], from[2]
				to, from = to[3:], from[4:]
			}
		}
	default:
		return s, errors.New("pngwriter: this form of picture is not written")
	}
	if s.w <= 0 || s.h <= 0 {
		return s, errors.New("pngwriter: the picture is empty")
	}
	return s, nil
}

// chunks is a file being written.
type chunks struct {
	b    []byte
	most int
}

// begin starts a chunk; end, given what it returned, ends it.
func (c *chunks) begin(name string) (at int) {
	at = len(c.b)
	c.b = append(append(c.b, 0, 0, 0, 0), name...)
	return at
}

func (c *chunks) end(at int) {
	binary.BigEndian.PutUint32(c.b[at:], uint32(len(c.b)-at-8))
	c.b = binary.BigEndian.AppendUint32(c.b, crc32.ChecksumIEEE(c.b[at+4:]))
}

func (c *chunks) chunk(name string, data []byte) {
	at := c.begin(name)
	c.b = append(c.b, data...)
	c.end(at)
}

// Write appends to the chunk that was begun last.
func (c *chunks) Write(p []byte) (int, error) {
	if c.most > 0 && len(c.b)+len(p) > c.most {
		return 0, ErrLonger
	}
	c.b = append(c.b, p...)
	return len(p), nil
}

func (c *chunks) colours(p color.Palette) {
	var rgb, alpha []byte
	opaque := true
	for _, q := range p {
		v := color.NRGBAModel.Convert(q).(color.NRGBA)
		rgb, alpha = append(rgb, v.R, v.G, v.B), append(alpha, v.A)
		opaque = opaque && v.A == 255
	}
	c.chunk("PLTE", rgb)
	if !opaque {
		c.chunk("tRNS", alpha)
	}
}

// rowsAtOnce is how many bytes of rows one hands to the other at once.
const rowsAtOnce = 128 << 10

// pixels writes the image data: some prepare rows while one packs those before.
func (c *chunks) pixels(s shape, small bool) error {
	level := usual
	if small {
		level = best
	}
	at := c.begin("IDAT")
	z, err := zlib.NewWriterLevel(c, level)
	if err != nil {
		return err
	}
	stop := make(chan struct{})
	defer close(stop)
	for block := range prepared(s, stop) {
		if _, err := z.Write(<-block); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	c.end(at)
	return nil
}

// prepared sends blocks of rows with their filters, in order, until stop is
// closed; each is on its way as soon as it is announced.
func prepared(s shape, stop <-chan struct{}) <-chan chan []byte {
	ready := make(chan chan []byte, runtime.GOMAXPROCS(0))
	go func() {
		defer close(ready)
		each := max(rowsAtOnce/(s.w*s.samples+1), 1)
		for y := 0; y < s.h; y += each {
			block := make(chan []byte, 1)
			select {
			case ready <- block:
			case <-stop:
				return
			}
			go func() { block <- filtered(s, y, min(y+each, s.h)) }()
		}
	}()
	return ready
}

// filtered are rows with their filters.
func filtered(s shape, from, to int) []byte {
	f := newFilters(s)
	if from > 0 {
		s.row(f.this[s.samples:], from-1)
	}
	b := make([]byte, 0, (to-from)*(f.length+1))
	for y := from; y < to; y++ {
		b = f.append(b, y)
	}
	return b
}
