package pdf

import (
	"slices"
	"unicode"

	"github.com/klippa-app/go-pdfium/enums"
)

// leftwards puts words in order that run from right to left. PDFium takes it that a
// document draws their letters from left to right, as most do, and turns what stands on
// a line round; of a document that draws them as they are read it makes words that
// nobody can read. Where letters stand one right of the other as they come, they are
// turned round again, and words that do so with them.
func (p *pageText) leftwards() {
	if !slices.ContainsFunc(p.signs, func(s rune) bool { return runsLeft(s, false) }) {
		return
	}
	if way, ok := p.turns(); !ok || way != enums.FPDF_PAGE_ROTATION_NONE {
		return // what is right of what is not told by places alone
	}
	for from := 0; from < len(p.signs); {
		to := p.wordEnd(from)
		for to > from+1 && p.rising(from, to-1) {
			next := to
			for next < len(p.signs) && p.signs[next] == ' ' {
				next++
			}
			end := p.wordEnd(next)
			if end == next || p.before[next] || !p.rising(to-1, next) || end > next+1 && !p.rising(next, end-1) {
				slices.Reverse(p.signs[from:to])
				break
			}
			to = end
		}
		from = max(to, from+1)
	}
}

// wordEnd is the place behind a word that runs from right to left; from where none
// begins there.
func (p *pageText) wordEnd(from int) (to int) {
	for to = from; to < len(p.signs) && runsLeft(p.signs[to], to > from) && (to == from || !p.before[to]); to++ {
	}
	return to
}

// runsLeft tells whether a sign is a letter of a script that runs from right to left;
// within a word it may be a mark on one.
func runsLeft(sign rune, within bool) bool {
	return unicode.In(sign, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko) || within && unicode.Is(unicode.Mn, sign)
}

// rising tells whether one sign stands right of another, on the same line.
func (p *pageText) rising(from, to int) bool {
	a, ok := p.wide(from)
	b, known := p.wide(to)
	return ok && known && a.bottom < b.top && b.bottom < a.top && a.left < b.left
}
