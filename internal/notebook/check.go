package notebook

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// MaxDepth is how deep values may nest.
const MaxDepth = 1000

const bom = "\xef\xbb\xbf"

// plain tells the bytes that stand for themselves inside a string.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= 0x20 && c != '"' && c != '\\'
	}
	return t
}()

// checker is a strict reader of JSON that builds nothing: once it has passed,
// the rest of the package may walk the bytes without looking back.
type checker struct {
	raw []byte
	pos int
}

// check tells whether raw is one JSON value in UTF-8, perhaps behind a byte
// order mark, nested no deeper than MaxDepth.
func check(raw []byte) error {
	if at := invalidUTF8(raw); at >= 0 {
		return &ParseError{NotUTF8, int64(at), "not UTF-8"}
	}
	c := checker{raw: raw}
	if bytes.HasPrefix(raw, []byte(bom)) {
		c.pos = len(bom)
	}
	if err := c.value(1); err != nil {
		return err
	}
	if c.space(); c.pos < len(raw) {
		return c.unexpected("behind the end of the JSON value")
	}
	return nil
}

// invalidUTF8 is the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(raw []byte) int {
	if utf8.Valid(raw) {
		return -1
	}
	for at := 0; at < len(raw); {
		r, n := utf8.DecodeRune(raw[at:])
		if r == utf8.RuneError && n <= 1 {
			return at
		}
		at += n
	}
	return -1
}

func (c *checker) fail(f Fault, what string) error {
	return &ParseError{f, int64(c.pos), what}
}

// unexpected is the error of the byte that stands at pos.
func (c *checker) unexpected(where string) error {
	if c.pos >= len(c.raw) {
		return c.fail(Malformed, "unexpected end "+where)
	}
	r, _ := utf8.DecodeRune(c.raw[c.pos:])
	return c.fail(Malformed, fmt.Sprintf("unexpected %s %s", strconv.QuoteRune(r), where))
}

func (c *checker) space() { c.pos = skipSpace(c.raw, c.pos) }

// take moves over b if it stands at pos.
func (c *checker) take(b byte) bool {
	if c.pos < len(c.raw) && c.raw[c.pos] == b {
		c.pos++
		return true
	}
	return false
}

func (c *checker) value(depth int) error {
	c.space()
	if c.pos >= len(c.raw) {
		return c.unexpected("in place of a value")
	}
	switch b := c.raw[c.pos]; {
	case b == '"':
		return c.str()
	case b == '{' || b == '[':
		if depth > MaxDepth {
			return c.fail(TooDeep, fmt.Sprintf("nested deeper than %d", MaxDepth))
		}
		if b == '{' {
			return c.object(depth)
		}
		return c.array(depth)
	case b == '-' || isDigit(b):
		return c.number()
	case b == 't':
		return c.word("true")
	case b == 'f':
		return c.word("false")
	case b == 'n':
		return c.word("null")
	}
	return c.unexpected("in place of a value")
}

func (c *checker) object(depth int) error {
	c.pos++
	if c.space(); c.take('}') {
		return nil
	}
	for {
		c.space()
		if c.pos >= len(c.raw) || c.raw[c.pos] != '"' {
			return c.unexpected("in place of a key")
		}
		if err := c.str(); err != nil {
			return err
		}
		if c.space(); !c.take(':') {
			return c.unexpected("in place of ':'")
		}
		if err := c.value(depth + 1); err != nil {
			return err
		}
		if done, err := c.next('}'); done || err != nil {
			return err
		}
	}
}

func (c *checker) array(depth int) error {
	c.pos++
	if c.space(); c.take(']') {
		return nil
	}
	for {
		if err := c.value(depth + 1); err != nil {
			return err
		}
		if done, err := c.next(']'); done || err != nil {
			return err
		}
	}
}

// next moves over what follows a value: a comma or the container's end.
func (c *checker) next(end byte) (done bool, err error) {
	c.space()
	switch {
	case c.take(','):
		return false, nil
	case c.take(end):
		return true, nil
	}
	return false, c.unexpected(fmt.Sprintf("in place of ',' or %q", end))
}

func (c *checker) str() error {
	c.pos++
	for {
		c.pos = skipPlain(c.raw, c.pos)
		if c.pos >= len(c.raw) {
			return c.unexpected("inside a string")
		}
		switch c.raw[c.pos] {
		case '"':
			c.pos++
			return nil
		case '\\':
			if err := c.escape(); err != nil {
				return err
			}
		default:
			return c.unexpected("inside a string")
		}
	}
}

// skipPlain is the offset of the first byte from at on that does not stand for
// itself inside a string. It looks at eight bytes at a time: a byte's highest
// bit comes out set where the byte is below a blank, a quote or a backslash.
// What is carried into the bytes behind such a one does no harm, as only the
// first counts.
func skipPlain(raw []byte, at int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; at+8 <= len(raw); at += 8 {
		x := binary.LittleEndian.Uint64(raw[at:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		found := ((x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash) & highs
		if found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	for at < len(raw) && plain[raw[at]] {
		at++
	}
	return at
}

func (c *checker) escape() error {
	rest := c.raw[c.pos+1:]
	if len(rest) == 0 {
		c.pos++
		return c.unexpected("inside an escape")
	}
	switch rest[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		c.pos += 2
		return nil
	case 'u':
		if _, ok := hex4(rest[1:]); ok {
			c.pos += 6
			return nil
		}
	}
	return c.fail(BadEscape, "invalid escape")
}

// hex4 reads the four hexadecimal digits of a \u escape.
func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, d := range b[:4] {
		switch {
		case isDigit(d):
			r = r<<4 | rune(d-'0')
		case 'a' <= d|0x20 && d|0x20 <= 'f':
			r = r<<4 | rune(d|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

func (c *checker) number() error {
	c.take('-')
	if !c.take('0') && !c.digits() {
		return c.unexpected("inside a number")
	}
	if c.take('.') && !c.digits() {
		return c.unexpected("inside a number")
	}
	if c.take('e') || c.take('E') {
		if !c.take('+') {
			c.take('-')
		}
		if !c.digits() {
			return c.unexpected("inside a number")
		}
	}
	return nil
}

// digits moves over digits and tells whether there was one.
func (c *checker) digits() bool {
	from := c.pos
	for c.pos < len(c.raw) && isDigit(c.raw[c.pos]) {
		c.pos++
	}
	return c.pos > from
}

func (c *checker) word(w string) error {
	if bytes.HasPrefix(c.raw[c.pos:], []byte(w)) {
		c.pos += len(w)
		return nil
	}
	return c.unexpected("in place of a value")
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
