package similar

import (
	"strings"
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

// Fold returns s without the differences of f. A stray byte becomes U+FFFD.
func Fold(s string, f Folds) string {
	return strings.Map(func(r rune) rune { return foldRune(r, f) }, s)
}

// Unfold returns the part of s whose folded form has the bytes from start to end.
func Unfold(s string, f Folds, start, end int) (from, to int) {
	at := 0 // in the folded form
	for i, r := range s {
		folded := foldRune(r, f)
		if folded < 0 {
			continue
		}
		if at <= start {
			from = i
		}
		if at += utf8.RuneLen(folded); at >= end {
			_, n := utf8.DecodeRuneInString(s[i:])
			return from, i + n
		}
	}
	return from, len(s)
}

// foldRune returns the folded form of a character, or -1 for nothing.
func foldRune(r rune, f Folds) rune {
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
	case IsWord(r): // most characters; unicode's tables of the others are slow
		if f&OverCase != 0 {
			return unicode.ToLower(r)
		}
	case unicode.IsSpace(r):
		if f&OverBlanks != 0 {
			return -1
		}
	case IsUnseen(r):
		if f&OverUnseen != 0 {
			return -1
		}
	case r == '−' || unicode.Is(unicode.Pd, r):
		if f&OverDashes != 0 {
			return '-'
		}
	}
	return r
}
