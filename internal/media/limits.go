package media

import "math"

// Limits bounds the pictures that are sent to a model.
type Limits struct {
	// Side is the greatest width and height in pixels.
	Side int
	// Bytes bounds the encoded picture, Tokens the eighth part of its base64.
	Bytes, Tokens int
}

// The limits if the settings name none (source: docs/media.md).
const (
	MaxSide        = 2000
	MaxBytes       = 3_932_160
	MaxImageTokens = 83_334
)

// DefaultLimits returns the limits if the settings name none.
func DefaultLimits() Limits { return Limits{Side: MaxSide, Bytes: MaxBytes, Tokens: MaxImageTokens} }

// Base64Len is the length of n bytes in base64.
func Base64Len(n int) int { return (n + 2) / 3 * 4 }

// JSONLen is the length of a text as it is sent, in bytes: some characters are
// written as two or more.
func JSONLen(s string) int {
	n := len(s)
	for _, c := range []byte(s) {
		switch {
		case c == '"', c == '\\', c == '\n', c == '\t', c == '\r':
			n++
		case c < 0x20:
			n += 5
		}
	}
	return n
}

// Takes reports whether an encoded picture of n bytes is within the limits.
func (l Limits) Takes(n int) bool { return n <= l.Bytes && (Base64Len(n)+7)/8 <= l.Tokens }

// most is the largest number of bytes that Takes.
func (l Limits) most() int { return min(l.Bytes, 6*l.Tokens) }

// Holds reports whether a picture of that size in pixels is within the limits.
func (l Limits) Holds(width, height int) bool { return width <= l.Side && height <= l.Side }

// Bounds limits the pictures that are decoded at all; a larger one is refused before.
type Bounds struct {
	Pixels int   // of the whole picture
	Side   int   // pixels
	Bytes  int64 // decoded
}

// DefaultBounds returns the bounds if the settings name none (source: docs/media.md).
func DefaultBounds() Bounds { return Bounds{Pixels: 100_000_000, Side: 16_384, Bytes: 512 << 20} }

// Admits reports whether a picture may be decoded.
func (b Bounds) Admits(f PictureFacts) bool {
	return f.Width <= b.Side && f.Height <= b.Side && f.Width*f.Height <= b.Pixels && f.Bytes <= b.Bytes
}

// fit is the largest size of the same shape within a square, never enlarged.
func fit(width, height, side int) (w, h int) {
	if width <= side && height <= side {
		return width, height
	}
	if width >= height {
		return side, scaled(height, side, width)
	}
	return scaled(width, side, height), side
}

// Sizes of regions that are enlarged, as models see small pictures poorly (source:
// docs/media.md).
const (
	smallRegion   = 400 // a region with a longer side is not enlarged
	largeRegion   = 800 // the longest side of an enlarged region
	mostEnlarging = 4   // times
)

// enlarged returns the size at which a region is shown: a whole multiple, within a square.
func enlarged(width, height, side int) (w, h int) {
	longer := max(width, height)
	if longer >= smallRegion {
		return width, height
	}
	times := max(min(mostEnlarging, largeRegion/longer, side/longer), 1)
	return times * width, times * height
}

// scaled returns n times a share, rounded, and at least 1.
func scaled(n, share, whole int) int {
	return max(1, int(math.Round(float64(n)*float64(share)/float64(whole))))
}
