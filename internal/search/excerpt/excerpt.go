// Package excerpt chooses the parts of a long line that an answer shows.
//
// It knows no files and no patterns: matches are ranges of the line.
package excerpt

import (
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
)

// Bounds of the lines of an answer.
const (
	wholeLine   = 500 // characters up to which a line is shown whole
	AroundMatch = 200 // characters around a match in a longer one
	MaxParts    = 10  // of a line
)

// Part is a part of a line.
type Part struct {
	// Column is the place of Text's first character in the line, from 1, in characters.
	Column int
	// Text is UTF-8 but for bytes that are no character; it has no line ending.
	Text []byte
	// Matches are ranges of Text.
	Matches []span.Span
}

// IsShort reports whether a line is shown whole.
func IsShort(line []byte) bool {
	return len(line) <= wholeLine || len(line) <= wholeLine*utf8.UTFMax && utf8.RuneCount(line) <= wholeLine
}

// Windows returns parts of a long line around its matches, and the number of the matches
// that lie in none.
func Windows(line []byte, ranges [][]int) (parts []Part, more int) {
	column, counted := 1, 0 // the column of the character at counted
	end := 0                // of the last part
	for i, r := range ranges {
		if last := len(parts) - 1; last >= 0 && r[1] <= end {
			p := &parts[last]
			from := int64(end - len(p.Text))
			p.Matches = append(p.Matches, span.Span{Start: int64(r[0]) - from, End: int64(r[1]) - from})
			continue
		}
		if len(parts) == MaxParts {
			return parts, len(ranges) - i
		}
		side := max(0, (AroundMatch-utf8.RuneCount(line[r[0]:min(r[1], r[0]+AroundMatch*utf8.UTFMax)]))/2)
		from := max(back(line, r[0], side), end)
		to := forward(line, from, AroundMatch)
		column += utf8.RuneCount(line[counted:from])
		counted = from
		parts = append(parts, Part{Column: column, Text: line[from:to], Matches: []span.Span{{Start: int64(r[0] - from), End: int64(min(r[1], to) - from)}}})
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
