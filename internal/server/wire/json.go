package wire

import (
	"bytes"
	"encoding/json"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendString appends s as a JSON string. Unlike encoding/json it leaves `<`,
// `>` and `&` alone; bytes that are not UTF-8 become U+FFFD. U+2028 and U+2029
// are escaped, since some clients take them for line ends.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	for len(s) > 0 {
		n := plain(s, separator)
		b, s = append(b, s[:n]...), s[n:]
		switch {
		case s == "":
		case s[0] != separator:
			b, s = appendEscape(b, s[0]), s[1:]
		case separates(s):
			b, s = append(append(b, `\u202`...), s[2]-separators+'8'), s[3:]
		default:
			b, s = append(b, s[0]), s[1:]
		}
	}
	return append(b, '"')
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

// U+2028 and U+2029 are E2 80 A8 and E2 80 A9.
const (
	separator  = 0xe2
	separators = 0xa8
)

func separates(s string) bool { return s[1] == 0x80 && s[2]&^1 == separators }

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\t':
		return append(b, '\\', 't')
	case '\r':
		return append(b, '\\', 'r')
	}
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// AppendJSON appends any value in the form of encoding/json, without its escapes of `<`,
// `>` and `&`. Types with a MarshalJSON of their own escape inside, so it turns these
// escapes back.
func AppendJSON(b []byte, v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return append(b, "null"...)
	}
	return appendUnescaped(b, bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// appendUnescaped copies JSON text and turns \u003c, \u003e and \u0026 back into their
// characters. An escaped backslash starts no escape.
func appendUnescaped(b, text []byte) []byte {
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 || at+1 >= len(text) {
			return append(b, text...)
		}
		b = append(b, text[:at]...)
		text = text[at:]
		n := 2
		if len(text) >= 6 {
			switch string(text[:6]) {
			case `\u003c`:
				b, text, n = append(b, '<'), text[6:], 0
			case `\u003e`:
				b, text, n = append(b, '>'), text[6:], 0
			case `\u0026`:
				b, text, n = append(b, '&'), text[6:], 0
			}
		}
		b = append(b, text[:n]...)
		text = text[n:]
	}
}

// AppendAnswer appends the envelope around a result that the function appends.
func AppendAnswer(b, id []byte, result func([]byte) []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"result":`...)
	return append(result(b), '}')
}

// AppendFailure appends a JSON-RPC error. A nil id is answered as null.
func AppendFailure(b, id []byte, code int, text string, data any) []byte {
	if id == nil {
		id = []byte("null")
	}
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(code), 10)
	b = append(b, `,"message":`...)
	b = AppendString(b, text)
	if data != nil {
		b = append(b, `,"data":`...)
		b = AppendJSON(b, data)
	}
	return append(b, `}}`...)
}
