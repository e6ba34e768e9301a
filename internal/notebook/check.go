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
// the rest of the package may walk the bytes without looking back. Its first
// error stays; behind it there is nothing left to read, so that whoever reads
// on comes to an end.
type checker struct {
	raw []byte
	pos int
	err *ParseError
}

// file reads raw as one JSON value in UTF-8, perhaps behind a byte order mark,
// nested no deeper than MaxDepth. value reads that value.
func (c *checker) file(value func()) {
	if at := invalidUTF8(c.raw); at >= 0 {
		c.pos = at
		c.fail(NotUTF8, "not UTF-8")
		return
	}
	if bytes.HasPrefix(c.raw, []byte(bom)) {
		c.pos = len(bom)
	}
	c.space()
	value()
	if c.space(); c.pos < len(c.raw) {
		c.unexpected("behind the end of the JSON value")
	}
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

func (c *checker) fail(f Fault, what string) {
	if c.err == nil {
		c.err = &ParseError{f, int64(c.pos), what}
	}
	c.pos = len(c.raw)
}

// unexpected fails at the byte that stands at pos.
func (c *checker) unexpected(where string) {
	if c.pos >= len(c.raw) {
		c.fail(Malformed, "unexpected end "+where)
		return
	}
	r, _ := utf8.DecodeRune(c.raw[c.pos:])
	c.fail(Malformed, fmt.Sprintf("unexpected %s %s", strconv.QuoteRune(r), where))
}

func (c *checker) space() { c.pos = skipSpace(c.raw, c.pos) }

// at tells whether b stands at pos.
func (c *checker) at(b byte) bool { return c.pos < len(c.raw) && c.raw[c.pos] == b }

// take moves over b if it stands at pos.
func (c *checker) take(b byte) bool {
	if c.at(b) {
		c.pos++
		return true
	}
	return false
}

// value reads the value that begins at pos.
func (c *checker) value(depth int) {
	if c.pos >= len(c.raw) {
		c.unexpected("in place of a value")
		return
	}
	switch b := c.raw[c.pos]; {
	case b == '"':
		c.str()
	case b == '{':
		c.object(depth)
	case b == '[':
		c.array(depth)
	case b == '-' || isDigit(b):
		c.number()
	case b == 't':
		c.word("true")
	case b == 'f':
		c.word("false")
	case b == 'n':
		c.word("null")
	default:
		c.unexpected("in place of a value")
	}
}

func (c *checker) object(depth int) {
	for more := c.open('}', depth); more; more = c.next('}') {
		c.key()
		c.value(depth + 1)
	}
}

// array tells also whether there are none but strings in it.
func (c *checker) array(depth int) (strings bool) {
	strings = true
	for more := c.open(']', depth); more; more = c.next(']') {
		if c.at('"') {
			c.str()
			continue
		}
		strings = false
		c.value(depth + 1)
	}
	return strings
}

// open moves over a bracket and tells whether anything is in it.
func (c *checker) open(end byte, depth int) (more bool) {
	if depth > MaxDepth {
		c.fail(TooDeep, fmt.Sprintf("nested deeper than %d", MaxDepth))
		return false
	}
	c.pos++
	c.space()
	return !c.take(end)
}

// next moves over what follows a value, a comma or the container's end, and
// tells whether another value must come.
func (c *checker) next(end byte) (more bool) {
	if c.space(); c.pos < len(c.raw) {
		switch c.raw[c.pos] {
		case ',':
			c.pos = skipSpace(c.raw, c.pos+1)
			return true
		case end:
			c.pos++
			return false
		}
	}
	c.unexpected(fmt.Sprintf("in place of ',' or %q", end))
	return false
}

// key reads a key and moves on to its value.
func (c *checker) key() extent {
	key := extent{start: c.pos}
	if !c.at('"') {
		c.unexpected("in place of a key")
		return key
	}
	c.str()
	key.end = c.pos
	if c.space(); !c.take(':') {
		c.unexpected("in place of ':'")
	}
	c.space()
	return key
}

func (c *checker) str() {
	raw, at := c.raw, c.pos+1
	for at+8 <= len(raw) {
		marks := stringMarks(word(raw, at))
		if marks == 0 {
			at += 8
			continue
		}
		at += bits.TrailingZeros64(marks) / 8
		behind := skipEscapes(raw, at)
		if raw[behind] == '"' {
			c.pos = behind + 1
			return
		}
		if behind == at {
			break
		}
		at = behind
	}
	c.pos = at
	c.restOfString()
}

// skipEscapes moves over the escapes that stand at at one behind the other,
// those apart with which the file ends.
func skipEscapes(raw []byte, at int) int {
	for at+6 < len(raw) && raw[at] == '\\' {
		switch e := (*[6]byte)(raw[at:]); {
		case e[1] == 'u' && hexDigit[e[2]]|hexDigit[e[3]]|hexDigit[e[4]]|hexDigit[e[5]] < 16:
			at += 6
		case shortEscape[e[1]] != 0:
			at += 2
		default:
			return at
		}
	}
	return at
}

// restOfString reads on byte by byte, to the string's end or to what is wrong
// with it.
func (c *checker) restOfString() {
	for ; c.pos < len(c.raw) && !c.at('"'); c.pos++ {
		if plain[c.raw[c.pos]] {
			continue
		}
		size := escapeSize(c.raw[c.pos:])
		switch {
		case size > 0:
			c.pos += size - 1
		case !c.at('\\'):
			c.unexpected("inside a string")
		case c.pos+1 == len(c.raw):
			c.pos++
			c.unexpected("inside an escape")
		default:
			c.fail(BadEscape, "invalid escape")
		}
	}
	if !c.take('"') {
		c.unexpected("inside a string")
	}
}

// What a word of eight bytes is looked at with: a one in each byte, and each
// byte's highest bit.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// word is eight bytes, the first of them lowest.
func word(raw []byte, at int) uint64 { return binary.LittleEndian.Uint64(raw[at:]) }

// zeroBytes marks the bytes of a word that are zero by their highest bit. Behind
// the first of them it may mark others too.
func zeroBytes(x uint64) uint64 { return (x - ones) &^ x & highs }

// stringMarks marks the bytes that do not stand for themselves inside a string,
// as zeroBytes does: those below a blank, quotes and backslashes.
func stringMarks(x uint64) uint64 {
	return (x-ones*' ')&^x&highs | zeroBytes(x^ones*'"') | zeroBytes(x^ones*'\\')
}

// shortEscape are the characters that a backslash and one more byte stand for, 0 where
// they are no escape.
var shortEscape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escapeSize is how many bytes the escape takes that b begins with, 0 if it
// begins with none.
func escapeSize(b []byte) int {
	switch {
	case len(b) < 2 || b[0] != '\\':
		return 0
	case shortEscape[b[1]] != 0:
		return 2
	case b[1] == 'u' && len(b) >= 6 && hexDigit[b[2]]|hexDigit[b[3]]|hexDigit[b[4]]|hexDigit[b[5]] < 16:
		return 6
	}
	return 0
}

// hexDigit is what the hexadecimal digits stand for, 255 for all else.
var hexDigit = func() (t [256]byte) {
	for c := range t {
		t[c] = 255
	}
	for i, c := range "0123456789abcdef" {
		t[c] = byte(i)
	}
	for i, c := range "ABCDEF" {
		t[c] = byte(10 + i)
	}
	return t
}()

// hex4 reads the four hexadecimal digits of a \u escape.
func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	h := [4]rune{rune(hexDigit[b[0]]), rune(hexDigit[b[1]]), rune(hexDigit[b[2]]), rune(hexDigit[b[3]])}
	return h[0]<<12 | h[1]<<8 | h[2]<<4 | h[3], h[0]|h[1]|h[2]|h[3] < 16
}

func (c *checker) number() {
	c.take('-')
	ok := c.take('0') || c.digits()
	if ok && c.take('.') {
		ok = c.digits()
	}
	if ok && (c.take('e') || c.take('E')) {
		if !c.take('+') {
			c.take('-')
		}
		ok = c.digits()
	}
	if !ok {
		c.unexpected("inside a number")
	}
}

// digits moves over digits and tells whether there was one.
func (c *checker) digits() bool {
	from := c.pos
	for c.pos < len(c.raw) && isDigit(c.raw[c.pos]) {
		c.pos++
	}
	return c.pos > from
}

func (c *checker) word(w string) {
	if !bytes.HasPrefix(c.raw[c.pos:], []byte(w)) {
		c.unexpected("in place of a value")
		return
	}
	c.pos += len(w)
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
