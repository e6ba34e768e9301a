package fsys

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// blanks are the no-break spaces that macOS writes into screenshot names and
// that people and models give back as plain blanks.
var blanks = strings.NewReplacer("\u202f", " ", "\u00a0", " ")

// Lookalike finds the one sibling that is the same name to the eye: equal under
// Unicode normalisation (NFC, NFD), or with U+202F or U+00A0 for a blank. Two
// such siblings are none: nothing is guessed.
func Lookalike(name string, siblings []string) (string, bool) {
	want, found := plain(name), ""
	for _, s := range siblings {
		if s == name || plain(s) != want {
			continue
		}
		if found != "" && found != s {
			return "", false
		}
		found = s
	}
	return found, found != ""
}

func plain(name string) string { return norm.NFC.String(blanks.Replace(name)) }

// How unlike a name may be and still be called near: by a third of its letters, the
// extension left out, since most files of a folder share that.
const (
	maxDistance     = 3
	lettersPerError = 3
)

// Near lists at most n siblings that a caller may have meant, best first: other
// case, then the same stem with another extension, then those of the smallest edit
// distance, where that is small.
func Near(name string, siblings []string, n int) []string {
	type near struct {
		name           string
		rank, distance int
	}
	var found []near
	folded, foldedStem := fold(name), fold(stem(name))
	allowed := min(maxDistance, utf8.RuneCountInString(foldedStem)/lettersPerError)
	for _, s := range siblings {
		if s == name {
			continue
		}
		switch other := fold(s); {
		case other == folded:
			found = append(found, near{s, 0, 0})
		case fold(stem(s)) == foldedStem:
			found = append(found, near{s, 1, 0})
		default:
			if d := distance(folded, other, allowed); d <= allowed {
				found, allowed = append(found, near{s, 2, d}), d
			}
		}
	}
	found = slices.DeleteFunc(found, func(f near) bool { return f.distance > allowed })
	slices.SortFunc(found, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	var names []string
	for _, f := range found[:min(n, len(found))] {
		names = append(names, f.name)
	}
	return names
}

func fold(s string) string { return strings.ToLower(plain(s)) }

func stem(name string) string {
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return name[:dot]
	}
	return name
}

// distance is the number of letters to add, drop, change or swap with their
// neighbour that makes a into b; anything above limit comes out as limit+1.
// Only the band of the table that can stay within the limit is filled.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	far := limit + 1
	if len(x)-len(y) > limit || len(y)-len(x) > limit {
		return far
	}
	before, above, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range above {
		before[j], above[j], row[j] = far, min(j, far), far
	}
	for i := 1; i <= len(x); i++ {
		first, last := max(1, i-limit), min(len(y), i+limit)
		row[first-1] = far
		if first == 1 {
			row[0] = min(i, far)
		}
		least := row[first-1]
		for j := first; j <= last; j++ {
			d := above[j-1]
			if x[i-1] != y[j-1] {
				d = 1 + min(d, above[j], row[j-1])
			}
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = min(d, far)
			least = min(least, row[j])
		}
		if least == far {
			return far // no further row comes back from that
		}
		if last < len(y) {
			row[last+1] = far
		}
		before, above, row = above, row, before
	}
	return above[len(y)]
}
