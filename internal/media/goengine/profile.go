package goengine

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"io"
	"math"

	"github.com/fsmcp/fsmcp/internal/media"
)

// mostProfile bounds an ICC profile; those of matrices have a few KB.
const mostProfile = 4 << 20

// profile converts colours to sRGB: three curves and a matrix, or a table.
type profile struct {
	table  *table
	linear [3][256]float32
	matrix [3][3]float32
	encode [4096]uint8
}

// profileOf reads the profile that a file carries. nil: none, one for colours of
// another kind, one that changes nothing, or one that cannot be read. lost: the
// colours would need one that there is not, as those of ink always do.
func profileOf(kind media.Kind, data []byte, m model) (p *profile, lost bool) {
	icc := iccOf(kind, data)
	ink := m == cmyk || m == ycck
	switch {
	case len(icc) == 0:
		return nil, ink
	case len(icc) < 132 || len(icc) > mostProfile:
		return nil, true
	case ink != (string(icc[16:20]) == "CMYK"):
		return nil, ink // of what was converted before, the profile is of no use any more
	}
	if p := parseProfile(icc); p != nil {
		if p.changesNothing() {
			return nil, false
		}
		return p, false
	}
	if t := parseTable(icc); t != nil {
		return &profile{table: t}, false
	}
	return nil, true
}

// iccOf finds the profile's bytes.
func iccOf(kind media.Kind, data []byte) []byte {
	switch kind {
	case media.JPEG:
		return iccOfJPEG(data)
	case media.PNG:
		return iccOfPNG(data)
	case media.WebP:
		for rest := data[min(12, len(data)):]; len(rest) >= 8; {
			n := int(binary.LittleEndian.Uint32(rest[4:]))
			if n < 0 || n+8 > len(rest) {
				break
			}
			if string(rest[:4]) == "ICCP" {
				return rest[8 : 8+n]
			}
			rest = rest[min(8+n+n&1, len(rest)):]
		}
	case media.TIFF:
		return media.TIFFProfile(data)
	}
	return nil
}

// iccOfJPEG joins the parts of a profile, which come in order.
func iccOfJPEG(b []byte) (icc []byte) {
	for i := 2; i+4 <= len(b) && b[i] == 0xff && b[i+1] != 0xda; {
		n := int(binary.BigEndian.Uint16(b[i+2:]))
		if n < 2 || i+2+n > len(b) {
			break
		}
		if seg := b[i+4 : i+2+n]; b[i+1] == 0xe2 && len(seg) > 14 && string(seg[:12]) == "ICC_PROFILE\x00" {
			icc = append(icc, seg[14:]...)
		}
		i += 2 + n
	}
	return icc
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
			icc, err := io.ReadAll(io.LimitReader(z, mostProfile))
			if err != nil {
				return nil
			}
			return icc
		}
		b = b[n+12:]
	}
	return nil
}

// fromD50 turns XYZ of the profile connection space into linear sRGB.
var fromD50 = [3][3]float64{
	{3.1338561, -1.6168667, -0.4906146},
	{-0.9787684, 1.9161415, 0.0334540},
	{0.0719453, -0.2289914, 1.4052427},
}

// parseProfile reads a profile for RGB or gray over XYZ.
func parseProfile(icc []byte) *profile {
	space := string(icc[16:20])
	if string(icc[20:24]) != "XYZ " || space != "RGB " && space != "GRAY" {
		return nil
	}
	tags := tagsOf(icc)
	p := new(profile)
	names := [3][2]string{{"rTRC", "rXYZ"}, {"gTRC", "gXYZ"}, {"bTRC", "bXYZ"}}
	var m [3][3]float64
	for c, name := range names {
		if space == "GRAY" {
			name[0] = "kTRC"
			m[c][c] = 1
		} else if xyz := tags[name[1]]; len(xyz) >= 20 && string(xyz[:4]) == "XYZ " {
			for row := range 3 {
				column := fixed(xyz[8+4*row:])
				for k := range 3 {
					m[k][c] += fromD50[k][row] * column
				}
			}
		} else {
			return nil
		}
		if !curve(tags[name[0]], &p.linear[c]) {
			return nil
		}
	}
	for k := range 3 {
		for c := range 3 {
			p.matrix[k][c] = float32(m[k][c])
		}
	}
	for i := range p.encode {
		v := float64(i) / float64(len(p.encode)-1)
		if v <= 0.0031308 {
			v *= 12.92
		} else {
			v = 1.055*math.Pow(v, 1/2.4) - 0.055
		}
		p.encode[i] = uint8(math.Round(v * 255))
	}
	return p
}

