package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

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

// ValueKind is the first byte of a JSON value; '0' is the kind of every number.
type ValueKind = jsontext.Kind

// The kinds of values.
const (
	Object ValueKind = '{'
	Array  ValueKind = '['
	String ValueKind = '"'
	True   ValueKind = 't'
	False  ValueKind = 'f'
	Null   ValueKind = 'n'
	Number ValueKind = '0'
)

// A value is one JSON value as it was written. Strings keep their quotes.
type Value struct {
	Raw  []byte
	Kind ValueKind
}

// Text returns the text of a string, and "" for anything else.
func (v Value) Text() string {
	if v.Kind != String {
		return ""
	}
	text, _ := Unquote(v.Raw)
	return text
}

// scanner reads JSON text without decoding it. Values are slices of text. It leaves duplicate
// members and bytes that are not UTF-8 to its callers.
type scanner struct {
	text []byte
	jsontext.Decoder
}

// scanners holds scanners for reuse: a decoder is as large as a small message.
var scanners = sync.Pool{New: func() any { return new(scanner) }}

// newScanner returns a scanner that is to be closed.
func newScanner(text []byte) *scanner {
	s := scanners.Get().(*scanner)
	s.text = text
	s.Reset(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return s
}

// close makes a scanner available again, unless it keeps a long text in memory.
func (s *scanner) close() {
	if len(s.text) <= 64<<10 {
		scanners.Put(s)
	}
}

// scalar reads a member's name or a value that holds no others.
func (s *scanner) scalar() ([]byte, error) {
	raw, err := s.ReadValue()
	if err != nil {
		return nil, errSyntax
	}
	end := s.InputOffset()
	return s.text[end-int64(len(raw)) : end], nil
}

// value reads the next value whole.
func (s *scanner) value() (Value, error) {
	kind := s.PeekKind()
	if kind != Object && kind != Array {
		raw, err := s.scalar()
		if err != nil {
			return Value{}, err
		}
		return Value{raw, kind}, nil
	}
	outside := s.StackDepth()
	s.ReadToken()
	start := s.InputOffset() - 1
	for s.StackDepth() > outside {
		if s.StackDepth()-outside > MaxDepth {
			return Value{}, ErrDepth
		}
		if _, err := s.ReadToken(); err != nil {
			return Value{}, errSyntax
		}
	}
	return Value{s.text[start:s.InputOffset()], kind}, nil
}

// end reports whether nothing but white space is left.
func (s *scanner) end() bool {
	_, err := s.ReadToken()
	return err == io.EOF
}

// members walks over the object that comes next and returns it. f is called behind each
// member's name, and reads its value.
func (s *scanner) members(f func(name []byte) error) (v Value, err error) {
	if s.PeekKind() != Object {
		return v, errSyntax
	}
	s.ReadToken()
	start := s.InputOffset() - 1
	for s.PeekKind() != '}' {
		name, err := s.scalar()
		if err != nil {
			return v, err
		}
		if err := f(name); err != nil {
			return v, err
		}
	}
	s.ReadToken()
	return Value{s.text[start:s.InputOffset()], Object}, nil
}

// Members calls f with each member of an object, in order; the name is given raw, with its
// quotes. It stops at the first error.
func Members(object []byte, f func(name []byte, v Value) error) error {
	s := newScanner(object)
	defer s.close()
	_, err := s.members(func(name []byte) error {
		v, err := s.value()
		if err != nil {
			return err
		}
		return f(name, v)
	})
	return err
}

// Elements returns the values of an array, none if it is not valid.
func Elements(array []byte) (items [][]byte) {
	s := newScanner(array)
	defer s.close()
	s.ReadToken()
	for s.PeekKind() != ']' {
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
	s := newScanner(text)
	defer s.close()
	v, err := s.value()
	if err == nil && !s.end() {
		err = errSyntax
	}
	return v, err
}

// Unquote decodes a valid JSON string.
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
	return string(text), nil
}

// IsNumber reports whether a text is a number of JSON.
func IsNumber(text string) bool {
	v := jsontext.Value(text)
	return v.Kind() == Number && strings.TrimSpace(text) == text && v.IsValid()
}
