package notebook

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fsmcp/fsmcp/internal/notebook/scan"
	"github.com/fsmcp/fsmcp/internal/span"
)

// MaxDepth bounds the nesting of values. jsontext itself stops at 10,000.
const MaxDepth = 1000

const bom = "\xef\xbb\xbf"

// checker reads a file strictly with jsontext. After the first error it reads nothing more.
// It adds to jsontext the limit of the nesting, the check for UTF-8 apart from escapes, and
// an error with the class of the fault.
type checker struct {
	raw  []byte
	base int // the decoder's input is raw[base:]
	in   bytes.Buffer
	dec  jsontext.Decoder
	err  *ParseError
}

// file reads raw as one JSON value in UTF-8, with or without a byte order mark. value
// reads that value.
func (c *checker) file(value func()) {
	if !utf8.Valid(c.raw) {
		c.fail(NotUTF8, span.FirstStray(string(c.raw)), "not UTF-8")
		return
	}
	if bytes.HasPrefix(c.raw, []byte(bom)) {
		c.base = len(bom)
	}
	c.startAt(c.base)
	value()
	if at := scan.SkipSpace(c.raw, c.pos()); c.err == nil && at < len(c.raw) {
		c.unexpected(at, "behind the end of the JSON value")
	}
}

// startAt continues with the value at the offset base.
func (c *checker) startAt(base int) {
	c.base = base
	c.in = *bytes.NewBuffer(c.raw[base:])
	c.dec.Reset(&c.in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// pos returns the end of the last token.
func (c *checker) pos() int { return c.base + int(c.dec.InputOffset()) }

func (c *checker) fail(f Fault, at int, what string) {
	if c.err == nil {
		c.err = &ParseError{f, int64(at), what}
	}
}

// unexpected fails at the offset at.
func (c *checker) unexpected(at int, where string) {
	if at >= len(c.raw) {
		c.fail(Malformed, len(c.raw), "unexpected end "+where)
		return
	}
	r, _ := utf8.DecodeRune(c.raw[at:])
	c.fail(Malformed, at, fmt.Sprintf("unexpected %s %s", strconv.QuoteRune(r), where))
}

// peek returns the kind of the next token, and 0 after an error.
func (c *checker) peek() jsontext.Kind {
	if c.err != nil {
		return 0
	}
	return c.dec.PeekKind()
}

// token reads one token and returns its end.
func (c *checker) token() (end int) {
	if c.err != nil {
		return 0
	}
	k := c.dec.PeekKind()
	if (k == '{' || k == '[') && c.dec.StackDepth() >= MaxDepth {
		at, _ := c.begin()
		c.fail(TooDeep, at, fmt.Sprintf("nested deeper than %d", MaxDepth))
		return 0
	}
	if _, err := c.dec.ReadToken(); err != nil {
		c.malformed(err)
		return 0
	}
	return c.pos()
}

// value reads a value and returns its place.
func (c *checker) value() (v scan.Extent) {
	v.Start, _ = c.begin()
	depth := c.dec.StackDepth()
	v.End = c.token()
	for c.err == nil && c.dec.StackDepth() > depth {
		v.End = c.token()
	}
	return v
}

// object reads an object and returns its place. f reads the value of each key.
func (c *checker) object(f func(key scan.Extent)) (v scan.Extent) {
	v.Start, _ = c.begin()
	for c.token(); c.err == nil && c.peek() != '}'; {
		start, _ := c.begin()
		if end := c.token(); c.err == nil {
			f(scan.Between(start, end))
		}
	}
	v.End = c.token()
	return v
}

// array reads an array and returns its place. f reads each element.
func (c *checker) array(f func()) (v scan.Extent) {
	v.Start, _ = c.begin()
	for c.token(); c.err == nil && c.peek() != ']'; {
		f()
	}
	v.End = c.token()
	return v
}

// begin returns the offset of the next token. missing names the comma, colon or key that
// should be there instead, and is empty if the token may follow.
func (c *checker) begin() (at int, missing string) {
	at = scan.SkipSpace(c.raw, c.pos())
	kind, n := c.dec.StackIndex(c.dec.StackDepth())
	need := func(b byte) bool { return at < len(c.raw) && c.raw[at] == b }
	switch {
	case kind == '{' && n%2 == 1:
		if !need(':') {
			return at, "in place of ':'"
		}
		return scan.SkipSpace(c.raw, at+1), ""
	case kind != 0 && n > 0 && !need(','):
		return at, fmt.Sprintf("in place of ',' or %q", byte(kind)+2)
	case kind != 0 && n > 0:
		at = scan.SkipSpace(c.raw, at+1)
	}
	if kind == '{' && !need('"') {
		return at, "in place of a key"
	}
	return at, ""
}

// malformed reports the decoder's error. The offset of a SyntacticError is used inside
// strings and numbers only: at a comma before a closing bracket it is that of the comma.
func (c *checker) malformed(err error) {
	at, missing := c.begin()
	if missing != "" || at >= len(c.raw) {
		c.unexpected(at, cmp.Or(missing, "in place of a value"))
		return
	}
	bad := len(c.raw)
	b := c.raw[at]
	if s := (*jsontext.SyntacticError)(nil); errors.As(err, &s) && (b == '"' || !errors.Is(err, io.ErrUnexpectedEOF)) {
		bad = c.base + int(s.ByteOffset)
	}
	switch {
	case b == '-' || '0' <= b && b <= '9':
		c.unexpected(bad, "inside a number")
	case b != '"':
		c.unexpected(at, "in place of a value")
	case bad+1 == len(c.raw) && c.raw[bad] == '\\':
		c.unexpected(bad+1, "inside an escape")
	case bad < len(c.raw) && c.raw[bad] == '\\':
		c.fail(BadEscape, bad, "invalid escape")
	default:
		c.unexpected(bad, "inside a string")
	}
}
