package media

import (
	"fmt"
	"math"
)

// Mapping says which part of a picture is shown at which size.
type Mapping struct {
	// Width and Height are the upright original's.
	Width, Height int
	// Part is the shown part; all of the picture if Zoomed is false.
	Part   Rect
	Zoomed bool
	// DisplayWidth and DisplayHeight are those of the bytes sent.
	DisplayWidth, DisplayHeight int
}

// Line says how to map coordinates of the shown picture to the original; "" if they are the
// same.
func (s Mapping) Line() string {
	if !s.Zoomed {
		if s.DisplayWidth == s.Width && s.DisplayHeight == s.Height {
			return ""
		}
		return fmt.Sprintf("[Image: original %dx%d, displayed at %dx%d. %s to map to original image.]",
			s.Width, s.Height, s.DisplayWidth, s.DisplayHeight, s.factors())
	}
	return fmt.Sprintf("[Image: region %d,%d,%d,%d of original %dx%d, displayed at %dx%d. %s and add %d,%d to map to original image.]",
		s.Part.X, s.Part.Y, s.Part.Width, s.Part.Height, s.Width, s.Height, s.DisplayWidth, s.DisplayHeight, s.factors(), s.Part.X, s.Part.Y)
}

// sameFactor bounds the difference of two factors that are reported as one.
const sameFactor = 0.0005

// factors says what coordinates are to be multiplied by.
func (s Mapping) factors() string {
	x := float64(s.Part.Width) / float64(s.DisplayWidth)
	y := float64(s.Part.Height) / float64(s.DisplayHeight)
	if math.Abs(x-y) > sameFactor*math.Min(x, y) {
		return fmt.Sprintf("Multiply x by %s and y by %s", factor(x), factor(y))
	}
	return "Multiply coordinates by " + factor(s.common(x, y))
}

// common returns one factor for both directions: the factor of the longer side, unless it is
// more than a pixel off on the other; then one between them.
func (s Mapping) common(x, y float64) float64 {
	long, short, across := x, y, s.DisplayHeight
	if s.DisplayHeight > s.DisplayWidth {
		long, short, across = y, x, s.DisplayWidth
	}
	if math.Abs(long-short)*float64(across) <= 1 {
		return long
	}
	return (x*float64(s.DisplayWidth) + y*float64(s.DisplayHeight)) / float64(s.DisplayWidth+s.DisplayHeight)
}

// factor has two decimals if these are exact, else four.
func factor(f float64) string {
	if two := math.Round(f*100) / 100; math.Abs(two-f) < 1e-9 {
		return fmt.Sprintf("%.2f", two)
	}
	return fmt.Sprintf("%.4f", f)
}
