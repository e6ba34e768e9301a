package media

import "bytes"

// countPages counts the directories of a TIFF. A chain that bites its own tail
// ends there.
func countPages(b []byte) int {
	if len(b) < 8 {
		return 1
	}
	order := byteOrder(b)
	l := look{r: bytes.NewReader(b), size: int64(len(b))}
	seen := map[int64]bool{}
	for at := int64(order.Uint32(b[4:])); at != 0 && !seen[at]; {
		next, err := l.directory(order, at, func(uint16, uint32, uint32) {})
		if err != nil {
			break
		}
		seen[at] = true
		at = next
	}
	return len(seen)
}

// TIFFLayout describes the samples of a TIFF's first page, in the numbers of the format.
type TIFFLayout struct{ Compression, Photometric, BitOrder, Planes, Samples, FaxOptions int }

// LayoutOf reads the layout of a TIFF's first page.
func LayoutOf(b []byte) TIFFLayout {
	l := TIFFLayout{Compression: 1, BitOrder: 1, Planes: 1, Samples: 1}
	if len(b) < 8 {
		return l
	}
	order := byteOrder(b)
	at := look{r: bytes.NewReader(b), size: int64(len(b))}
	at.directory(order, int64(order.Uint32(b[4:])), func(tag uint16, _, v uint32) {
		switch tag {
		case 259:
			l.Compression = int(v)
		case 262:
			l.Photometric = int(v)
		case 266:
			l.BitOrder = int(v)
		case 277:
			l.Samples = int(v)
		case 284:
			l.Planes = int(v)
		case 292:
			l.FaxOptions = int(v)
		}
	})
	return l
}

// TIFFProfile is the ICC profile of a TIFF's first page; nil where it has none.
func TIFFProfile(b []byte) []byte {
	if len(b) < 8 {
		return nil
	}
	order := byteOrder(b)
	l := look{r: bytes.NewReader(b), size: int64(len(b))}
	var profile []byte
	l.directory(order, int64(order.Uint32(b[4:])), func(tag uint16, count, v uint32) {
		if tag == 34675 && uint64(v)+uint64(count) <= uint64(len(b)) {
			profile = b[v : v+count]
		}
	})
	return profile
}
