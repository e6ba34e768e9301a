package media

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"testing"
)

func TestJSONLen(t *testing.T) {
	for _, s := range []string{"", "plain", "two\nlines\r\n", `"quoted" \ back`, "tab\tand \x01 and \x1f", "ü世"} {
		b, err := json.Marshal(s)
		if err != nil || JSONLen(s) != len(b)-2 {
			t.Errorf("%q: %d, %s", s, JSONLen(s), b)
		}
	}
}

// The depth of a TIFF with several samples stands in a list elsewhere. (It was
// taken for 16 bits, so that half of what may be decoded was refused.)
func TestDepthOfATIFF(t *testing.T) {
	for _, c := range []struct {
		depths []uint16
		want   int64
	}{
		{[]uint16{8}, 1}, {[]uint16{8, 8, 8}, 3}, {[]uint16{8, 8, 8, 8}, 4}, {[]uint16{16, 16, 16}, 6}, {[]uint16{1, 8, 16}, 6}, {[]uint16{1, 1, 1}, 3},
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			b := []byte("II*\x00\x08\x00\x00\x00")
			if order == binary.BigEndian {
				b = []byte("MM\x00*\x00\x00\x00\x08")
			}
			entry := func(tag, kind uint16, count, v uint32) {
				b = order.AppendUint32(order.AppendUint16(order.AppendUint16(b, tag), kind), count)
				if kind == 3 && count == 1 {
					b = order.AppendUint16(order.AppendUint16(b, uint16(v)), 0)
				} else {
					b = order.AppendUint32(b, v)
				}
			}
			n := uint32(len(c.depths))
			b = order.AppendUint16(b, 4)
			entry(256, 4, 1, 10)
			entry(257, 4, 1, 20)
			if n == 1 {
				entry(258, 3, 1, uint32(c.depths[0]))
			} else {
				entry(258, 3, n, 8+2+4*12+4)
			}
			entry(277, 3, 1, n)
			b = order.AppendUint32(b, 0)
			for _, d := range c.depths {
				b = order.AppendUint16(b, d)
			}
			f, err := Inspect(TIFF, bytes.NewReader(b), int64(len(b)))
			if err != nil || f.Width != 10 || f.Height != 20 || f.Bytes != 200*c.want {
				t.Errorf("%v %v: %+v %v", c.depths, order, f, err)
			}
		}
	}
}
