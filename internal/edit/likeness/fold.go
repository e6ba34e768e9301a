package likeness

import (
	"unicode"
	"unicode/utf8"
)

// Folds are the differences that a loose comparison overlooks.
type Folds uint8

const (
	OverBlanks Folds = 1 << iota // white space and line breaks
	OverUnseen                   // invisible characters
	OverQuotes
	OverDashes
	OverCase
	OverAll Folds = 1<<iota - 1
)

// Fold appends s without the differences of f. Stray bytes stay as they are.
func Fold(dst []byte, s string, f Folds) []byte {
	ascii := f.ascii()
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c = ascii[c]; c != 0 {
				dst = append(dst, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, s[i])
		} else if r = foldRune(r, f); r > 0 {
			dst = utf8.AppendRune(dst, r)
		}
		i += n
	}
	return dst
}

// Unfold tells which part of s gave rise to the bytes from..to of its folded
// form, the last one included.
func Unfold(s string, f Folds, from, to int) (start, end int) {
	ascii := f.ascii()
	at := 0 // in the folded form
	for i := 0; i < len(s); {
		n, width := 1, 1
		if c := s[i]; c >= utf8.RuneSelf {
			var r rune
			r, n = utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || n > 1 {
				width = max(0, utf8.RuneLen(foldRune(r, f)))
			}
		} else if ascii[c] == 0 {
			width = 0
		}
		if at <= from && from < at+width {
			start = i
		}
		if at += width; at > to {
			return start, i + n
		}
		i += n
	}
	return start, len(s)
}

// ascii is the folded form of each ASCII character, 0 for nothing.
func (f Folds) ascii() (table [utf8.RuneSelf]byte) {
	for c := range table {
		table[c] = byte(max(0, foldRune(rune(c), f)))
	}
	return table
}

// foldRune is the folded form of a character, or -1 for nothing.
func foldRune(r rune, f Folds) rune {
	if isCommon(r) {
		if f&OverCase != 0 && r < 0x250 {
			return unicode.ToLower(r)
		}
		return r
	}
	switch r {
	case '\'', '‘', '’', '‚', '‛', '′', '`', '´':
		if f&OverQuotes != 0 {
			return '\''
		}
		return r
	case '"', '“', '”', '„', '‟', '″', '«', '»':
		if f&OverQuotes != 0 {
			return '"'
		}
		return r
	}
	switch {
	case unicode.IsSpace(r):
		if f&OverBlanks != 0 {
			return -1
		}
	case r == 0 || IsUnseen(r):
		if f&OverUnseen != 0 {
			return -1
		}
	case r == '−' || unicode.Is(unicode.Pd, r):
		if f&OverDashes != 0 {
			return '-'
		}
	case f&OverCase != 0:
		return unicode.ToLower(r)
	}
	return r
}

// isCommon knows at a glance most characters that fold to nothing but their
// lower case: Latin letters, and the letters and marks of East Asian texts.
func isCommon(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	case r < 0x2000:
		return 0xc0 <= r && r < 0x250
	case r < 0x3400:
		return 0x3001 <= r && r < 0x301c || 0x3041 <= r && r < 0x30a0 || 0x30a1 <= r
	}
	return r < 0xa000 || 0xac00 <= r && r < 0xd7a4 || r == '，' || r == '：'
}
