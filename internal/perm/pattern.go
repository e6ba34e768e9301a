package perm

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// errNeverMatches says that git, too, would match nothing with a pattern: a
// bracket is not closed, a class unknown, or a backslash the last character.
var errNeverMatches = errors.New("matches nothing")

// A pattern is a gitignore pattern taken apart, without its anchor. It covers
// what it matches and everything below.
type pattern struct {
	segs    []segment
	dirOnly bool // ended in a slash
	slash   bool // has another slash, so that it does not float
	// also is a second pattern that the source stands for, mostly nil (see crossing).
	also *pattern
}

type segmentKind uint8

const (
	literal segmentKind = iota // exactly text
	glob                       // what tokens match
	anyName                    // every name
	deep                       // any number of segments, also none
)

type segment struct {
	kind segmentKind
	// text is the name of a literal, and of a glob its spelling.
	text   string
	tokens []token
	// anchor marks segments that come from a directory's name, not from the rule.
	anchor bool
}

type tokenKind uint8

const (
	run   tokenKind = iota // literal text
	one                    // ?
	class                  // [...]
	star                   // *
)

type token struct {
	kind tokenKind
	text string
	set  *charClass
}

// parsePattern reads a gitignore pattern. Empty and "." segments are dropped
// and ".." ones kept as literals: the caller knows what lies above.
func parsePattern(src string) (pattern, error) {
	src, dirOnly := strings.CutSuffix(trimBlanks(src), "/")
	return parseGlued(src, dirOnly, strings.Contains(src, "/"), maxGlued)
}

// maxGlued bounds what one pattern can stand for besides (see crossing): rules have
// one such run of stars, and each more takes as much room as the whole pattern.
const maxGlued = 4

func parseGlued(src string, dirOnly, slash bool, glue int) (pattern, error) {
	p := pattern{dirOnly: dirOnly, slash: slash}
	ps := patternParser{src: src, plain: true}
	for more := true; more; {
		var segs []segment
		var err error
		if segs, more, err = ps.segment(slash); err != nil {
			return pattern{}, err
		}
		p.segs = appendSegment(p.segs, segs...)
	}
	if ps.glued == "" || glue == 0 {
		return p, nil
	}
	also, err := parseGlued(ps.glued, dirOnly, slash, glue-1)
	p.also = &also
	return p, err
}

