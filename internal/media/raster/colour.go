package raster

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image"
	"io"

	"github.com/kovidgoyal/go-parallel"
	"github.com/kovidgoyal/imaging"
	"github.com/kovidgoyal/imaging/prism/meta/icc"

	"github.com/fsmcp/fsmcp/internal/media"
)

// Bounds of what is read of an ICC profile.
const (
	maxProfile = 4 << 20 // bytes; those of matrices have a few KB
	maxTags    = 100
	iccHeader  = 128
	iccTable   = iccHeader + 4 // behind the number of tags
	iccEntry   = 12
)

// profileOf makes a converter from a file's profile. nil: there is no profile, or it is of another
// kind of colours, of sRGB, or unreadable. approximate: the colours need a profile that is
// missing, as colours of ink always do.
func profileOf(raw []byte, ink bool) (c *converter, approximate bool) {
	switch {
	case len(raw) == 0:
		return nil, ink
	case len(raw) < iccTable || len(raw) > maxProfile:
		return nil, true
	case ink != (string(raw[16:20]) == "CMYK"):
		return nil, ink // for other colours than those it was decoded to
	}
	c, err := readProfile(raw)
	return c, err != nil
}

// readProfile has the library read a profile. It returns nil without an error for
// that of sRGB.
func readProfile(raw []byte) (c *converter, err error) {
	defer func() {
		if r := recover(); r != nil {
			c, err = nil, fmt.Errorf("the profile cannot be read: %v", r)
		}
	}()
	if raw, err = checked(raw); err != nil {
		return nil, err
	}
	p, err := icc.DecodeProfile(bytes.NewReader(raw))
	if err != nil || p.IsSRGB() {
		return nil, err
	}
	if c, err = newConverter(p); err != nil {
		return nil, err
	}
	c.probe()
	return c, nil
}

// probe converts 256 colours. The library panics on some damaged profiles, and on profiles whose
// curves are all straight.
func (c *converter) probe() {
	var from [4]uint8
	for n := range 4 * 4 * 4 * 4 {
		for i := range from {
			from[i] = uint8(n >> (2 * i) & 3 * 85)
		}
		c.row(make([]uint8, 4), from[:])
	}
}

// checked returns a profile that the library can read in bounded memory, or an error:
// the library allocates as much as counts in the profile say. The header gets the
// illuminant of ICC.1:2022, section 7.2.16, as some profiles leave it out. A profile
// for gray becomes one for RGB.
func checked(raw []byte) ([]byte, error) {
	damaged := fmt.Errorf("the profile is damaged")
	be := binary.BigEndian
	n := int(be.Uint32(raw[iccHeader:]))
	if n > maxTags || iccTable+iccEntry*n > len(raw) {
		return nil, damaged
	}
	tags := map[string][]byte{}
	for i := range n {
		e := raw[iccTable+iccEntry*i:]
		at, size := uint64(be.Uint32(e[4:])), uint64(be.Uint32(e[8:]))
		if at < uint64(iccTable+iccEntry*n) || at+size > uint64(len(raw)) {
			return nil, damaged
		}
		tags[string(e[:4])] = raw[at : at+size]
	}
	for rest := raw[iccTable+iccEntry*n:]; ; {
		_, behind, found := bytes.Cut(rest, []byte("curv"))
		if !found {
			break
		}
		if rest = behind; len(rest) >= 8 && uint64(be.Uint32(rest[4:]))*2 > uint64(len(rest)-8) {
			return nil, damaged
		}
	}
	if string(raw[16:20]) == "GRAY" {
		return colouredProfile(raw, tags["kTRC"]), nil
	}
	raw = bytes.Clone(raw)
	copy(raw[68:], "\x00\x00\xf6\xd6\x00\x01\x00\x00\x00\x00\xd3\x2d")
	return raw, nil
}

