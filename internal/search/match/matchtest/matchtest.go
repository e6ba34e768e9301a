// Package matchtest draws regular expressions and texts in which they often match, for tests
// that compare searches with the standard regexp package.
package matchtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Expression is a drawn regular expression in RE2 syntax.
type Expression struct {
	Pattern string
	// Fold and Multiline are the options with which it is meant to be searched.
	Fold, Multiline bool

	root node
}

// node is a part of an expression: how it is written, and a function that draws a string that
// it matches in most cases.
type node struct {
	pattern string
	sample  func(*rand.Rand) string
	// tight: a repetition can follow the pattern without a group around it.
	tight bool
}

// Draw returns a random expression.
func Draw(rnd *rand.Rand) *Expression {
	e := &Expression{Fold: rnd.IntN(5) == 0, Multiline: rnd.IntN(4) == 0}
	e.root = draw(rnd, rnd.IntN(5))
	if rnd.IntN(50) == 0 { // a quotation that is not closed
		text := pick(rnd, letters) + pick(rnd, letters)
		front := e.root
		e.root = node{front.pattern + `\Q` + text, func(rnd *rand.Rand) string { return front.sample(rnd) + text }, false}
	}
	if rnd.IntN(6) == 0 { // over two lines
		front, back := e.root, literal(rnd)
		e.root = node{front.pattern + `\n` + back.pattern, func(rnd *rand.Rand) string { return front.sample(rnd) + "\n" + back.sample(rnd) }, false}
	}
	e.Pattern = e.root.pattern
	return e
}

// Regexp compiles the expression with the standard package, for one line, or with Multiline
// for a text. It fails for what the standard package refuses.
func (e *Expression) Regexp() (*regexp.Regexp, error) {
	flags := ""
	if e.Fold {
		flags += "i"
	}
	if e.Multiline {
		flags += "sm"
	}
	if flags != "" {
		flags = "(?" + flags + ")"
	}
	return regexp.Compile(flags + e.Pattern)
}

// letters are few, so that texts that were not drawn from an expression match it, too.
// K, the Kelvin sign, and the long s equal ASCII letters when case is ignored.
var letters = []string{"a", "b", "n", "e", "d", "l", "n", "e", "s", "k", "A", "E", "K", "\u212a", "ſ", "é", "É", "_", "7", "0", " ", "-", ".", "日"}

// noise stands between the drawn strings of a text.
var noise = []string{"\n", "\n", "\n", "\n", "\r\n", "\r\n", "\r", "a", "e", "ne", "needle", "dl", " ", "_", "7", "é", "ſ", "\t", "x", "\xff", "\xc3", "\xe6\x97", "\ufffd"}

func pick[T any](rnd *rand.Rand, all []T) T { return all[rnd.IntN(len(all))] }

func fixed(s string) func(*rand.Rand) string { return func(*rand.Rand) string { return s } }

// draw returns a part that is nested at most depth deep.
func draw(rnd *rand.Rand, depth int) node {
	if depth == 0 {
		return leaf(rnd)
	}
	switch rnd.IntN(12) {
	case 0, 1, 2, 3:
		return concat(rnd, depth-1)
	case 4, 5:
		return alternate(rnd, depth-1)
	case 6, 7, 8:
		return repeat(rnd, depth-1)
	case 9, 10:
		return group(rnd, depth-1)
	}
	return leaf(rnd)
}

func leaf(rnd *rand.Rand) node {
	switch rnd.IntN(10) {
	case 0, 1, 2, 3, 4:
		return literal(rnd)
	case 5, 6, 7:
		return class(rnd)
	case 8:
		return empty(rnd)
	}
	return escaped(rnd)
}

func literal(rnd *rand.Rand) node {
	var text string
	n := 1 + rnd.IntN(4)
	for range n {
		text += pick(rnd, letters)
	}
	switch rnd.IntN(12) {
	case 0:
		return node{`\Q` + text + `\E`, fixed(text), false}
	case 1:
		return node{"(?i)" + regexp.QuoteMeta(text), func(rnd *rand.Rand) string { return otherCase(rnd, text) }, false}
	}
	return node{regexp.QuoteMeta(text), fixed(text), n == 1}
}

