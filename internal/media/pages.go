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
