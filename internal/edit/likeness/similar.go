// Package likeness finds the lines of a text that are most like another text, and shows
// what a reader cannot see in them. The hints of a failed Edit are built on it.
//
// It only compares and shows: no caller may replace text because of it.
package likeness

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsWord tells whether a character is part of a word.
func IsWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// eachWord yields the words of s, each as a hash that is the same for words
// that differ in the case of ASCII letters only, and its length. Outside ASCII
// every letter is a word, for many scripts put no blanks between words.
func eachWord(s string, yield func(hash uint32, length int)) {
	const basis, prime = 2166136261, 16777619 // FNV-1a
	h, start := uint32(basis), 0
	for i := 0; i < len(s); {
		c := s[i]
		if c = wordBytes[c]; c > 0 {
			h = (h ^ uint32(c)) * prime
			i++
			continue
		}
		if i > start {
			yield(h, i-start)
			h = basis
		}
		n := 1
		if s[i] >= utf8.RuneSelf {
			var r rune
			if r, n = utf8.DecodeRuneInString(s[i:]); isIdeograph(r) || IsWord(r) {
				yield((basis^uint32(r))*prime, n)
			}
		}
		i += n
		start = i
	}
	if len(s) > start {
		yield(h, len(s)-start)
	}
}

func isIdeograph(r rune) bool { return 0x4e00 <= r && r < 0xa000 }

// wordBytes has the bytes of words in ASCII, in lower case, and 0 for others.
var wordBytes = func() (table [256]byte) {
	for c := range byte(utf8.RuneSelf) {
		if IsWord(rune(c)) {
			table[c] = byte(unicode.ToLower(rune(c)))
		}
	}
	return table
}()

// LongestWords are the n longest words of s, in the sense of texts with blanks
// between words; very long ones by their beginning.
func LongestWords(s string, n int) []string {
	const from, least, most = 64 << 10, 3, 48
	words := strings.FieldsFunc(s[:min(len(s), from)], func(r rune) bool { return !IsWord(r) })
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) < least })
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	words = slices.Compact(words)
	words = words[:min(n, len(words))]
	for i, w := range words {
		for len(w) > most || !utf8.ValidString(w) {
			w = w[:min(len(w)-1, most)]
		}
		words[i] = w
	}
	return words
}

// A Tally counts, for every alignment of old text with the lines of a text, the letters of
// the words that aligned lines share.
type Tally struct {
	lines  int                    // of old text
	words  map[uint32]*wordWeight // by hash
	likely [1 << 12]bool          // by the front of the hash: may words have it?
	all    int                    // the letters of all words of old text
	seen   int                    // text lines so far

	best    int // the most letters any way had
	start   int // in the text, of the first line that has one beside it
	skipped int // lines of old text before that one
}

// A wordWeight is a word of old text.
type wordWeight struct {
	lines  []int // that have it
	weight int
	last   int // the last text line that had it, counted from 1
}

// NewTally returns the tally for the lines of old text.
func NewTally(lines []string) *Tally {
	const most = 8 // lines for one word; more of them tell nothing
	v := &Tally{lines: len(lines), words: map[uint32]*wordWeight{}}
	for i, line := range lines {
		eachWord(line, func(h uint32, length int) {
			b := v.words[h]
			if b == nil {
				b = &wordWeight{weight: min(length, 16)}
				v.words[h] = b
				v.likely[h%uint32(len(v.likely))] = true
			}
			if len(b.lines) < most && (len(b.lines) == 0 || b.lines[len(b.lines)-1] != i) {
				b.lines = append(b.lines, i)
				v.all += b.weight
			}
		})
	}
	return v
}

// Count takes the votes of a part of the text that begins at base.
func (v *Tally) Count(part string, base int, loneCR bool) {
	c := byte('\n')
	if loneCR {
		c = '\r'
	}
	n := strings.Count(part, string(c)) + 1
	starts := make([]int, 0, n)
	score := make([]int32, n+v.lines) // by text line less old line, plus v.lines
	for at, line := 0, 0; line < n; line++ {
		starts = append(starts, base+at)
		end := len(part)
		if i := strings.IndexByte(part[at:], c); i >= 0 {
			end = at + i
		}
		v.seen++
		eachWord(part[at:end], func(h uint32, _ int) {
			if !v.likely[h%uint32(len(v.likely))] {
				return
			}
			if b := v.words[h]; b != nil && b.last != v.seen {
				b.last = v.seen
				for _, l := range b.lines {
					score[line-l+v.lines] += int32(b.weight)
				}
			}
		})
		at = end + 1
	}
	for i, got := range score {
		if int(got) > v.best {
			line := i - v.lines
			v.best, v.start, v.skipped = int(got), starts[max(0, line)], max(0, -line)
		}
	}
}

// Winner is the best way, if it shares half of old text's words.
func (v *Tally) Winner() (start, skipped int, ok bool) {
	return v.start, v.skipped, v.best > 0 && 2*v.best >= v.all
}

// Narrow is the part of a very long line that stands beside an asked one,
// judging by the longest word that both have, and where it begins.
func Narrow(asked, own string) (part string, from int) {
	if len(own) <= 4*len(asked)+ExcerptLen {
		return own, 0
	}
	for _, word := range LongestWords(asked, 8) {
		if i := strings.Index(own, word); i >= 0 {
			from = max(0, i-strings.Index(asked, word))
			break
		}
	}
	for from < len(own) && !utf8.RuneStart(own[from]) {
		from++
	}
	return own[from:min(len(own), from+len(asked)+ExcerptLen)], from
}
