package search

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// Each part is the text of the line at its column, and holds its matches.
func TestPartsAreTextOfTheLine(t *testing.T) {
	line := []byte(strings.Repeat("wörter ", 300) + "needle" + strings.Repeat(" mehr", 40) + " needle" + strings.Repeat("é", 400) + strings.Repeat("needle"+strings.Repeat("x", 300), 12))
	var ranges [][]int
	for at := 0; ; {
		i := bytes.Index(line[at:], []byte("needle"))
		if i < 0 {
			break
		}
		ranges = append(ranges, []int{at + i, at + i + len("needle")})
		at += i + 1
	}
	parts, more := partsAround(line, ranges)
	if isShort(line) || !isShort(line[:wholeLine]) || len(parts) != maxParts || more == 0 {
		t.Errorf("%d parts, %d matches more", len(parts), more)
	}
	matches, runes := more, []rune(string(line))
	for _, p := range parts {
		n := utf8.RuneCount(p.Text)
		if n > aroundMatch || string(runes[p.Column-1:p.Column-1+n]) != string(p.Text) {
			t.Errorf("column %d: %q", p.Column, p.Text)
		}
		matches += bytes.Count(p.Text, []byte("needle"))
	}
	if matches != len(ranges) {
		t.Errorf("%d matches of %d", matches, len(ranges))
	}
}
