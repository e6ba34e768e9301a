package wire

import (
	"bytes"
	"errors"
	"unicode/utf8"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
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

// scanner walks over JSON text with jsontext. Values are slices of b.
type scanner struct {
	b   []byte
	in  bytes.Buffer
	dec jsontext.Decoder
}

// scan returns a scanner of a text. It accepts duplicate names, and bytes that are not UTF-8
// in strings: Unquote refuses those.
func scan(b []byte) *scanner {
	s := &scanner{b: b, in: *bytes.NewBuffer(b)}
	s.dec.Reset(&s.in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return s
}

// next returns the first byte of the next token, '0' for a number and 0 at the end.
func (s *scanner) next() Kind { return Kind(s.dec.PeekKind()) }

// at returns the end of the last token.
func (s *scanner) at() int { return int(s.dec.InputOffset()) }

// value reads the next value whole, and checks its grammar on the way.
func (s *scanner) value() (v Value, err error) {
	v.Kind = s.next()
	if v.Kind != Object && v.Kind != Array {
		raw, err := s.dec.ReadValue()
		if err != nil {
			return Value{}, errSyntax
		}
		v.Raw = s.b[s.at()-len(raw) : s.at()]
		return v, nil
	}
	start, depth := 0, s.dec.StackDepth()
	for first := true; first || s.dec.StackDepth() > depth; first = false {
		if k := s.next(); (k == Object || k == Array) && s.dec.StackDepth() == depth+MaxDepth {
			return Value{}, ErrDepth
		}
		if _, err := s.dec.ReadToken(); err != nil {
			return Value{}, errSyntax
		}
		if first {
			start = s.at() - 1
		}
	}
	v.Raw = s.b[start:s.at()]
	return v, nil
}

// end reports whether nothing but white space is left.
func (s *scanner) end() bool { return len(bytes.TrimLeft(s.b[s.at():], " \t\r\n")) == 0 }

// Members calls f with each member of an object, in order; the name is given
// raw, with its quotes. It stops at the first error.
func Members(object []byte, f func(name []byte, v Value) error) error {
	s := scan(object)
	_, err := s.members(func(name []byte) error {
		v, err := s.value()
		if err != nil {
			return err
		}
		return f(name, v)
	})
	return err
}

// members reads the object that comes next. f is called after each member's name, and reads
// its value.
func (s *scanner) members(f func(name []byte) error) (v Value, err error) {
	if s.next() != Object {
		return v, errSyntax
	}
	s.dec.ReadToken()
	start := s.at() - 1
	for s.next() != '}' {
		name, err := s.dec.ReadValue()
		if err != nil {
			return v, errSyntax
		}
		if err := f(name); err != nil {
			return v, err
		}
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return v, errSyntax
	}
	return Value{s.b[start:s.at()], Object}, nil
}

// Unquote decodes a string that the scanner has passed.
func Unquote(raw []byte) (string, error) {
	if !utf8.Valid(raw) {
		return "", errUTF8
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "", ErrSurrogate
	}
	return unsafe.String(unsafe.SliceData(text), len(text)), nil // nothing changes text afterwards
}

// Elements returns the values of an array that was scanned before.
func Elements(array []byte) (items [][]byte) {
	s := scan(array)
	for s.dec.ReadToken(); s.next() != ']'; {
		v, err := s.value()
		if err != nil {
			return nil
		}
		items = append(items, v.Raw)
	}
	return items
}

// Parse reads a text that is one value.
func Parse(text []byte) (Value, error) {
	s := scan(text)
	v, err := s.value()
	if err == nil && !s.end() {
		err = errSyntax
	}
	return v, err
}

// IsNumber reports whether a text is a number of JSON.
func IsNumber(text string) bool {
	v, err := Parse([]byte(text))
	return err == nil && v.Kind == Number && len(v.Raw) == len(text)
}