// escaped is a character that is written in another way than as itself.
func escaped(rnd *rand.Rand) node {
	one := pick(rnd, []struct{ pattern, text string }{
		{`\x61`, "a"}, {`\x{e9}`, "é"}, {`\x{FFFD}`, "\xff"}, {`\x{FFFD}`, "\ufffd"}, {`\x{FFFD}e`, "\xffe"}, {`\n`, "\n"}, {`\n`, "\r\n"},
		{`\r`, "\r"}, {`\r\n`, "\r\n"}, {`\t`, "\t"}, {`\141`, "a"}, {`e\nd`, "e\nd"}, {`e\nd`, "e\r\nd"}, {`ne\rd`, "ne\rd"}, {`\x{212a}`, "\u212a"},
	})
	return node{one.pattern, fixed(one.text), false}
}

var classes = []struct {
	pattern string
	members string
}{
	{".", "aneé7 _"}, {"[ab]", "ab"}, {"[^a]", "bnk7"}, {"[a-e]", "abde"}, {"[^\\n]", "an\r"}, {`\w`, "ae_7"}, {`\W`, " -é"}, {`\d`, "07"},
	{`\D`, "a "}, {`\s`, " \t\n"}, {`\S`, "an"}, {`[[:upper:]]`, "AEK"}, {`[^[:alpha:]]`, "7 _"}, {`\pL`, "aé日"}, {`\PL`, "7 "}, {`[é-ü]`, "éü"}, {`[n]`, "n"},
	{`[ee]`, "e"}, {`[kK]`, "kK"}, {`[^\r]`, "ab"}, {`(?s:.)`, "a\n"}, {`[\x{FFFD}a]`, "a\ufffd"}, {`[\s\S]`, "a\n "}, {`(?i:[k])`, "kK\u212a"}, {`\p{Greek}`, "α"}, {`[_\d]`, "_7"},
	{`[\n]`, "\n"},
}

func class(rnd *rand.Rand) node {
	c := pick(rnd, classes)
	members := []rune(c.members)
	return node{c.pattern, func(rnd *rand.Rand) string { return string(pick(rnd, members)) }, true}
}

// empty is a part that takes no character.
func empty(rnd *rand.Rand) node {
	return pick(rnd, []node{
		{"^", fixed(""), false}, {"$", fixed(""), false}, {`\A`, fixed(""), false}, {`\z`, fixed(""), false}, {`\b`, fixed(""), false}, {`\B`, fixed(""), false},
		{"(?m:^)", fixed("\n"), false}, {"(?m:$)", fixed(""), false}, {"()", fixed(""), true}, {"(?:)", fixed(""), true}, {"(|)", fixed(""), true}, {"(?-m:^)", fixed(""), false}, {"(?-m:$)", fixed(""), false},
	})
}

func concat(rnd *rand.Rand, depth int) node {
	var parts []node
	for range 2 + rnd.IntN(3) {
		parts = append(parts, draw(rnd, depth))
	}
	var b strings.Builder
	for _, p := range parts {
		if strings.Contains(p.pattern, "|") && rnd.IntN(4) > 0 {
			p.pattern = "(?:" + p.pattern + ")"
		}
		b.WriteString(p.pattern)
	}
	return node{b.String(), func(rnd *rand.Rand) string {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(p.sample(rnd))
		}
		return b.String()
	}, false}
}

func alternate(rnd *rand.Rand, depth int) node {
	var parts []node
	var patterns []string
	for range 2 + rnd.IntN(2) {
		p := node{"", fixed(""), true}
		if rnd.IntN(6) > 0 {
			p = draw(rnd, depth)
		}
		parts, patterns = append(parts, p), append(patterns, p.pattern)
	}
	return node{"(" + pick(rnd, []string{"", "?:"}) + strings.Join(patterns, "|") + ")", func(rnd *rand.Rand) string { return pick(rnd, parts).sample(rnd) }, true}
}

