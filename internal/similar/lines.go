package similar

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsWord reports whether a character is part of a word.
func IsWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// words yields the words of s. Outside ASCII every letter is a word, because many
// scripts put no blanks between words.
func words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i, r := range s {
			if r < utf8.RuneSelf && IsWord(r) {
				continue
			}
			if start < i && !yield(s[start:i]) {
				return
			}
			_, n := utf8.DecodeRuneInString(s[i:])
			start = i + n
			if r >= utf8.RuneSelf && IsWord(r) && !yield(s[i:start]) {
				return
			}
		}
		if start < len(s) {
			yield(s[start:])
		}
	}
}

// LongestWords returns the n longest words of s; very long ones by their beginning.
func LongestWords(s string, n int) []string {
	const from, most = 64 << 10, 48
	longest := slices.Compact(slices.SortedStableFunc(words(s[:min(len(s), from)]), func(a, b string) int { return len(b) - len(a) }))
	longest = longest[:min(n, len(longest))]
	for i, word := range longest {
		longest[i] = word[:min(len(word), most)]
	}
	return longest
}

// A wordPlace is a word of the asked lines.
type wordPlace struct {
	lines []int // of the asked lines, those that have it
	last  int   // the last of the own lines that had it, counted from 1
}

// Align sets asked lines beside own lines so that lines beside each other share most of
// their words, in letters: asked[0] is beside own[first], and first is negative if own
// begins later. It returns false if they share less than half of the words asked for.
func Align(asked, own []string) (first int, ok bool) {
	const most = 8 // lines for one word; more of them tell nothing
	places := map[string]*wordPlace{}
	all := 0
	for i, line := range asked {
		for word := range words(strings.ToLower(line)) {
			p := places[word]
			if p == nil {
				p = &wordPlace{}
				places[word] = p
			}
			if n := len(p.lines); n == 0 || n < most && p.lines[n-1] != i {
				p.lines = append(p.lines, i)
				all += len(word)
			}
		}
	}
	shared := make([]int, len(own)+len(asked)) // by own line less asked line, plus len(asked)
	for i, line := range own {
		for word := range words(strings.ToLower(line)) {
			p := places[word]
			if p == nil || p.last == i+1 {
				continue
			}
			p.last = i + 1
			for _, l := range p.lines {
				shared[i-l+len(asked)] += len(word)
			}
		}
	}
	best := 0
	for i, letters := range shared {
		if letters > shared[best] {
			best = i
		}
	}
	if shared[best] == 0 || 2*shared[best] < all {
		return 0, false
	}
	return sameFront(asked, own, best-len(asked)), true
}

// sameFront moves first by a few lines if the front of asked then equals the lines beside
// it: where a line was added or left out in the middle, most words agree behind it, but
// the reader wants the line where it begins.
func sameFront(asked, own []string, first int) int {
	const far = 10
	most, best := 0, first
	for at := max(0, first-far); at <= min(first+far, len(own)-1); at++ {
		same := 0
		for same < len(asked) && at+same < len(own) && own[at+same] == asked[same] {
			same++
		}
		if same > most {
			most, best = same, at
		}
	}
	return best
}
