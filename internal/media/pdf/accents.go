package pdf

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// combining maps an accent that is a character of its own to the combining one, above or
// below a letter.
var combining = map[rune]rune{
	'´': '\u0301', '`': '\u0300', '¨': '\u0308', 'ˆ': '\u0302', '˜': '\u0303', 'ˇ': '\u030c', '˘': '\u0306',
	'˙': '\u0307', '˚': '\u030a', '˝': '\u030b', '¯': '\u0304', '¸': '\u0327', '˛': '\u0328',
}

// joinAccents joins each accent that is drawn over a letter, as by older TeX, with that letter:
// "J´erˆome" becomes "Jérôme".
func (p *pageText) joinAccents() {
	for i, sign := range p.chars {
		mark := combining[sign]
		if mark == 0 {
			continue
		}
		for _, k := range []int{i + 1, i - 1} {
			if k < 0 || k >= len(p.chars) || !unicode.IsLetter(p.chars[k]) || !p.overlaps(i, k) {
				continue
			}
			if whole := composed(p.chars[k], mark); whole != 0 {
				p.chars[k], p.chars[i] = whole, 0
				break
			}
		}
	}
}

// composed returns the letter with the mark as one character; 0: Unicode has none.
func composed(letter, mark rune) rune {
	dotted := strings.NewReplacer("ı", "i", "ȷ", "j").Replace(string(letter))
	if whole := []rune(norm.NFC.String(dotted + string(mark))); len(whole) == 1 {
		return whole[0]
	}
	return 0
}

// overlaps reports whether the middle of a character's ink is within another's width.
func (p *places) overlaps(i, k int) bool {
	a, ok := p.tight(i)
	b, ok2 := p.wide(k)
	middle := (a.left + a.right) / 2
	return ok && ok2 && b.left < middle && middle < b.right && a.top > b.bottom && a.bottom < b.top
}