// tagsOf reads a profile's table of contents.
func tagsOf(icc []byte) map[string][]byte {
	tags := map[string][]byte{}
	n := int(binary.BigEndian.Uint32(icc[128:]))
	for i := 0; i < n && i < 100 && 132+12*i+12 <= len(icc); i++ {
		e := icc[132+12*i:]
		off, size := uint64(binary.BigEndian.Uint32(e[4:])), uint64(binary.BigEndian.Uint32(e[8:]))
		if off+size <= uint64(len(icc)) {
			tags[string(e[:4])] = icc[off : off+size]
		}
	}
	return tags
}

func fixed(b []byte) float64 { return float64(int32(binary.BigEndian.Uint32(b))) / 65536 }

// curve fills the table from samples to light.
func curve(tag []byte, out *[256]float32) bool {
	if len(tag) < 12 {
		return false
	}
	var f func(x float64) float64
	switch string(tag[:4]) {
	case "curv":
		f = sampled(tag[8:])
	case "para":
		f = parametric(tag[8:])
	}
	if f == nil {
		return false
	}
	for i := range out {
		out[i] = float32(min(max(f(float64(i)/255), 0), 1))
	}
	return true
}

func sampled(b []byte) func(float64) float64 {
	n := int(binary.BigEndian.Uint32(b))
	switch b = b[4:]; {
	case n == 0:
		return func(x float64) float64 { return x }
	case n < 0 || len(b)/2 < n:
		return nil
	case n == 1:
		gamma := float64(binary.BigEndian.Uint16(b)) / 256
		return func(x float64) float64 { return math.Pow(x, gamma) }
	}
	at := func(i int) float64 { return float64(binary.BigEndian.Uint16(b[2*min(i, n-1):])) / 65535 }
	return func(x float64) float64 {
		i := int(x * float64(n-1))
		part := x*float64(n-1) - float64(i)
		return at(i)*(1-part) + at(i+1)*part
	}
}

// parametric are the curves of type 0 to 4.
func parametric(b []byte) func(float64) float64 {
	kind := int(binary.BigEndian.Uint16(b))
	count := []int{1, 3, 4, 5, 7}
	if kind >= len(count) || len(b) < 4+4*count[kind] {
		return nil
	}
	var v [7]float64
	for i := range count[kind] {
		v[i] = fixed(b[4+4*i:])
	}
	g, a, bb, c, d, e, f := v[0], v[1], v[2], v[3], v[4], v[5], v[6]
	switch kind {
	case 0:
		return func(x float64) float64 { return math.Pow(x, g) }
	case 1, 2:
		return func(x float64) float64 {
			if a*x+bb >= 0 {
				return math.Pow(a*x+bb, g) + c
			}
			return c
		}
	}
	return func(x float64) float64 {
		if x >= d {
			return math.Pow(a*x+bb, g) + e
		}
		return c*x + f
	}
}

// changesNothing tells whether no colour moves by more than two steps.
func (p *profile) changesNothing() bool {
	for i := range 512 {
		r, g, b := uint8(i>>6*36), uint8(i>>3&7*36), uint8(i&7*36)
		x, y, z := p.colour(r, g, b)
		for _, d := range []int{int(r) - int(x), int(g) - int(y), int(b) - int(z)} {
			if d > 2 || d < -2 {
				return false
			}
		}
	}
	return true
}

func (p *profile) colour(r, g, b uint8) (uint8, uint8, uint8) {
	if p.table != nil {
		c := p.table.at(r, g, b)
		return c[0], c[1], c[2]
	}
	x, y, z := p.linear[0][r], p.linear[1][g], p.linear[2][b]
	light := func(m *[3]float32) uint8 {
		v := m[0]*x + m[1]*y + m[2]*z
		return p.encode[int(min(max(v, 0), 1)*float32(len(p.encode)-1)+0.5)]
	}
	return light(&p.matrix[0]), light(&p.matrix[1]), light(&p.matrix[2])
}

// convert converts a picture in place.
func (p *profile) convert(m *image.RGBA) {
	sideBySide(m.Rect.Dy(), func(from, to int) {
		for y := from; y < to; y++ {
			row := m.Pix[y*m.Stride:][:4*m.Rect.Dx()]
			for i := 0; i < len(row); i += 4 {
				px := row[i : i+4 : i+4]
				switch a := uint32(px[3]); a {
				case 255:
					px[0], px[1], px[2] = p.colour(px[0], px[1], px[2])
				case 0:
				default: // the colours were multiplied by alpha
					over := func(v uint8) uint8 { return uint8(min(uint32(v)*255/a, 255)) }
					under := func(v uint8) uint8 { return uint8(uint32(v) * a / 255) }
					r, g, b := p.colour(over(px[0]), over(px[1]), over(px[2]))
					px[0], px[1], px[2] = under(r), under(g), under(b)
				}
			}
		}
	})
}
