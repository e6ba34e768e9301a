package pdf

import (
	"slices"
	"unicode"

	"github.com/klippa-app/go-pdfium/enums"
)

// fixRightToLeft orders words that run from right to left. PDFium assumes that a document
// draws their letters from left to right, as most do, and reverses each line; for a
// document that draws them in reading order the words become unreadable. Words whose
// letters are placed each to the right of the one before are reversed again, and so are
// their neighbours.
func (p *pageText) fixRightToLeft() {
	if !slices.ContainsFunc(p.chars, func(s rune) bool { return runsLeft(s, false) }) {
		return
	}
	if way, ok := p.rotation(); !ok || way != enums.FPDF_PAGE_ROTATION_NONE {
		return // "right of" means nothing on a rotated page
	}
	p.closeGaps()
	for from := 0; from < len(p.chars); {
		to := p.wordEnd(from)
		if to == from {
			from++
			continue
		}
		if !p.backwards(from, to) {
			p.reverseParts(from, to)
			from = to
			continue
		}
		for {
			next := to
			for next < len(p.chars) && (p.chars[next] == ' ' || p.chars[next] == 0) {
				next++
			}
			end := p.wordEnd(next)
			if end == next || p.before[next] || !p.leftOf(p.lastLetter(from, to), p.firstLetter(next, end)) || end > next+1 && !p.backwards(next, end) {
				slices.Reverse(p.chars[from:to])
				break
			}
			to = end
		}
		from = to
	}
}

// reverseParts reverses the parts of a word that are reversed. PDFium splits a word at a
// character that stands for several letters.
func (p *pageText) reverseParts(from, to int) {
	for first := from; first < to; {
		last := first
		for i := first + 1; i < to; i++ {
			if unicode.IsLetter(p.chars[i]) {
				if !p.leftOf(last, i) {
					break
				}
				last = i
			}
		}
		slices.Reverse(p.chars[first : last+1])
		first = last + 1
	}
}

// closeGaps removes spaces between words without a gap. PDFium adds a space if a character is
// drawn to the left of the one before.
func (p *pageText) closeGaps() {
	for from := 0; from < len(p.chars); {
		to := p.wordEnd(from)
		next := to
		for next < len(p.chars) && p.chars[next] == ' ' {
			next++
		}
		if end := p.wordEnd(next); from < to && to < next && next < end && p.adjacent(from, to, next, end) {
			clear(p.chars[to:next])
		}
		from = max(next, from+1)
	}
}

// adjacent reports whether the next word begins directly to the left of a word.
func (p *pageText) adjacent(from, to, next, end int) bool {
	edge := func(from, to int) (left, right, height float64, ok bool) {
		for i := from; i < to; i++ {
			if b, known := p.wide(i); known && unicode.IsLetter(p.chars[i]) {
				if !ok {
					left, right, height, ok = b.left, b.right, b.top-b.bottom, true
				}
				left, right, height = min(left, b.left), max(right, b.right), max(height, b.top-b.bottom)
			}
		}
		return left, right, height, ok
	}
	left, _, high, ok := edge(from, to)
	_, right, _, known := edge(next, end)
	gap := (left - right) / high
	return ok && known && gap < noGap && gap > -noGap-someGap
}

// backwards reports whether the last letter of a word is right of its first, or whether the
// word begins with a mark, which belongs behind its letter.
func (p *pageText) backwards(from, to int) bool {
	return unicode.Is(unicode.Mn, p.chars[from]) || p.leftOf(p.firstLetter(from, to), p.lastLetter(from, to))
}

// firstLetter returns the first letter of a word, which begins with marks if it is reversed.
func (p *pageText) firstLetter(from, to int) int {
	for i := from; i < to; i++ {
		if unicode.IsLetter(p.chars[i]) {
			return i
		}
	}
	return from
}

func (p *pageText) lastLetter(from, to int) int {
	for i := to - 1; i > from; i-- {
		if unicode.IsLetter(p.chars[i]) {
			return i
		}
	}
	return from
}

// wordEnd returns the index behind a word that runs from right to left, and from if none
// begins there.
func (p *pageText) wordEnd(from int) (to int) {
	for to = from; to < len(p.chars) && runsLeft(p.chars[to], to > from) && (to == from || !p.before[to]); to++ {
	}
	return to
}

// runsLeft reports a letter of a script that runs from right to left, and within a word also a
// mark.
func runsLeft(sign rune, within bool) bool {
	return unicode.In(sign, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko) || within && unicode.Is(unicode.Mn, sign)
}

// leftOf reports whether the first of two characters is left of the second, on the same line.
func (p *places) leftOf(from, to int) bool {
	a, ok := p.wide(from)
	b, known := p.wide(to)
	return ok && known && a.bottom < b.top && b.bottom < a.top && a.left < b.left
}
