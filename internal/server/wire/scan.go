package wire

import (
	"bytes"
	"errors"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Errors of text that is not JSON, or of a JSON string that a Go string cannot hold.
var (
	errSyntax    = errors.New("not valid JSON")
	ErrDepth     = errors.New("nested too deeply")
	errUTF8      = errors.New("not valid UTF-8")
	ErrSurrogate = errors.New("lone surrogate")
)

// MaxDepth bounds the nesting of a message. No known client nests as deep, and encoding/json,
// which reads most messages again, allows more.
const MaxDepth = 1024

// Kind is the first byte of a JSON value, '0' standing for every number.
type Kind byte

const (
	Object Kind = '{'
	Array  Kind = '['
	String Kind = '"'
	True   Kind = 't'
	False  Kind = 'f'
	Null   Kind = 'n'
	Number Kind = '0'
)

// A value is one JSON value as it was written. Strings keep their quotes.
type Value struct {
	Raw  []byte
	Kind Kind
}

// Text returns the text of a string, and "" for anything else.
func (v Value) Text() string {
	if v.Kind != String {
		return ""
	}
	text, _ := Unquote(v.Raw)
	return text
}

// scanner walks over JSON text without decoding it. Values are slices of b.
type scanner struct {
	b []byte
	i int
}

// space moves to the next byte that is no white space, and returns it (0 at
// the end).
func (s *scanner) space() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\n', '\r':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// value takes the next value whole, and checks its grammar on the way.
func (s *scanner) value() (Value, error) {
	c := s.space()
	start := s.i
	k, err := s.skip(c)
	if err != nil {
		return Value{}, err
	}
	return Value{s.b[start:s.i], k}, nil
}

// skip moves over one value that begins with c.
func (s *scanner) skip(c byte) (Kind, error) {
	switch c {
	case '{', '[':
		return Kind(c), s.container(c)
	case '"':
		return String, s.str()
	case 't':
		return True, s.word("true")
	case 'f':
		return False, s.word("false")
	case 'n':
		return Null, s.word("null")
	}
	return Number, s.number()
}

func (s *scanner) word(w string) error {
	if len(s.b)-s.i < len(w) || string(s.b[s.i:s.i+len(w)]) != w {
		return errSyntax
	}
	s.i += len(w)
	return nil
}

// number moves over a number as the grammar of JSON has it.
func (s *scanner) number() error {
	s.accept('-')
	if !s.accept('0') && s.digits() == 0 {
		return errSyntax
	}
	if s.accept('.') && s.digits() == 0 {
		return errSyntax
	}
	if s.accept('e') || s.accept('E') {
		if !s.accept('+') {
			s.accept('-')
		}
		if s.digits() == 0 {
			return errSyntax
		}
	}
	return nil
}

func (s *scanner) accept(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

func (s *scanner) digits() (n int) {
	for s.i < len(s.b) && s.b[s.i]-'0' < 10 {
		s.i++
		n++
	}
	return n
}

// container moves over an object or an array, however nested, without
// recursion: open holds one byte for each level.
func (s *scanner) container(c byte) error {
	var room [64]byte
	open := append(room[:0], c)
	s.i++
	first := true // no element yet in the innermost container
	for len(open) > 0 {
		inner := open[len(open)-1]
		c := s.space()
		if c == inner+2 { // '{'+2 is '}' and '['+2 is ']'
			s.i++
			open, first = open[:len(open)-1], false
			continue
		}
		if !first {
			if c != ',' {
				return errSyntax
			}
			s.i++
			c = s.space()
		}
		first = false
		if inner == '{' {
			if _, err := s.key(); err != nil {
				return err
			}
			c = s.space()
		}
		if c == '{' || c == '[' {
			if len(open) == MaxDepth {
				return ErrDepth
			}
			s.i++
			open, first = append(open, c), true
			continue
		}
		if _, err := s.skip(c); err != nil {
			return err
		}
	}
	return nil
}

// key moves over a member's name and its colon, and returns the name.
func (s *scanner) key() (name []byte, err error) {
	start := s.i
	if s.i >= len(s.b) || s.b[s.i] != '"' {
		return nil, errSyntax
	}
	if err := s.str(); err != nil {
		return nil, err
	}
	name = s.b[start:s.i]
	if s.space() != ':' {
		return nil, errSyntax
	}
	s.i++
	return name, nil
}

// str moves over a string, from its opening quote to behind the closing one.
// Whether its bytes are UTF-8 is left to unquote.
func (s *scanner) str() error {
	s.i++
	for {
		s.i += plain(s.b[s.i:], '"')
		if s.i >= len(s.b) {
			return errSyntax
		}
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		default: // a raw control character
			return errSyntax
		}
	}
}

func (s *scanner) escape() error {
	if s.i+1 >= len(s.b) {
		return errSyntax
	}
	switch s.b[s.i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.i += 2
		return nil
	case 'u':
		if _, ok := hex4(s.b[s.i+2:]); ok {
			s.i += 6
			return nil
		}
	}
	return errSyntax
}

// end reports whether nothing but white space is left.
func (s *scanner) end() bool { return s.space() == 0 && s.i >= len(s.b) }

// Members calls f with each member of an object, in order; the name is given
// raw, with its quotes. It stops at the first error.
func Members(object []byte, f func(name []byte, v Value) error) error {
	s := scanner{b: object}
	return s.members(func(name []byte) error {
		v, err := s.value()
		if err != nil {
			return err
		}
		return f(name, v)
	})
}

// members walks over the object that comes next. f is called behind each
// member's colon, and moves over its value.
func (s *scanner) members(f func(name []byte) error) error {
	if s.space() != '{' {
		return errSyntax
	}
	s.i++
	if s.space() == '}' {
		s.i++
		return nil
	}
	for {
		s.space()
		name, err := s.key()
		if err != nil {
			return err
		}
		if err := f(name); err != nil {
			return err
		}
		switch s.space() {
		case ',':
			s.i++
		case '}':
			s.i++
			return nil
		default:
			return errSyntax
		}
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain returns the number of leading bytes of s that are no quote, no backslash, no control
// character and not stop. It tests eight at a time: a byte's highest bit is set if it is
// below a blank, or zero after the exclusive or. Bits above the lowest such byte may be
// wrong, which does not matter.
func plain[T []byte | string](s T, stop byte) int {
	n := 0
	for ; n+8 <= len(s); n += 8 {
		p := s[n : n+8]
		x := uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 |
			uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
		quote, slash, also := x^ones*'"', x^ones*'\\', x^ones*uint64(stop)
		if marks := ((x-ones*' ')&^x | (quote-ones)&^quote | (slash-ones)&^slash | (also-ones)&^also) & highs; marks != 0 {
			return n + bits.TrailingZeros64(marks)/8
		}
	}
	for n < len(s) && s[n] >= ' ' && s[n] != '"' && s[n] != '\\' && s[n] != stop {
		n++
	}
	return n
}

// Unquote decodes a string that the scanner has passed.
func Unquote(raw []byte) (string, error) {
	raw = raw[1 : len(raw)-1]
	if !utf8.Valid(raw) {
		return "", errUTF8
	}
	at := bytes.IndexByte(raw, '\\')
	if at < 0 {
		return string(raw), nil
	}
	return unescape(raw, at)
}

// unescape decodes a string whose first backslash is at the given place. The
// spans between escapes are taken over whole.
func unescape(raw []byte, at int) (string, error) {
	var out strings.Builder
	out.Grow(len(raw))
	for {
		out.Write(raw[:at])
		raw = raw[at:]
		if len(raw) == 0 {
			return out.String(), nil
		}
		r, n, err := escaped(raw)
		if err != nil {
			return "", err
		}
		out.WriteRune(r)
		raw = raw[n:]
		if at = bytes.IndexByte(raw, '\\'); at < 0 {
			at = len(raw)
		}
	}
}

// escaped decodes one escape and tells how many bytes it took.
func escaped(b []byte) (rune, int, error) {
	switch c := b[1]; c {
	case 'b':
		return '\b', 2, nil
	case 'f':
		return '\f', 2, nil
	case 'n':
		return '\n', 2, nil
	case 'r':
		return '\r', 2, nil
	case 't':
		return '\t', 2, nil
	case 'u':
	default:
		return rune(c), 2, nil
	}
	r, _ := hex4(b[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6, nil
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		low, _ := hex4(b[8:])
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12, nil
		}
	}
	return 0, 0, ErrSurrogate
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c-'0' < 10:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// Elements are the values of an array that was scanned before.
func Elements(array []byte) (items [][]byte) {
	s := scanner{b: array, i: 1}
	for s.space() != ']' {
		v, err := s.value()
		if err != nil {
			return nil
		}
		items = append(items, v.Raw)
		if s.space() == ',' {
			s.i++
		}
	}
	return items
}

// Parse reads a text that is one value.
func Parse(text []byte) (Value, error) {
	s := scanner{b: text}
	v, err := s.value()
	if err == nil && !s.end() {
		err = errSyntax
	}
	return v, err
}

// IsNumber reports whether a text is a number of JSON.
func IsNumber(text string) bool {
	s := scanner{b: []byte(text)}
	return s.number() == nil && s.i == len(text)
}