// trimBlanks removes blanks at the end but for one that a backslash protects.
func trimBlanks(s string) string {
	t := strings.TrimRight(s, " ")
	slashes := len(t) - len(strings.TrimRight(t, `\`))
	if slashes%2 == 1 && len(t) < len(s) {
		return s[:len(t)+1]
	}
	return t
}

// appendSegment adds segments, leaving out those that mean nothing.
func appendSegment(segs []segment, add ...segment) []segment {
	for _, s := range add {
		switch {
		case s.kind == literal && (s.text == "" || s.text == "."):
		case s.kind == deep && len(segs) > 0 && segs[len(segs)-1].kind == deep:
		default:
			segs = append(segs, s)
		}
	}
	return segs
}

type patternParser struct {
	src   string
	pos   int
	plain bool // nothing special was seen so far
	// glued is the pattern without the stars that cross slashes after a name,
	// and without the slash behind them.
	glued string
}

// segment reads up to the next slash and reports whether one followed. It may
// give two segments, for stars that reach over their own.
func (p *patternParser) segment(slashed bool) (segs []segment, more bool, err error) {
	start := p.pos
	var toks []token
	for p.pos < len(p.src) && p.src[p.pos] != '/' {
		if strings.HasPrefix(p.src[p.pos:], `\/`) {
			break
		}
		wasPlain := p.plain
		t, stars, err := p.token()
		if err != nil {
			return nil, false, err
		}
		toks = appendToken(toks, t)
		if segs := p.crossing(toks, stars, slashed, wasPlain, start); segs != nil {
			return segs, p.slash(), nil
		}
	}
	return []segment{newSegment(toks, p.src[start:p.pos])}, p.slash(), nil
}

// crossing recognises stars that cross slashes: two or more that are a whole
// segment, and, as git has it, two or more that end a segment and are the first
// special characters of the pattern ("foo**/bar" also matches foox/y/bar, and,
// since "**/" may stand for nothing at all, even foobar).
func (p *patternParser) crossing(toks []token, stars int, slashed, wasPlain bool, start int) []segment {
	rest := p.src[p.pos:]
	escapedSlash := strings.HasPrefix(rest, `\/`)
	if stars < 2 || !slashed || (rest != "" && rest[0] != '/' && !escapedSlash) {
		return nil
	}
	across := segment{kind: deep}
	switch {
	case len(toks) == 1 && escapedSlash:
		// Git's zero-depth form needs a bare slash after the stars.
		return []segment{{kind: anyName}, across}
	case len(toks) == 1:
		return []segment{across}
	case wasPlain && rest != "":
		if after, ok := strings.CutPrefix(rest, "/"); ok {
			p.glued = p.src[:p.pos-stars] + after
		}
		return []segment{newSegment(toks, p.src[start:p.pos]), across}
	}
	return nil
}

// slash steps over the slash after a segment, if there is one.
func (p *patternParser) slash() bool {
	if p.pos >= len(p.src) {
		return false
	}
	if p.src[p.pos] == '\\' {
		p.pos++
		p.plain = false
	}
	p.pos++
	return true
}

// token reads one token; stars is the length of a run of stars.
func (p *patternParser) token() (t token, stars int, err error) {
	switch c := p.src[p.pos]; c {
	case '*':
		for p.pos < len(p.src) && p.src[p.pos] == '*' {
			stars++
			p.pos++
		}
		p.plain = false
		return token{kind: star}, stars, nil
	case '?':
		p.pos++
		p.plain = false
		return token{kind: one}, 0, nil
	case '[':
		p.plain = false
		set, n, err := parseClass(p.src[p.pos:])
		p.pos += n
		return token{kind: class, set: set}, 0, err
	case '\\':
		p.plain = false
		p.pos++
		if p.pos >= len(p.src) {
			return token{}, 0, errNeverMatches
		}
	}
	_, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	return token{kind: run, text: p.src[p.pos-n : p.pos]}, 0, nil
}

// appendToken joins literal text, and stars that follow each other.
func appendToken(toks []token, t token) []token {
	if len(toks) > 0 {
		last := &toks[len(toks)-1]
		if t.kind == star && last.kind == star {
			return toks
		}
		if t.kind == run && last.kind == run {
			last.text += t.text
			return toks
		}
	}
	return append(toks, t)
}

func newSegment(toks []token, spelling string) segment {
	switch {
	case len(toks) == 0:
		return segment{kind: literal}
	case len(toks) == 1 && toks[0].kind == run:
		return segment{kind: literal, text: toks[0].text}
	case len(toks) == 1 && toks[0].kind == star:
		return segment{kind: anyName}
	}
	return segment{kind: glob, text: spelling, tokens: toks}
}

// matchTokens reports whether the tokens match the whole of s. Its work is at
// most the product of both lengths: only the last star passed is ever reopened.
func matchTokens(toks []token, s string) bool {
	t, i := 0, 0
	reopen, share := -1, 0 // the token after the last star, and where its text begins
	for {
		switch {
		case t == len(toks) && i == len(s):
			return true
		case t < len(toks) && toks[t].kind == star:
			t++
			if t == len(toks) {
				return true
			}
			reopen, share = t, i
			continue
		case t < len(toks):
			if n := toks[t].take(s[i:]); n > 0 {
				t++
				i += n
				continue
			}
		}
		if reopen < 0 || share == len(s) {
			return false
		}
		_, n := utf8.DecodeRuneInString(s[share:])
		share += n
		t, i = reopen, share
	}
}

// take returns how many bytes at the start of s the token matches, 0 for none.
func (t *token) take(s string) int {
	if s == "" {
		return 0
	}
	if t.kind == run {
		if strings.HasPrefix(s, t.text) {
			return len(t.text)
		}
		return 0
	}
	r, n := utf8.DecodeRuneInString(s)
	if t.kind == class && !t.set.has(r, n) {
		return 0
	}
	return n
}

// foldTokens returns the tokens that match folded names.
func foldTokens(toks []token, strict bool) []token {
	out := make([]token, 0, len(toks))
	for _, t := range toks {
		switch {
		case t.kind == run && strict:
			t.text = foldText(t.text)
		case t.kind == run:
			t.text = foldCase(t.text)
		case t.kind == class:
			t.set = t.set.folded(strict)
		}
		if t.kind == run && t.text == "" {
			continue // nothing but characters that folding removes
		}
		out = appendToken(out, t)
	}
	return out
}