// colouredProfile makes a profile for RGB of one for gray: each colour has its
// curve, and the primaries are those of sRGB.
func colouredProfile(raw, curve []byte) []byte {
	be := binary.BigEndian
	out := bytes.Clone(raw[:iccHeader])
	copy(out[16:], "RGB XYZ ")
	copy(out[68:], "\x00\x00\xf6\xd6\x00\x01\x00\x00\x00\x00\xd3\x2d")
	body := []byte{}
	out = be.AppendUint32(out, 6)
	const table = iccTable + 6*iccEntry
	entry := func(name string, at, size int) {
		out = be.AppendUint32(be.AppendUint32(append(out, name...), uint32(at)), uint32(size))
	}
	for name, xyz := range map[string][3]uint32{
		"rXYZ": {0x6fa2, 0x38f5, 0x0390}, "gXYZ": {0x6299, 0xb785, 0x18da}, "bXYZ": {0x24a0, 0x0f84, 0xb6cf},
	} {
		entry(name, table+len(body), 20)
		body = append(body, "XYZ \x00\x00\x00\x00"...)
		for _, v := range xyz {
			body = be.AppendUint32(body, v)
		}
	}
	for _, name := range []string{"rTRC", "gTRC", "bTRC"} {
		entry(name, table+len(body), len(curve))
	}
	return append(append(out, body...), curve...)
}

// converter turns the samples of a pixel, 0 to 1, into those of sRGB.
type converter struct {
	pipeline *icc.Pipeline
	ink      bool
}

// newConverter makes a converter. Without black point compensation, and with
// colours outside of sRGB cut off rather than mapped, the result is nearest to that
// of libvips.
func newConverter(p *icc.Profile) (*converter, error) {
	c := &converter{ink: p.Header.DataColorSpace == icc.ColorSpaceCMYK}
	channels := 3
	if c.ink {
		channels = 4
	}
	var err error
	c.pipeline, err = p.CreateTransformerToSRGB(icc.RelativeColorimetricRenderingIntent, false, channels, true, false, true)
	return c, err
}

// apply converts a picture: of inks if the profile is for ink, else of any other form.
func (c *converter) apply(img image.Image) (out image.Image, err error) {
	inks, ink := img.(*image.CMYK)
	if ink != c.ink {
		return nil, fmt.Errorf("the profile is for another model of colours than %T", img)
	}
	from := &image.NRGBA{}
	if ink {
		from.Pix, from.Stride, from.Rect = inks.Pix, inks.Stride, inks.Rect
	} else {
		from = imaging.AsNRGBA(img)
	}
	to := image.NewNRGBA(image.Rect(0, 0, from.Rect.Dx(), from.Rect.Dy()))
	err = parallel.Run_in_parallel_over_range(0, func(first, end int) {
		for y := first; y < end; y++ {
			c.row(to.Pix[y*to.Stride:][:4*to.Rect.Dx()], from.Pix[y*from.Stride:])
		}
	}, 0, to.Rect.Dy())
	return to, err
}

// row converts a row of pixels of four samples. The last sample is alpha, or black.
func (c *converter) row(to, from []uint8) {
	var in, out [4]float64
	var last, rgb [4]uint8
	known := false
	for ; len(to) >= 4; to, from = to[4:], from[4:] {
		now := [4]uint8(from)
		alpha := uint8(255)
		if !c.ink {
			alpha, now[3] = now[3], 0
		}
		if !known || now != last {
			for i, v := range now {
				in[i] = float64(v) / 255
			}
			if c.ink {
				c.pipeline.TransformGeneral(out[:], in[:])
			} else {
				out[0], out[1], out[2] = c.pipeline.Transform(in[0], in[1], in[2])
			}
			for i, v := range out[:3] {
				rgb[i] = uint8(min(max(v, 0), 1)*255 + 0.5)
			}
			last, known = now, true
		}
		to[0], to[1], to[2], to[3] = rgb[0], rgb[1], rgb[2], alpha
	}
}

// iccOf finds the profile of every kind but JPEG.
func iccOf(kind media.Kind, data []byte) []byte {
	switch kind {
	case media.PNG:
		return iccOfPNG(data)
	case media.WebP:
		for name, body := range media.RIFFChunks(data) {
			if name == "ICCP" {
				return body
			}
		}
	case media.TIFF:
		return media.LayoutOf(data).Profile
	}
	return nil
}

func iccOfPNG(b []byte) []byte {
	for b = b[min(8, len(b)):]; len(b) >= 12; {
		n := int(binary.BigEndian.Uint32(b))
		if n < 0 || n+12 > len(b) || string(b[4:8]) == "IDAT" {
			break
		}
		if string(b[4:8]) == "iCCP" {
			_, packed, ok := bytes.Cut(b[8:8+n], []byte{0})
			if !ok || len(packed) < 1 {
				return nil
			}
			z, err := zlib.NewReader(bytes.NewReader(packed[1:]))
			if err != nil {
				return nil
			}
			icc, err := io.ReadAll(io.LimitReader(z, maxProfile))
			if err != nil {
				return nil
			}
			return icc
		}
		b = b[n+12:]
	}
	return nil
}
