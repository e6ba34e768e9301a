package media

import (
	"encoding/binary"
	"errors"
	"math"
)

// maxHEIFMeta bounds what is read of the box that describes a HEIC or AVIF.
const maxHEIFMeta = 1 << 20

// maxHEIFBoxes bounds how many boxes of a file are passed over.
const maxHEIFBoxes = 100

// box is one of ISO/IEC 14496-12, section 4.2: its type and what it holds.
type box struct {
	name string
	body []byte
}

// boxes splits the content of a box. A damaged box ends the list.
func boxes(b []byte) (all []box) {
	for len(b) >= 8 {
		n := int(binary.BigEndian.Uint32(b))
		if n < 8 || n > len(b) {
			break
		}
		all = append(all, box{string(b[4:8]), b[8:n]})
		b = b[n:]
	}
	return all
}

// child returns what the first box of a name holds; nil: there is none.
func child(all []box, name string) []byte {
	for _, b := range all {
		if b.name == name {
			return b.body
		}
	}
	return nil
}

// full returns what a box holds behind its version and flags.
func full(b []byte) (version byte, body []byte) {
	if len(b) < 4 {
		return 0, nil
	}
	return b[0], b[4:]
}

// heif reads the size of a HEIC's or AVIF's primary picture, as it is shown: the
// properties that cut and turn it are applied (ISO/IEC 23008-12, section 6.5).
func (l *headerReader) heif(f *PictureFacts) error {
	meta, err := l.heifMeta()
	if err != nil {
		return err
	}
	_, body := full(meta)
	all := boxes(body)
	version, primary := full(child(all, "pitm"))
	item, ok := number(&primary, 2+2*int(min(version, 1)))
	properties := boxes(child(all, "iprp"))
	if !ok || properties == nil {
		return errors.New("its header names no picture")
	}
	list := boxes(child(properties, "ipco"))
	for _, n := range propertiesOf(child(properties, "ipma"), item) {
		if n >= 1 && n <= len(list) {
			f.apply(list[n-1])
		}
	}
	f.Bytes = 4
	return nil
}

// heifMeta finds the box that describes the pictures.
func (l *headerReader) heifMeta() ([]byte, error) {
	for off, i := int64(0), 0; i < maxHEIFBoxes; i++ {
		h := l.at(off, 16)
		header, n := int64(8), int64(binary.BigEndian.Uint32(h))
		switch {
		case n == 1:
			header, n = 16, int64(binary.BigEndian.Uint64(h[8:]))
		case n == 0:
			n = l.size - off
		}
		if n < header || n > l.size-off {
			return nil, errShort
		}
		if string(h[4:8]) == "meta" {
			if n > maxHEIFMeta {
				return nil, errors.New("its header is too long")
			}
			return l.at(off+header, int(n-header)), nil
		}
		off += n
	}
	return nil, errors.New("its header is in too many pieces")
}

// number takes a number of so many bytes.
func number(b *[]byte, size int) (n int, ok bool) {
	if len(*b) < size {
		return 0, false
	}
	for _, v := range (*b)[:size] {
		n = n<<8 | int(v)
	}
	*b = (*b)[size:]
	return n, true
}

// propertiesOf returns the places of an item's properties in their list, from 1, in
// the order in which they are applied.
func propertiesOf(ipma []byte, item int) (places []int) {
	if len(ipma) < 4 {
		return nil
	}
	idSize, placeSize := 2, 1
	if ipma[0] >= 1 {
		idSize = 4
	}
	if ipma[3]&1 != 0 {
		placeSize = 2
	}
	b := ipma[4:]
	entries, _ := number(&b, 4)
	for range min(entries, len(b)) {
		id, _ := number(&b, idSize)
		n, ok := number(&b, 1)
		for range n {
			var place int
			if place, ok = number(&b, placeSize); !ok {
				return nil
			}
			if id == item { // the highest bit says that a reader has to know the property
				places = append(places, place&(1<<(8*placeSize-1)-1))
			}
		}
		if !ok {
			break
		}
	}
	return places
}

// apply applies a property to the size.
func (f *PictureFacts) apply(p box) {
	be := binary.BigEndian
	switch {
	case p.name == "ispe" && len(p.body) >= 12:
		f.Width, f.Height = int(be.Uint32(p.body[4:])), int(be.Uint32(p.body[8:]))
	case p.name == "clap" && len(p.body) >= 16:
		f.Width, f.Height = rounded(be.Uint32(p.body), be.Uint32(p.body[4:])), rounded(be.Uint32(p.body[8:]), be.Uint32(p.body[12:]))
	case p.name == "irot" && len(p.body) >= 1 && p.body[0]&1 != 0:
		f.Width, f.Height = f.Height, f.Width
	}
}

// rounded returns a fraction, rounded; 0: it has no value.
func rounded(n, d uint32) int {
	if d == 0 {
		return 0
	}
	return int(math.Round(float64(n) / float64(d)))
}
