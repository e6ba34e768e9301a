package tokens

import "unicode/utf8"

// foreign counts the run of characters beyond ASCII from i on.
func (t *tally) foreign(b []byte, i int) int {
	last := scripts
	for i < len(b) && b[i] >= utf8.RuneSelf {
		r, n := utf8.DecodeRune(b[i:])
		s := scriptOf(r, n)
		t.n[chars+s]++
		if s != last {
			t.n[starts+s]++
			last = s
		}
		i += n
	}
	return i
}

// scriptOf is the script of a character of n bytes.
func scriptOf(r rune, n int) int {
	switch {
	case n == 1:
		return broken
	case r < 0xC0:
		return latinSign
	case r < 0x100:
		return latin
	case r < 0x370:
		return latinRare
	case r < 0x400:
		return greek
	case r < 0x530:
		if r < 0x410 || r > 0x44F {
			return cyrillicRare // not Russian
		}
		return cyrillic
	case r < 0x590:
		return other
	case r < 0x600:
		return hebrew
	case r < 0x780:
		return arabic
	case r < 0x900:
		return other
	case r < 0xE00:
		return indic
	case r < 0xE80:
		return thai
	case r < 0x1000:
		return indic
	case r < 0x1E00:
		return other
	case r < 0x1F00:
		return latinAccents
	case r < 0x2000:
		return greek
	case r < 0x2070:
		return sign
	case r < 0x2E80:
		return drawing
	case r < 0x3040:
		return cjkSign
	case r < 0x3100:
		return kana
	case r < 0x4E00:
		return hanRare
	case r < 0xA000:
		if isCommon(r) {
			return hanCommon
		}
		return hanRare
	case r < 0xAC00:
		return other
	case r < 0xD7A4:
		if isCommon(r) {
			return hangulCommon
		}
		return hangulRare
	case r < 0xF900:
		return other
	case r < 0xFB00:
		return hanRare
	case r >= 0xFF00 && r < 0xFFF0:
		return cjkSign
	case n == 4:
		return astral
	}
	return other
}
