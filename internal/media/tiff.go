package media

import (
	"bytes"
	"encoding/binary"
)

// tiffEntry is an entry of a directory: the number of its values, and the first value, or the
// offset of the values if they do not fit in.
type tiffEntry struct{ count, value uint32 }

// tiffDirectory maps tags to entries.
type tiffDirectory map[uint16]tiffEntry

// number returns the value of a tag, and other if the directory has none.
func (d tiffDirectory) number(tag uint16, other int) int {
	if e, ok := d[tag]; ok {
		return int(e.value)
	}
	return other
}

// orientation is EXIF's, 1 to 8; 0: the directory has none.
func (d tiffDirectory) orientation() int {
	if o := d.number(274, 0); o >= 1 && o <= 8 {
		return o
	}
	return 0
}

// directory reads a TIFF directory.
func (l *headerReader) directory(order binary.ByteOrder, off int64) tiffDirectory {
	n := int(order.Uint16(l.at(off, 2)))
	b := l.at(off+2, 12*n+4)
	d := tiffDirectory{}
	for ; len(b) >= 12; b = b[12:] {
		e := tiffEntry{order.Uint32(b[4:]), order.Uint32(b[8:])}
		if order.Uint16(b[2:]) == 3 && e.count <= 2 { // up to two shorts are here, at the front
			e.value = uint32(order.Uint16(b[8:]))
		}
		d[order.Uint16(b)] = e
	}
	return d
}

func byteOrder(b []byte) binary.ByteOrder {
	if b[0] == 'M' {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// tiffPages counts the directories of a TIFF without reading them: they may overlap. A circular
// chain ends at the first directory that comes again.
func tiffPages(b []byte) (n int) {
	if len(b) < 8 {
		return 0
	}
	order := byteOrder(b)
	l := headerReader{r: bytes.NewReader(b), size: int64(len(b))}
	seen := map[int64]bool{}
	for at := int64(order.Uint32(b[4:])); at != 0 && !seen[at]; n++ {
		entries := int64(order.Uint16(l.at(at, 2)))
		next := l.at(at+2+12*entries, 4)
		if l.fault != nil {
			break
		}
		seen[at] = true
		at = int64(order.Uint32(next))
	}
	return n
}

// firstPage returns the first directory of a TIFF; nil: there is none.
func firstPage(b []byte) tiffDirectory {
	if len(b) < 8 || byteOrder(b).Uint32(b[4:]) == 0 {
		return nil
	}
	order := byteOrder(b)
	l := headerReader{r: bytes.NewReader(b), size: int64(len(b))}
	return l.directory(order, int64(order.Uint32(b[4:])))
}

// Orientation reads the orientation from EXIF data, which starts like a TIFF: 1 to 8, and 0 if it
// has none.
func Orientation(exif []byte) int {
	if len(exif) < 8 || string(exif[:2]) != "II" && string(exif[:2]) != "MM" {
		return 0
	}
	return firstPage(exif).orientation()
}

// TIFFLayout describes the samples of a TIFF's first page, in the numbers of the format.
type TIFFLayout struct {
	Compression, Photometric, BitOrder, Planes, Samples, FaxOptions int
	Profile                                                         []byte // ICC's; nil: it has none
}

// LayoutOf reads the layout of a TIFF's first page.
func LayoutOf(b []byte) TIFFLayout {
	d := firstPage(b)
	l := TIFFLayout{
		Compression: d.number(259, 1), Photometric: d.number(262, 0), BitOrder: d.number(266, 1),
		Planes: d.number(284, 1), Samples: d.number(277, 1), FaxOptions: d.number(292, 0),
	}
	if e := d[34675]; uint64(e.value)+uint64(e.count) <= uint64(len(b)) {
		l.Profile = b[e.value : e.value+e.count]
	}
	return l
}
