package scan

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
)

// The escapes of two bytes: their second byte, and the character.
const (
	letters    = `"\/bfnrt`
	characters = "\"\\/\b\f\n\r\t"
)

// unescape reads the escape at the start of in, or two for a pair of surrogates, and returns
// its length in bytes. A lone surrogate is returned as it is.
func unescape(in []byte) (r rune, n int) {
	if i := strings.IndexByte(letters, in[1]); i >= 0 {
		return rune(characters[i]), 2
	}
	r = hex(in[2:6])
	if utf16.IsSurrogate(r) && len(in) >= 12 && in[6] == '\\' && in[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex(in[8:12])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6
}

func hex(digits []byte) rune {
	n, _ := strconv.ParseUint(string(digits), 16, 16)
	return rune(n)
}

// inner returns a string's bytes between the quotes.
func (v Value) inner() []byte { return v.file[v.start+1 : v.End()-1] }

// Bytes returns the text of a string, and nil for any other value. Without escapes it is a
// part of the file.
func (v Value) Bytes() []byte {
	if v.Kind() != '"' {
		return nil
	}
	in := v.inner()
	if bytes.IndexByte(in, '\\') < 0 {
		return in
	}
	text, _ := unquote(nil, in)
	return text
}

// unquote appends the text between the quotes of a string to dst. surrogates counts the lone
// ones; each became U+FFFD.
func unquote(dst, in []byte) (text []byte, surrogates int) {
	for {
		slash := bytes.IndexByte(in, '\\')
		if slash < 0 {
			return append(dst, in...), surrogates
		}
		r, n := unescape(in[slash:])
		if utf16.IsSurrogate(r) {
			surrogates++
		}
		dst = utf8.AppendRune(append(dst, in[:slash]...), r)
		in = in[slash+n:]
	}
}

// AppendText appends the text of a string or a list of strings to dst, and counts its lone
// surrogates; each became U+FFFD. For any other value it returns dst unchanged, and false.
func (v Value) AppendText(dst []byte) (text []byte, surrogates int, ok bool) {
	switch v.Kind() {
	case '"':
		text, surrogates = unquote(dst, v.inner())
		return text, surrogates, true
	case '[':
		text = dst
		for e := range v.Elements() {
			if e.Kind() != '"' {
				return text[:len(dst)], 0, false
			}
			var lone int
			text, lone = unquote(text, e.inner())
			surrogates += lone
		}
		return text, surrogates, true
	}
	return dst, 0, false
}

// AppendLine appends the value to dst as JSON on one line.
func (v Value) AppendLine(dst []byte) []byte {
	for at, end := v.start, v.End(); at < end; at++ {
		switch b := v.file[at]; b {
		case '"':
			after := skipString(v.file, at)
			dst = append(dst, v.file[at:after]...)
			at = after - 1
		case ',', ':':
			dst = append(dst, b, ' ')
		case ' ', '\n', '\r', '\t':
		default:
			dst = append(dst, b)
		}
	}
	return dst
}

// OffsetOf returns the offset in the file of the byte n of a text that AppendText decodes.
func (v Value) OffsetOf(n int) int {
	if v.Kind() == '"' {
		at, _ := v.offsetIn(n)
		return at
	}
	for e := range v.Elements() {
		var at int
		if at, n = e.offsetIn(n); n <= 0 {
			return at
		}
	}
	return v.End()
}

// offsetIn returns the offset of the byte n of a string, or the string's end and the number
// of bytes that are after it.
func (v Value) offsetIn(n int) (at, after int) {
	at = v.start + 1
	for in := v.inner(); len(in) > 0 && n > 0; {
		size, text := bytes.IndexByte(in, '\\'), 0
		switch {
		case size == 0:
			var r rune
			r, size = unescape(in)
			text = len(string(r))
		case size < 0:
			size = min(len(in), n)
			text = size
		default:
			size = min(size, n)
			text = size
		}
		in, at, n = in[size:], at+size, n-text
	}
	return at, n
}

// Escapes says which characters a file escapes although JSON does not require it.
type Escapes struct {
	nonASCII bool // characters that are not ASCII
	upper    bool // the digits are in upper case
}

// AppendQuoted appends s to dst as a JSON string.
func (e Escapes) AppendQuoted(dst []byte, s string) []byte {
	format := `\u%04x`
	if e.upper {
		format = `\u%04X`
	}
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case ' ' <= r && r != '"' && r != '\\' && (r < 0x7f || !e.nonASCII):
			dst = utf8.AppendRune(dst, r)
		case strings.ContainsRune(characters, r):
			dst = append(dst, '\\', letters[strings.IndexRune(characters, r)])
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				dst = fmt.Appendf(dst, format, unit)
			}
		}
	}
	return append(dst, '"')
}

// EscapesOf returns how near escapes characters that are not ASCII, or else how file does.
// If neither has any, they are not escaped.
func EscapesOf(near, file []byte) Escapes {
	for _, text := range [][]byte{near, file} {
		if !span.IsASCII(text) {
			return Escapes{}
		}
		if e := escapesIn(text); e.nonASCII {
			return e
		}
	}
	return Escapes{}
}

// escapesIn looks for escapes of characters that are not ASCII. The first that has a letter
// among its digits decides on their case.
func escapesIn(text []byte) (e Escapes) {
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 {
			return e
		}
		text = text[at:]
		if text[1] == 'u' && hex(text[2:6]) >= utf8.RuneSelf {
			e.nonASCII = true
			if bytes.ContainsAny(text[2:6], "abcdefABCDEF") {
				e.upper = bytes.ContainsAny(text[2:6], "ABCDEF")
				return e
			}
		}
		text = text[2:]
	}
}
