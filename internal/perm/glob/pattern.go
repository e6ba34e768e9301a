// Package glob parses and matches gitignore patterns, and folds names that count as equal.
//
// It promises that a pattern matches the names that git would ignore (git is asked in the
// tests of perm), in time bounded by the product of both lengths, and that folding joins
// only spellings of one name: case, compatibility forms, invisible characters. It does not
// know rules, directories or operations. path/filepath and doublestar were no choice:
// neither has gitignore's anchors and "**" within a segment.
package glob

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// ErrNeverMatches says that git, too, would match nothing with a pattern: a
// bracket is not closed, a class unknown, or a backslash the last character.
var ErrNeverMatches = errors.New("matches nothing")

// A Pattern is a gitignore pattern taken apart, without its anchor. It covers
// what it matches and everything below.
type Pattern struct {
	Segments []Segment
	DirOnly  bool // ended in a slash
	Slash    bool // has another slash, so that it does not float
	// Also is a second pattern that the source stands for, mostly nil (see crossing).
	Also *Pattern
}

// SegmentKind says what a segment matches.
type SegmentKind uint8

const (
	Exact    SegmentKind = iota // exactly text
	Wildcard                    // what tokens match
	AnyName                     // every name
	Deep                        // any number of segments, also none
)

// Segment is the part of a pattern between two slashes.
type Segment struct {
	Kind SegmentKind
	// Text is the name of a literal, and of a glob its spelling.
	Text   string
	Tokens []Token
	// Anchor marks segments that come from a directory's name, not from the rule.
	Anchor bool
}

type tokenKind uint8

const (
	Run   tokenKind = iota // literal text
	One                    // ?
	Class                  // [...]
	Star                   // *
)

// Token is a part of a wildcard segment.
type Token struct {
	Kind tokenKind
	Text string
	Set  *charClass
}

// Parse reads a gitignore pattern. Empty and "." segments are dropped
// and ".." ones kept as literals: the caller knows what lies above.
func Parse(src string) (Pattern, error) {
	src, dirOnly := strings.CutSuffix(TrimBlanks(src), "/")
	return parseGlued(src, dirOnly, strings.Contains(src, "/"), maxGlued)
}

// maxGlued bounds what one pattern can stand for besides (see crossing): rules have
// one such run of stars, and each more takes as much room as the whole pattern.
const maxGlued = 4

func parseGlued(src string, dirOnly, slash bool, glue int) (Pattern, error) {
	p := Pattern{DirOnly: dirOnly, Slash: slash}
	ps := patternParser{src: src, plain: true}
	for more := true; more; {
		var segs []Segment
		var err error
		if segs, more, err = ps.segment(slash); err != nil {
			return Pattern{}, err
		}
		p.Segments = Append(p.Segments, segs...)
	}
	if ps.glued == "" || glue == 0 {
		return p, nil
	}
	also, err := parseGlued(ps.glued, dirOnly, slash, glue-1)
	p.Also = &also
	return p, err
}