func repeat(rnd *rand.Rand, depth int) node {
	sub := draw(rnd, depth)
	lo, hi, sign := 0, 3, "*"
	switch rnd.IntN(8) {
	case 0, 1, 2:
		lo, sign = 1, "+"
	case 3:
		hi, sign = 1, "?"
	case 4:
		lo = rnd.IntN(4)
		hi, sign = lo, fmt.Sprintf("{%d}", lo)
	case 5:
		lo = rnd.IntN(3)
		hi = lo + 1 + rnd.IntN(2)
		sign = fmt.Sprintf("{%d,%d}", lo, hi)
	case 6:
		lo = rnd.IntN(3)
		hi, sign = lo+2, fmt.Sprintf("{%d,}", lo)
	}
	pattern := sub.pattern
	switch {
	case rnd.IntN(3) == 0:
		pattern = "(" + pattern + ")" // a capture around what is repeated
	case !sub.tight:
		pattern = "(?:" + pattern + ")"
	}
	pattern += sign + pick(rnd, []string{"", "", "", "?"})
	if rnd.IntN(3) == 0 {
		pattern = "(" + pattern + ")" // a capture around the repetition
	}
	return node{pattern, func(rnd *rand.Rand) string {
		var b strings.Builder
		for range lo + rnd.IntN(hi-lo+1) {
			b.WriteString(sub.sample(rnd))
		}
		return b.String()
	}, strings.HasSuffix(pattern, ")")}
}

func group(rnd *rand.Rand, depth int) node {
	sub := draw(rnd, depth)
	open := pick(rnd, []string{"(", "(", "(", "(?:", "(?P<name>", "(?i:", "(?i:", "(?s:", "(?m:", "(?U:", "(?-i:", "(?-s:", "(?im:"})
	sample := sub.sample
	if strings.HasPrefix(open, "(?i") {
		sample = func(rnd *rand.Rand) string { return otherCase(rnd, sub.sample(rnd)) }
	}
	return node{open + sub.pattern + ")", sample, true}
}

// otherCase writes some characters of a text in another case.
func otherCase(rnd *rand.Rand, text string) string {
	return strings.Map(func(r rune) rune {
		for range rnd.IntN(3) {
			r = unicode.SimpleFold(r)
		}
		return r
	}, text)
}

// Text draws a text of a few lines that holds strings drawn from the expression: some as they
// are, some with a character more, less or changed.
func (e *Expression) Text(rnd *rand.Rand) []byte {
	var text []byte
	for range 1 + rnd.IntN(6) {
		for range rnd.IntN(4) {
			text = append(text, pick(rnd, noise)...)
		}
		if rnd.IntN(4) > 0 {
			text = append(text, e.drawn(rnd)...)
		}
	}
	return text
}

func (e *Expression) drawn(rnd *rand.Rand) string {
	s := e.root.sample(rnd)
	if e.Fold {
		s = otherCase(rnd, s)
	}
	if s == "" || rnd.IntN(3) > 0 {
		return s
	}
	at := rnd.IntN(len(s))
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	_, size := utf8.DecodeRuneInString(s[at:])
	switch rnd.IntN(4) {
	case 0:
		return s[:at] + s[at+size:]
	case 1:
		return s[:at+size] + s[at:]
	case 2:
		return s[:at] + pick(rnd, noise) + s[at+size:]
	}
	return s[:at] + pick(rnd, letters) + s[at:]
}

// Lines returns where the lines begin that an expression matches, each by itself and without
// its line ending, by the standard package.
func Lines(re *regexp.Regexp, text []byte) (starts []int) {
	for at := 0; at < len(text); {
		end, after := at, len(text)
		if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
			end, after = at+i, at+i+1
			if end > at && text[end-1] == '\r' {
				end--
			}
		} else {
			end = len(text)
		}
		if re.Match(text[at:end]) {
			starts = append(starts, at)
		}
		at = after
	}
	return starts
}

// Touched returns where the lines begin that matches of a Multiline expression touch, by the
// standard package. An empty text has no line, and an empty match behind the last line
// touches none.
func Touched(re *regexp.Regexp, text []byte) (starts []int) {
	behind := 0 // the lines that are noted
	for _, m := range re.FindAllIndex(text, -1) {
		from, to := m[0], max(m[0], m[1]-1)
		if from == len(text) && (from == 0 || text[from-1] == '\n') {
			continue
		}
		if from >= behind {
			behind = bytes.LastIndexByte(text[:from], '\n') + 1
		}
		for behind <= to {
			starts = append(starts, behind)
			if i := bytes.IndexByte(text[behind:], '\n'); i >= 0 {
				behind += i + 1
			} else {
				behind = len(text) + 1
			}
		}
	}
	return starts
}
