// Package similar finds what a caller may have meant: the names nearest to a mistyped one,
// the name in a folder that looks the same, and the lines of a text that are most like
// another text, with signs for what a reader cannot see in them.
//
// It is pure, and it has the only edit distance. It does not decide what to suggest, nor
// whether a caller may learn of a name; no caller may replace text because of it.
package similar

import (
	"cmp"
	"math"
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
// distance, if that is small.
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
			if d := Distance(folded, other, allowed); d <= allowed {
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

// Nearest returns the known name with the fewest slips, the first of several with as many,
// and "" if none is near.
func Nearest(known []string, slips func(known string) (n int, near bool)) (best string) {
	least := math.MaxInt
	for _, k := range known {
		if n, near := slips(k); near && n < least {
			best, least = k, n
		}
	}
	return best
}

// Within returns the distance of two names without regard to case, and whether it is at most
// limit.
func Within(a, b string, limit int) (n int, near bool) {
	n = Distance(strings.ToLower(a), strings.ToLower(b), limit)
	return n, n <= limit
}

func fold(s string) string { return strings.ToLower(plain(s)) }

func stem(name string) string {
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return name[:dot]
	}
	return name
}
