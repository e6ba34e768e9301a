package glob

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A charClass is a bracket expression.
type charClass struct {
	negated bool
	ranges  []runeRange
	// anyCase lets a rune in when one that differs in case only is a member.
	anyCase bool
	ascii   [2]uint64 // which ASCII characters belong to the class
}

type runeRange struct{ lo, hi rune }

// has reports whether a character of n bytes belongs to the class. A stray byte
// (n is 1 and r the replacement rune) belongs to no range.
func (c *charClass) has(r rune, n int) bool {
	if r < utf8.RuneSelf {
		return c.ascii[r/64]>>(r%64)&1 != 0
	}
	stray := r == utf8.RuneError && n == 1
	return (!stray && c.member(r)) != c.negated
}

// prepare fills in ascii once the members are known: the class is asked for each
// character of each name that its pattern may match.
func (c *charClass) prepare() *charClass {
	for r := range rune(utf8.RuneSelf) {
		if c.member(r) != c.negated {
			c.ascii[r/64] |= 1 << (r % 64)
		}
	}
	return c
}

func (c *charClass) member(r rune) bool {
	if c.lists(r) {
		return true
	}
	if c.anyCase {
		for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
			if c.lists(o) {
				return true
			}
		}
	}
	return false
}

func (c *charClass) lists(r rune) bool {
	return slices.ContainsFunc(c.ranges, func(x runeRange) bool { return x.lo <= r && r <= x.hi })
}

// folded returns the class for folded names: members count in every case, and
// under strict folding with the form that it gives them.
func (c *charClass) folded(strict bool) *charClass {
	f := &charClass{negated: c.negated, ranges: slices.Clone(c.ranges), anyCase: true}
	if !strict {
		return f.prepare()
	}
	for _, x := range c.ranges {
		lo, okLo := foldedRune(x.lo)
		hi, okHi := foldedRune(x.hi)
		if okLo && okHi && lo <= hi {
			f.ranges = append(f.ranges, runeRange{lo, hi})
		}
	}
	return f.prepare()
}

// foldedRune folds one rune, if that gives one rune again.
func foldedRune(r rune) (rune, bool) {
	s := FoldText(string(r))
	f, n := utf8.DecodeRuneInString(s)
	return f, n > 0 && n == len(s)
}

// ParseClass reads the bracket expression that s starts with and returns its
// length. What it accepts and how it reads odd spellings is git's way.
func ParseClass(s string) (*charClass, int, error) {
	p := classParser{src: s, pos: 1}
	c := &charClass{}
	if p.at("!") || p.at("^") {
		c.negated = true
		p.pos++
	}
	for first := true; first || !p.at("]"); first = false {
		if p.pos >= len(s) {
			return nil, len(s), ErrNeverMatches
		}
		if err := p.member(c); err != nil {
			return nil, len(s), err
		}
	}
	return c.prepare(), p.pos + 1, nil
}

type classParser struct {
	src  string
	pos  int
	prev rune // where a range may start, 0 after a range or a named class
}

func (p *classParser) at(s string) bool { return strings.HasPrefix(p.src[p.pos:], s) }

// member reads one member: a character, a range's end, or a named class.
func (p *classParser) member(c *charClass) error {
	if p.at("[:") {
		if done, err := p.namedClass(c); done || err != nil {
			return err
		}
	}
	if p.at("-") && p.prev != 0 && p.pos+1 < len(p.src) && !strings.HasPrefix(p.src[p.pos+1:], "]") {
		p.pos++
		hi, err := p.char()
		if err != nil {
			return err
		}
		c.ranges = append(c.ranges, runeRange{p.prev, hi})
		p.prev = 0
		return nil
	}
	r, err := p.char()
	if err != nil {
		return err
	}
	c.ranges = append(c.ranges, runeRange{r, r})
	p.prev = r
	return nil
}

// char reads a character, escaped or not.
func (p *classParser) char() (rune, error) {
	if p.at(`\`) {
		p.pos++
		if p.pos >= len(p.src) {
			return 0, ErrNeverMatches
		}
	}
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += n
	return r, nil
}

// namedClass reads "[:name:]". Without the closing ":]" the bracket is a
// member like any other, and done is false.
func (p *classParser) namedClass(c *charClass) (done bool, err error) {
	rest := p.src[p.pos+len("[:"):]
	end := strings.IndexByte(rest, ']')
	if end < 0 {
		return false, ErrNeverMatches
	}
	name, closed := strings.CutSuffix(rest[:end], ":")
	if !closed {
		return false, nil
	}
	bounds, known := posixClasses[name]
	if !known {
		return false, ErrNeverMatches
	}
	for i := 0; i < len(bounds); i += 2 {
		c.ranges = append(c.ranges, runeRange{rune(bounds[i]), rune(bounds[i+1])})
	}
	p.pos += len("[:") + end + len("]")
	p.prev = 0
	return true, nil
}

// posixClasses are the POSIX classes over ASCII, each with the bounds of its ranges.
var posixClasses = map[string]string{
	"alnum":  "09AZaz",
	"alpha":  "AZaz",
	"blank":  "\t\t  ",
	"cntrl":  "\x00\x1f\x7f\x7f",
	"digit":  "09",
	"graph":  "!~",
	"lower":  "az",
	"print":  " ~",
	"punct":  "!/:@[`{~",
	"space":  "\t\n\r\r  ", // git's idea of space
	"upper":  "AZ",
	"xdigit": "09AFaf",
}

// IsAlpha reports whether a byte is an ASCII letter.
func IsAlpha(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
