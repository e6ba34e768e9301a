package glob

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// A Folding maps a path to the form in which two spellings that count as one
// name are equal. It keeps the number of segments.
type Folding func(path string) string

// FoldStrict is the folding of deny rules, ask rules and protected names: case,
// compatibility forms, and characters that no reader can see.
func FoldStrict(path string) string { return foldSegments(path, foldStrictSegment) }

// FoldCase is the folding of allow rules on volumes that ignore case. It joins
// less than FoldStrict, since here a name joined by mistake would be let through.
func FoldCase(path string) string { return foldSegments(path, foldCaseSegment) }

func foldSegments(path string, fold func(string) string) string {
	if IsASCII(path) {
		return strings.ToLower(path) // the path itself, mostly
	}
	segs := strings.Split(path, "/")
	for i, s := range segs {
		segs[i] = fold(s)
	}
	return strings.Join(segs, "/")
}

// foldStrictSegment keeps a segment as it is when folding would leave nothing
// or dots alone: that would be another path, not another spelling.
func foldStrictSegment(seg string) string {
	folded := FoldText(seg)
	if strings.Trim(folded, ".") == "" {
		return seg
	}
	return folded
}

func foldCaseSegment(seg string) string {
	return norm.NFC.String(foldRunes(norm.NFD.String(seg), false))
}

// FoldText folds any text strictly. Characters whose compatibility form holds a
// separator stay as they are.
func FoldText(s string) string {
	if IsASCII(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for s != "" {
		n := strings.IndexFunc(s, hidesSeparator)
		if n < 0 {
			n = len(s)
		}
		b.WriteString(norm.NFKC.String(foldRunes(norm.NFKD.String(s[:n]), true)))
		_, w := utf8.DecodeRuneInString(s[n:])
		b.WriteString(s[n : n+w])
		s = s[n+w:]
	}
	return b.String()
}

// foldRunes folds case in decomposed text, one rune at a time; only the sharp s becomes two.
// Bytes that are not UTF-8 stay.
func foldRunes(s string, dropInvisible bool) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && w == 1:
			b = append(b, s[i])
		case dropInvisible && defaultIgnorable(r):
		case r == 'ß' || r == 'ẞ':
			b = append(b, "ss"...)
		default:
			b = utf8.AppendRune(b, foldRune(r))
		}
		i += w
	}
	return string(b)
}

// foldRune returns the representative of all runes that differ from r in case only.
func foldRune(r rune) rune {
	rep := unicode.ToLower(unicode.ToUpper(r))
	for o := unicode.SimpleFold(r); ; o = unicode.SimpleFold(o) {
		if o == rep {
			return rep
		}
		if o == r {
			return r // such as the dotless i, whose capital belongs to another letter
		}
	}
}

// hidesSeparator reports the few characters that contain a slash or a backslash
// in their compatibility form.
func hidesSeparator(r rune) bool { return strings.ContainsRune("℀℁℅℆／＼﹨", r) }

// defaultIgnorable is Unicode's derived property Default_Ignorable_Code_Point: characters
// that are shown as nothing if they have no effect.
func defaultIgnorable(r rune) bool {
	if unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) {
		return true
	}
	if !unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
		return false
	}
	annotation := r >= 0xFFF9 && r <= 0xFFFB
	hieroglyph := r >= 0x13430 && r <= 0x1345F
	return !annotation && !hieroglyph
}

// IsASCII reports whether a text is ASCII only.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
