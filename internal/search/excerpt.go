package search

import (
	"bytes"
	"unicode/utf8"
)

// Bounds of the lines of an answer.
const (
	wholeLine   = 500 // characters up to which a line is shown whole
	aroundMatch = 200 // characters around a match in a longer one
	maxParts    = 10  // of a line
)

// isShort reports whether a line is shown whole.
func isShort(line []byte) bool {
	return len(line) <= wholeLine || len(line) <= wholeLine*utf8.UTFMax && utf8.RuneCount(line) <= wholeLine
}

// partsAround returns parts of a long line around its matches, and the number of the matches
// that lie in none.
func partsAround(line []byte, ranges [][]int) (parts []LinePart, more int) {
	column, counted := 1, 0 // the column of the character at counted
	end := 0                // of the last part
	for i, r := range ranges {
		if len(parts) > 0 && r[1] <= end {
			continue
		}
		if len(parts) == maxParts {
			return parts, len(ranges) - i
		}
		side := max(0, (aroundMatch-utf8.RuneCount(line[r[0]:min(r[1], r[0]+aroundMatch*utf8.UTFMax)]))/2)
		from := max(back(line, r[0], side), end)
		to := forward(line, from, aroundMatch)
		column += utf8.RuneCount(line[counted:from])
		counted = from
		parts = append(parts, LinePart{Column: column, Text: bytes.Clone(line[from:to])})
		end = to
	}
	return parts, 0
}

// back is the place n characters in front of at.
func back(line []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(line[:at])
		at -= size
	}
	return at
}

// forward is the place n characters behind at.
func forward(line []byte, at, n int) int {
	for ; n > 0 && at < len(line); n-- {
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	return at
}
