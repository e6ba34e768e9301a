package media

import (
	"fmt"
	"strconv"
	"strings"
)

// Rect is a part of the upright picture, in its pixels.
type Rect struct{ X, Y, Width, Height int }

// RegionError says why a text names no part of a picture.
type RegionError struct{ Reason string }

func (e *RegionError) Error() string { return e.Reason }

// ParseRegion reads "x,y,width,height". The error is a *RegionError.
func ParseRegion(s string) (Rect, error) {
	var n [4]int
	words := strings.Split(s, ",")
	if len(words) != 4 {
		return Rect{}, &RegionError{`it must be four whole numbers, "x,y,width,height"`}
	}
	for i, w := range words {
		v, err := strconv.Atoi(strings.TrimSpace(w))
		if err != nil || v > 1<<30 || v < -1<<30 {
			return Rect{}, &RegionError{`it must be four whole numbers, "x,y,width,height"`}
		}
		n[i] = v
	}
	if n[2] <= 0 || n[3] <= 0 {
		return Rect{}, &RegionError{"it is empty: width and height must be at least 1"}
	}
	return Rect{n[0], n[1], n[2], n[3]}, nil
}

// Clamp returns the part of a region within a picture of that size. The error is a
// *RegionError if there is none.
func (r Rect) Clamp(width, height int) (Rect, error) {
	x0, y0 := max(r.X, 0), max(r.Y, 0)
	x1, y1 := min(r.X+r.Width, width), min(r.Y+r.Height, height)
	if x0 >= x1 || y0 >= y1 {
		return Rect{}, &RegionError{fmt.Sprintf("it lies wholly outside of the picture, which has %dx%d pixels", width, height)}
	}
	return Rect{x0, y0, x1 - x0, y1 - y0}, nil
}
