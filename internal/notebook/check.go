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

// checker reads a file strictly with jsontext. In addition it bounds the nesting, tells bytes
// that are not UTF-8 from bad escapes, and returns errors with their class.
type checker struct {
	raw  []byte
	base int // the decoder's input is raw[base:]
	dec  *jsontext.Decoder
}

// check returns an error unless raw is one JSON value in UTF-8, with or without a byte order
// mark, and otherwise the offset after the mark.
func check(raw []byte) (base int, err *ParseError) {
	if !utf8.Valid(raw) {
		return 0, &ParseError{NotUTF8, int64(span.FirstStray(string(raw))), "not UTF-8"}
	}
	if bytes.HasPrefix(raw, []byte(bom)) {
		base = len(bom)
	}
	in := bytes.NewBuffer(raw[base:])
	c := checker{raw, base, jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	for {
		if _, err := c.dec.ReadToken(); err != nil {
			return 0, c.malformed(err)
		}
		switch depth := c.dec.StackDepth(); {
		case depth > MaxDepth:
			return 0, &ParseError{TooDeep, int64(c.pos() - 1), fmt.Sprintf("nested deeper than %d", MaxDepth)}
		case depth == 0:
			if at := scan.SkipSpace(raw, c.pos()); at < len(raw) {
				return 0, c.unexpected(at, "behind the end of the JSON value")
			}
			return base, nil
		}
	}
}

// pos returns the end of the last token.
func (c *checker) pos() int { return c.base + int(c.dec.InputOffset()) }

// unexpected is the error for the character at the offset at.
func (c *checker) unexpected(at int, where string) *ParseError {
	if at >= len(c.raw) {
		return &ParseError{Malformed, int64(len(c.raw)), "unexpected end " + where}
	}
	r, _ := utf8.DecodeRune(c.raw[at:])
	return &ParseError{Malformed, int64(at), fmt.Sprintf("unexpected %s %s", strconv.QuoteRune(r), where)}
}

// next returns the offset of the next token. missing names the comma, colon or key that
// should be there instead, and is empty if the token may follow.
func (c *checker) next() (at int, missing string) {
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

// malformed returns the error for the token that the decoder refuses. The offset of a
// SyntacticError is used inside strings and numbers only: at a comma before a closing
// bracket it is that of the comma.
func (c *checker) malformed(err error) *ParseError {
	at, missing := c.next()
	if missing != "" || at >= len(c.raw) {
		return c.unexpected(at, cmp.Or(missing, "in place of a value"))
	}
	bad := len(c.raw)
	b := c.raw[at]
	if s := (*jsontext.SyntacticError)(nil); errors.As(err, &s) && (b == '"' || !errors.Is(err, io.ErrUnexpectedEOF)) {
		bad = c.base + int(s.ByteOffset)
	}
	switch {
	case b == '-' || '0' <= b && b <= '9':
		return c.unexpected(bad, "inside a number")
	case b != '"':
		return c.unexpected(at, "in place of a value")
	case bad+1 == len(c.raw) && c.raw[bad] == '\\':
		return c.unexpected(bad+1, "inside an escape")
	case bad < len(c.raw) && c.raw[bad] == '\\':
		return &ParseError{BadEscape, int64(bad), "invalid escape"}
	}
	return c.unexpected(bad, "inside a string")
}
