package media

import "bytes"

// Orientation reads how a picture lies from EXIF data (which starts like a
// TIFF): 1 to 8, 0 where it does not say.
func Orientation(exif []byte) int {
	if len(exif) < 8 || string(exif[:2]) != "II" && string(exif[:2]) != "MM" {
		return 0
	}
	found := 0
	l := look{r: bytes.NewReader(exif), size: int64(len(exif))}
	order := byteOrder(exif)
	l.directory(order, int64(order.Uint32(exif[4:])), func(tag uint16, _, v uint32) {
		if tag == 274 && v >= 1 && v <= 8 {
			found = int(v)
		}
	})
	return found
}
