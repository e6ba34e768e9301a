package media

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"
)

// boxOf is a box of that name, holding these parts.
func boxOf(name string, parts ...string) string {
	body := ""
	for _, p := range parts {
		body += p
	}
	return string(binary.BigEndian.AppendUint32(nil, uint32(len(body)+8))) + name + body
}

func fullOf(name string, parts ...string) string {
	return boxOf(name, append([]string{"\x00\x00\x00\x00"}, parts...)...)
}

func words32(v ...uint32) (s string) {
	for _, n := range v {
		s += string(binary.BigEndian.AppendUint32(nil, n))
	}
	return s
}

// heifOf is a HEIC whose item 7 is the primary picture, and has the properties at
// these places of the list. Item 3 is a thumbnail.
func heifOf(places string, properties ...string) []byte {
	associations := words32(2) + "\x00\x03\x01\x01" + "\x00\x07" + string([]byte{byte(len(places))}) + places
	return []byte(boxOf("ftyp", "heic\x00\x00\x00\x00mif1heic") + boxOf("free", "....") + fullOf("meta",
		fullOf("hdlr", "\x00\x00\x00\x00pict"), fullOf("pitm", "\x00\x07"),
		boxOf("iprp", boxOf("ipco", properties...), fullOf("ipma", associations))))
}

func TestSizesOfHEIC(t *testing.T) {
	thumbnail, whole := fullOf("ispe", words32(160, 120)), fullOf("ispe", words32(4032, 3024))
	turned, upside := boxOf("irot", "\x01"), boxOf("irot", "\x02")
	cut := boxOf("clap", words32(4000, 1, 6001, 2, 0, 1, 0, 1))
	for name, c := range map[string]struct {
		file          []byte
		width, height int
	}{
		"plain":              {heifOf("\x02", thumbnail, whole), 4032, 3024},
		"turned":             {heifOf("\x02\x03", thumbnail, whole, turned), 3024, 4032},
		"upside down":        {heifOf("\x02\x03", thumbnail, whole, upside), 4032, 3024},
		"cut, then turned":   {heifOf("\x02\x03\x04", thumbnail, whole, cut, turned), 3001, 4000},
		"of unknown ones":    {heifOf("\x02\x03\x09", thumbnail, whole, boxOf("pixi", "\x00")), 4032, 3024},
		"without properties": {heifOf(""), 0, 0},
		"of no size":         {heifOf("\x02", thumbnail, boxOf("irot", "\x01")), 0, 0},
	} {
		f, err := Inspect(HEIC, bytes.NewReader(c.file), int64(len(c.file)))
		var damage *DamageError
		switch {
		case c.width == 0:
			if !errors.As(err, &damage) || damage.Rare {
				t.Errorf("%s: %+v %v", name, f, err)
			}
		case err != nil || f.Width != c.width || f.Height != c.height || f.Orientation != 1:
			t.Errorf("%s: %+v %v", name, f, err)
		}
		for n := range c.file { // whatever is cut off or changed, there is an answer
			Inspect(HEIC, bytes.NewReader(c.file[:n]), int64(n))
			bad := bytes.Clone(c.file)
			bad[n] ^= 0xff
			Inspect(HEIC, bytes.NewReader(bad), int64(len(bad)))
		}
	}
}
