package scan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// shortEscape holds the character of each escape of two bytes, by its second byte; 0 means
// no escape.
var shortEscape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// hexDigit holds the value of each hexadecimal digit, 255 for any other byte.
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

// plain holds true for the bytes that need no escape in a string.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= 0x20 && c != '"' && c != '\\'
	}
	return t
}()

// Unquote appends the text of the string that begins at the offset at to dst, and returns
// the string's end. halves counts the lone surrogates; each became U+FFFD.
func Unquote(dst, raw []byte, at int) (text []byte, end, halves int) {
	end = SkipString(raw, at)
	for in := raw[at+1 : end-1]; ; {
		slash := bytes.IndexByte(in, '\\')
		if slash < 0 {
			return append(dst, in...), end, halves
		}
		dst = append(dst, in[:slash]...)
		r, n := Unescape(in[slash:])
		if r == utf8.RuneError && n == 6 && isHalf(in[slash:]) {
			halves++
		}
		dst = utf8.AppendRune(dst, r)
		in = in[slash+n:]
	}
}

// Unescape reads the escape at the start of in, or two for a pair of surrogates, and returns
// its length in bytes.
func Unescape(in []byte) (rune, int) {
	if b := shortEscape[in[1]]; b != 0 {
		return rune(b), 2
	}
	r, _ := hex4(in[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(in) >= 12 && in[6] == '\\' && in[7] == 'u' {
		low, _ := hex4(in[8:])
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// isHalf reports whether the \u escape at the start of in is a surrogate.
func isHalf(in []byte) bool {
	r, _ := hex4(in[2:])
	return utf16.IsSurrogate(r)
}

// JoinText appends the text of v, a string or a list of strings, to dst. For any other value
// it returns dst unchanged, and false.
func JoinText(dst, raw []byte, v Extent) (text []byte, halves int, ok bool) {
	if IsString(raw, v) {
		dst, _, halves = Unquote(dst, raw, v.Start)
		return dst, halves, true
	}
	if !IsArray(raw, v) {
		return dst, 0, false
	}
	from, n := len(dst), 0
	for at := SkipSpace(raw, v.Start+1); raw[at] != ']'; at = NextValue(raw, at) {
		if raw[at] != '"' {
			return dst[:from], 0, false
		}
		dst, at, n = Unquote(dst, raw, at)
		halves += n
	}
	return dst, halves, true
}

// CountHalves counts the lone surrogates as JoinText does, without the text.
func CountHalves(raw []byte, v Extent) (halves int) {
	if IsArray(raw, v) {
		Elements(raw, v, func(e Extent) bool {
			halves += CountHalves(raw, e)
			return true
		})
		return halves
	}
	for in := raw[v.Start+1 : v.End-1]; ; {
		slash := bytes.IndexByte(in, '\\')
		if slash < 0 {
			return halves
		}
		r, n := Unescape(in[slash:])
		if r == utf8.RuneError && n == 6 && isHalf(in[slash:]) {
			halves++
		}
		in = in[slash+n:]
	}
}

// An Alphabet says which characters a file escapes although JSON does not require it.
type Alphabet struct {
	ascii bool // characters beyond ASCII are escaped
	upper bool // escapes have upper-case digits
}

// Quote appends s to dst as a JSON string.
func (a Alphabet) Quote(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for from := 0; from < len(s); {
		to := from
		for to < len(s) && plain[s[to]] && (!a.ascii || s[to] < 0x7f) {
			to++
		}
		dst = append(dst, s[from:to]...)
		if from = to; from < len(s) {
			r, n := utf8.DecodeRuneInString(s[from:])
			dst = a.escape(dst, r)
			from += n
		}
	}
	return append(dst, '"')
}

// QuoteAll appends several strings to dst with sep between them.
func (a Alphabet) QuoteAll(dst []byte, all []string, sep string) []byte {
	for i, s := range all {
		if i > 0 {
			dst = append(dst, sep...)
		}
		dst = a.Quote(dst, s)
	}
	return dst
}

func (a Alphabet) escape(dst []byte, r rune) []byte {
	const letters = `"\bfnrt`
	if i := bytes.IndexRune([]byte("\"\\\b\f\n\r\t"), r); i >= 0 {
		return append(dst, '\\', letters[i])
	}
	if r >= 0x10000 {
		high, low := utf16.EncodeRune(r)
		return a.unit(a.unit(dst, high), low)
	}
	return a.unit(dst, r)
}

// unit appends one \u escape.
func (a Alphabet) unit(dst []byte, r rune) []byte {
	digits := "0123456789abcdef"
	if a.upper {
		digits = "0123456789ABCDEF"
	}
	return append(dst, '\\', 'u', digits[r>>12], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// AlphabetOf returns how near writes characters beyond ASCII, or else how all does. Where
// there are none, they are not escaped.
func AlphabetOf(near, all []byte) Alphabet {
	for _, text := range [][]byte{near, all} {
		if HasHigh(text) {
			return Alphabet{}
		}
		if ascii, upper := escapesHigh(text); ascii {
			return Alphabet{ascii: true, upper: upper}
		}
	}
	return Alphabet{}
}

// HasHigh reports whether b has bytes beyond ASCII.
func HasHigh(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// escapesHigh reports whether b has an escape for a character beyond ASCII, and whether the
// first such escape that has a letter among its digits has it in upper case.
func escapesHigh(b []byte) (ascii, upper bool) {
	for {
		at := bytes.IndexByte(b, '\\')
		if at < 0 || at+2 > len(b) {
			return ascii, false
		}
		b = b[at:]
		if r, ok := hex4(b[2:]); b[1] == 'u' && ok && r >= utf8.RuneSelf {
			ascii = true
			if bytes.ContainsAny(b[2:6], "abcdefABCDEF") {
				return true, bytes.ContainsAny(b[2:6], "ABCDEF")
			}
		}
		b = b[2:]
	}
}
