package edit

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The curly quotes, each of three bytes in UTF-8, the first two of them curlyLead.
const (
	openSingle  = '\u2018'
	closeSingle = '\u2019'
	openDouble  = '\u201C'
	closeDouble = '\u201D'
	curlyLen    = 3
	curlyLead   = "\xe2\x80"
)

// straight is the straight form of a quote, or 0 for any other character.
func straight(r rune) rune {
	switch r {
	case '\'', openSingle, closeSingle:
		return '\''
	case '"', openDouble, closeDouble:
		return '"'
	}
	return 0
}

// nextCurly is the place of the first curly quote in s[from:], or -1.
func nextCurly(s string, from int) int {
	for at := from; ; {
		i := strings.IndexByte(s[at:], curlyLead[0])
		if i < 0 || at+i+curlyLen > len(s) {
			return -1
		}
		at += i
		if s[at+1] == curlyLead[1] {
			switch s[at+2] {
			case 0x98, 0x99, 0x9c, 0x9d:
				return at
			}
		}
		at++
	}
}

// quoteFolding gives texts that differ in the form of their quotes the one with straight
// ones.
var quoteFolding = folding{
	appendForm: appendStraight,
	isPlain:    func(s string) bool { return nextCurly(s, 0) < 0 },
	growth:     curlyLen,
	fixed:      func(s string) string { return longestPiece(s, isQuoteOrBreak) },
	isEdge:     func(string, int) bool { return true },
}

func isQuoteOrBreak(r rune) bool { return straight(r) != 0 || r == '\n' || r == '\r' }

// longestPiece is the longest part of s without characters that apart picks.
func longestPiece(s string, apart func(rune) bool) string {
	best := ""
	for part := range strings.FieldsFuncSeq(s, apart) {
		if len(part) > len(best) {
			best = part
		}
	}
	return best
}

// appendStraight appends s with straight quotes for the curly ones; form is empty.
func appendStraight(form []byte, changes []change, s string) ([]byte, []change) {
	at := 0
	for i := nextCurly(s, 0); i >= 0; i = nextCurly(s, at) {
		r, _ := utf8.DecodeRuneInString(s[i:])
		form = append(append(form, s[at:i]...), byte(straight(r)))
		at = i + curlyLen
		changes = append(changes, change{int32(len(form) - 1), int32(len(form)), int32(i), int32(at)})
	}
	return append(form, s[at:]...), changes
}

// restyle is new text in the quote style of the text that old matched by
// folding. A straight quote at the front or at the back that old has as well
// stays as the file has it; any other straight quote becomes curly if the
// match had a curly one in place of a straight one of its kind. Curly quotes
// of new stay.
func restyle(old, new, matched string, afterLetter bool) string {
	if !strings.ContainsAny(new, `'"`) {
		return new
	}
	asked, own := quotesOf(old), quotesOf(matched)
	folded := map[rune]bool{}
	for i, q := range asked {
		if q != own[i] && own[i] != straight(own[i]) {
			folded[straight(q)] = true
		}
	}
	head, tail := sharedEnds(old, new)
	back := len(new) - tail
	nth := 0 // of the quotes of the match, beside which the next one stands
	var b strings.Builder
	before := rune(-1)
	for i, r := range new {
		if i == back {
			nth = len(own) - len(quotesOf(new[back:]))
		}
		q := r
		if r == straight(r) {
			switch {
			case i < head || i >= back:
				q = own[nth]
			case folded[r]:
				after, _ := utf8.DecodeRuneInString(new[i+1:])
				q = curly(r, before, after, afterLetter)
			}
		}
		if straight(r) != 0 {
			nth++
		}
		writeRaw(&b, new, i, r, q)
		before = q
	}
	return b.String()
}

// writeRaw writes q, or the bytes of new at i where q is the rune found there.
func writeRaw(b *strings.Builder, new string, i int, r, q rune) {
	if q != r || r != utf8.RuneError {
		b.WriteRune(q)
		return
	}
	_, n := utf8.DecodeRuneInString(new[i:])
	b.WriteString(new[i : i+n])
}

// curly is the curly form of a straight quote between two characters; before
// is negative at the start of new text.
func curly(quote, before, after rune, afterLetter bool) rune {
	atStart := before < 0
	betweenLetters := unicode.IsLetter(after) && (unicode.IsLetter(before) || atStart && afterLetter)
	opens := atStart || unicode.IsSpace(before) || strings.ContainsRune("([{", before) || unicode.Is(unicode.Pd, before)
	switch {
	case quote == '\'' && (betweenLetters || !opens):
		return closeSingle
	case quote == '\'':
		return openSingle
	case opens:
		return openDouble
	}
	return closeDouble
}

func quotesOf(s string) []rune {
	var q []rune
	for _, r := range s {
		if straight(r) != 0 {
			q = append(q, r)
		}
	}
	return q
}

// sharedEnds returns the numbers of bytes that a and b share at the front and, not
// counting those again, at the back, in whole characters.
func sharedEnds(a, b string) (head, tail int) {
	most := min(len(a), len(b))
	for head < most && a[head] == b[head] {
		head++
	}
	for head > 0 && head < len(b) && !utf8.RuneStart(b[head]) {
		head--
	}
	for tail < most-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	for tail > 0 && !utf8.RuneStart(b[len(b)-tail]) {
		tail--
	}
	return head, tail
}