// TrimBlanks removes blanks at the end, except one that a backslash protects.
func TrimBlanks(s string) string {
	t := strings.TrimRight(s, " ")
	slashes := len(t) - len(strings.TrimRight(t, `\`))
	if slashes%2 == 1 && len(t) < len(s) {
		return s[:len(t)+1]
	}
	return t
}

// Append adds segments, leaving out those that mean nothing.
func Append(segs []Segment, add ...Segment) []Segment {
	for _, s := range add {
		switch {
		case s.Kind == Exact && (s.Text == "" || s.Text == "."):
		case s.Kind == Deep && len(segs) > 0 && segs[len(segs)-1].Kind == Deep:
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
func (p *patternParser) segment(slashed bool) (segs []Segment, more bool, err error) {
	start := p.pos
	var toks []Token
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
	return []Segment{newSegment(toks, p.src[start:p.pos])}, p.slash(), nil
}

// crossing recognises stars that cross slashes: two or more that are a whole
// segment, and, as git has it, two or more that end a segment and are the first
// special characters of the pattern ("foo**/bar" also matches foox/y/bar, and,
// since "**/" may stand for nothing at all, even foobar).
func (p *patternParser) crossing(toks []Token, stars int, slashed, wasPlain bool, start int) []Segment {
	rest := p.src[p.pos:]
	escapedSlash := strings.HasPrefix(rest, `\/`)
	if stars < 2 || !slashed || (rest != "" && rest[0] != '/' && !escapedSlash) {
		return nil
	}
	across := Segment{Kind: Deep}
	switch {
	case len(toks) == 1 && escapedSlash:
		// Git's zero-depth form needs a bare slash after the stars.
		return []Segment{{Kind: AnyName}, across}
	case len(toks) == 1:
		return []Segment{across}
	case wasPlain && rest != "":
		if after, ok := strings.CutPrefix(rest, "/"); ok {
			p.glued = p.src[:p.pos-stars] + after
		}
		return []Segment{newSegment(toks, p.src[start:p.pos]), across}
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
func (p *patternParser) token() (t Token, stars int, err error) {
	switch c := p.src[p.pos]; c {
	case '*':
		for p.pos < len(p.src) && p.src[p.pos] == '*' {
			stars++
			p.pos++
		}
		p.plain = false
		return Token{Kind: Star}, stars, nil
	case '?':
		p.pos++
		p.plain = false
		return Token{Kind: One}, 0, nil
	case '[':
		p.plain = false
		set, n, err := ParseClass(p.src[p.pos:])
		p.pos += n
		return Token{Kind: Class, Set: set}, 0, err
	case '\\':
		p.plain = false
		p.pos++
		if p.pos >= len(p.src) {
			return Token{}, 0, ErrNeverMatches
		}
	}
	_, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	return Token{Kind: Run, Text: p.src[p.pos-n : p.pos]}, 0, nil
}

// appendToken joins literal text, and stars that follow each other.
func appendToken(toks []Token, t Token) []Token {
	if len(toks) > 0 {
		last := &toks[len(toks)-1]
		if t.Kind == Star && last.Kind == Star {
			return toks
		}
		if t.Kind == Run && last.Kind == Run {
			last.Text += t.Text
			return toks
		}
	}
	return append(toks, t)
}

func newSegment(toks []Token, spelling string) Segment {
	switch {
	case len(toks) == 0:
		return Segment{Kind: Exact}
	case len(toks) == 1 && toks[0].Kind == Run:
		return Segment{Kind: Exact, Text: toks[0].Text}
	case len(toks) == 1 && toks[0].Kind == Star:
		return Segment{Kind: AnyName}
	}
	return Segment{Kind: Wildcard, Text: spelling, Tokens: toks}
}

// Match reports whether the tokens match the whole of s. Its work is at
// most the product of both lengths: only the last star passed is ever reopened.
func Match(toks []Token, s string) bool {
	t, i := 0, 0
	reopen, share := -1, 0 // the token after the last star, and where its text begins
	for {
		switch {
		case t == len(toks) && i == len(s):
			return true
		case t < len(toks) && toks[t].Kind == Star:
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
func (t *Token) take(s string) int {
	if s == "" {
		return 0
	}
	if t.Kind == Run {
		if strings.HasPrefix(s, t.Text) {
			return len(t.Text)
		}
		return 0
	}
	r, n := utf8.DecodeRuneInString(s)
	if t.Kind == Class && !t.Set.has(r, n) {
		return 0
	}
	return n
}

// FoldTokens returns the tokens that match folded names.
func FoldTokens(toks []Token, strict bool) []Token {
	out := make([]Token, 0, len(toks))
	for _, t := range toks {
		switch {
		case t.Kind == Run && strict:
			t.Text = FoldText(t.Text)
		case t.Kind == Run:
			t.Text = FoldCase(t.Text)
		case t.Kind == Class:
			t.Set = t.Set.folded(strict)
		}
		if t.Kind == Run && t.Text == "" {
			continue // nothing but characters that folding removes
		}
		out = appendToken(out, t)
	}
	return out
}
