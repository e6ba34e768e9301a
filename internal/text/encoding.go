package text

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/fsmcp/fsmcp/internal/span"
)

// charset is one way of writing characters as bytes, the byte order mark aside.
type charset uint8

const (
	utf8Set charset = iota
	utf16le
	utf16be
	windows1250
	windows1251
	windows1252
	windows1253
	windows1254
	windows1255
	windows1256
	windows1257
	windows1258
	windows874
	iso8859_2
	iso8859_5
	iso8859_6
	iso8859_7
	iso8859_8
	iso8859_13
	iso8859_15
	koi8r
	shiftJIS
	eucJP
	gbk
	big5
	eucKR
)

// charsetNames are the names that answers use, in the order of the constants.
var charsetNames = [...]string{
	"utf-8", "utf-16le", "utf-16be",
	"windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254",
	"windows-1255", "windows-1256", "windows-1257", "windows-1258", "windows-874",
	"iso-8859-2", "iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8",
	"iso-8859-13", "iso-8859-15", "koi8-r",
	"shift-jis", "euc-jp", "gbk", "big5", "euc-kr",
}

// wide reports a charset of 16-bit units.
func (c charset) wide() bool { return c == utf16le || c == utf16be }

// table returns the map of a single-byte charset, nil for the others.
func (c charset) table() *charmap.Charmap {
	switch c {
	case windows1250:
		return charmap.Windows1250
	case windows1251:
		return charmap.Windows1251
	case windows1252:
		return charmap.Windows1252
	case windows1253:
		return charmap.Windows1253
	case windows1254:
		return charmap.Windows1254
	case windows1255:
		return charmap.Windows1255
	case windows1256:
		return charmap.Windows1256
	case windows1257:
		return charmap.Windows1257
	case windows1258:
		return charmap.Windows1258
	case windows874:
		return charmap.Windows874
	case iso8859_2:
		return charmap.ISO8859_2
	case iso8859_5:
		return charmap.ISO8859_5
	case iso8859_6:
		return charmap.ISO8859_6
	case iso8859_7:
		return charmap.ISO8859_7
	case iso8859_8:
		return charmap.ISO8859_8
	case iso8859_13:
		return charmap.ISO8859_13
	case iso8859_15:
		return charmap.ISO8859_15
	case koi8r:
		return charmap.KOI8R
	}
	return nil
}

// multibyte returns the codec of an East Asian charset, nil for the others.
func (c charset) multibyte() encoding.Encoding {
	switch c {
	case shiftJIS:
		return japanese.ShiftJIS
	case eucJP:
		return japanese.EUCJP
	case gbk:
		return simplifiedchinese.GBK
	case big5:
		return traditionalchinese.Big5
	case eucKR:
		return korean.EUCKR
	}
	return nil
}

// charLen is the number of bytes of the character that begins with b, in a
// charset other than UTF-8 and UTF-16. It looks at the lead byte alone: the
// decoder judges whether the character exists.
func (c charset) charLen(b byte) int {
	if b < 0x80 {
		return 1
	}
	switch c {
	case shiftJIS:
		if b >= 0xA0 && b < 0xE0 || b == 0x80 || b > 0xFC {
			return 1
		}
		return 2
	case eucJP:
		switch {
		case b == 0x8F:
			return 3
		case b == 0x8E || b >= 0xA1 && b < 0xFF:
			return 2
		}
		return 1
	case gbk, big5, eucKR:
		if b == 0x80 || b == 0xFF {
			return 1
		}
		return 2
	}
	return 1
}

// Encoding is the form of a file's text: the charset, and whether it begins with a byte
// order mark. Encodings are comparable; the zero value is UTF-8 without a mark.
type Encoding struct {
	set charset
	bom bool
}

// Name is the charset's lower-case name, such as "utf-8" or "windows-1252".
func (e Encoding) Name() string { return charsetNames[e.set] }

// String is Name, so that an Encoding reads well in messages.
func (e Encoding) String() string { return e.Name() }

// IsUTF8 reports UTF-8, with or without a byte order mark.
func (e Encoding) IsUTF8() bool { return e.set == utf8Set }

// HasBOM reports a byte order mark at the head of the file.
func (e Encoding) HasBOM() bool { return e.bom }

// Unit is the width in bytes of the smallest piece of text: 2 for UTF-16, else
// 1. A match at an offset that is not a multiple of it is no match.
func (e Encoding) Unit() int {
	if e.set.wide() {
		return 2
	}
	return 1
}

// BOM returns the byte order mark of the file, empty where it has none.
func (e Encoding) BOM() []byte {
	if !e.bom {
		return nil
	}
	switch e.set {
	case utf8Set:
		return []byte(bomUTF8)
	case utf16le:
		return []byte(bomUTF16LE)
	case utf16be:
		return []byte(bomUTF16BE)
	}
	return nil
}

const (
	bomUTF8    = "\xEF\xBB\xBF"
	bomUTF16LE = "\xFF\xFE"
	bomUTF16BE = "\xFE\xFF"
)

// UnencodableError is a text that the file's charset cannot hold: the first
// such character and its line, counted from 1.
type UnencodableError struct {
	Rune rune
	Line int
	Name string // the charset
}

func (e *UnencodableError) Error() string {
	return fmt.Sprintf("%s cannot hold %q (U+%04X) in line %d", e.Name, e.Rune, e.Rune, e.Line)
}

// Encode writes s in the encoding, without a byte order mark. In UTF-8 bytes
// that are no character stay as they are; elsewhere they are an
// *UnencodableError, as is a character that the charset lacks.
func (e Encoding) Encode(s string) ([]byte, error) { return e.append(nil, s) }

// EncodeFile is Encode with the byte order mark where the file had one.
func (e Encoding) EncodeFile(s string) ([]byte, error) { return e.append(e.BOM(), s) }

func (e Encoding) append(dst []byte, s string) ([]byte, error) {
	switch {
	case e.set == utf8Set:
		return append(dst, s...), nil
	case e.set.wide():
		return e.appendWide(dst, s)
	case e.set.table() != nil:
		return e.appendTable(dst, s)
	}
	return e.appendMultibyte(dst, s)
}

func (e Encoding) appendWide(dst []byte, s string) ([]byte, error) {
	dst = append(make([]byte, 0, len(dst)+2*len(s)), dst...)
	put := func(u uint16) {
		if e.set == utf16le {
			dst = append(dst, byte(u), byte(u>>8))
		} else {
			dst = append(dst, byte(u>>8), byte(u))
		}
	}
	for i, r := range s {
		if r == utf8.RuneError && span.IsStray(s[i:]) {
			return nil, e.unencodable(s, i)
		}
		if r < 0x10000 {
			put(uint16(r))
			continue
		}
		hi, lo := utf16.EncodeRune(r)
		put(uint16(hi))
		put(uint16(lo))
	}
	return dst, nil
}

func (e Encoding) appendTable(dst []byte, s string) ([]byte, error) {
	table := e.set.table()
	dst = append(make([]byte, 0, len(dst)+len(s)), dst...)
	for i, r := range s {
		if r < 0x80 {
			dst = append(dst, byte(r))
			continue
		}
		b, ok := table.EncodeRune(r)
		if !ok || r == utf8.RuneError {
			return nil, e.unencodable(s, i)
		}
		dst = append(dst, b)
	}
	return dst, nil
}

func (e Encoding) appendMultibyte(dst []byte, s string) ([]byte, error) {
	enc := e.set.multibyte().NewEncoder()
	out, err := enc.String(s)
	if err == nil && utf8.ValidString(s) {
		return append(dst, out...), nil
	}
	for i, r := range s { // the codec does not say where it stopped
		if r == utf8.RuneError && span.IsStray(s[i:]) {
			return nil, e.unencodable(s, i)
		}
		if _, err := enc.String(string(r)); err != nil {
			return nil, e.unencodable(s, i)
		}
	}
	return nil, fmt.Errorf("encode as %s: %w", e.Name(), err)
}

func (e Encoding) unencodable(s string, at int) error {
	r, _ := utf8.DecodeRuneInString(s[at:])
	return &UnencodableError{Rune: r, Line: 1 + strings.Count(s[:at], "\n"), Name: e.Name()}
}

// decodePrefix decodes as much of raw as the charset allows (raw without a
// byte order mark) and says how many bytes that was. It is for the charsets
// other than UTF-8.
func (c charset) decodePrefix(raw []byte) (text []byte, used int) {
	switch {
	case c.wide():
		return c.decodeWide(raw)
	case c.table() != nil:
		return c.decodeTable(raw)
	}
	return c.decodeMultibyte(raw)
}

func (c charset) unit(raw []byte, i int) uint16 {
	if c == utf16le {
		return uint16(raw[i]) | uint16(raw[i+1])<<8
	}
	return uint16(raw[i])<<8 | uint16(raw[i+1])
}

func (c charset) decodeWide(raw []byte) ([]byte, int) {
	text := make([]byte, 0, len(raw)/2+len(raw)/8)
	i := 0
	for i+1 < len(raw) {
		u := c.unit(raw, i)
		if u < 0x80 {
			text = append(text, byte(u))
			i += 2
			continue
		}
		if !utf16.IsSurrogate(rune(u)) {
			text = utf8.AppendRune(text, rune(u))
			i += 2
			continue
		}
		if i+3 >= len(raw) {
			break
		}
		r := utf16.DecodeRune(rune(u), rune(c.unit(raw, i+2)))
		if r == utf8.RuneError {
			break
		}
		text = utf8.AppendRune(text, r)
		i += 4
	}
	return text, i
}

func (c charset) decodeTable(raw []byte) ([]byte, int) {
	table := c.table()
	text := make([]byte, 0, len(raw)+len(raw)/4)
	for i, b := range raw {
		if b < 0x80 {
			text = append(text, b)
			continue
		}
		r := table.DecodeByte(b)
		if r == utf8.RuneError || r < 0xA0 { // unassigned, or a C1 control in its place
			return text, i
		}
		text = utf8.AppendRune(text, r)
	}
	return text, len(raw)
}

func (c charset) decodeMultibyte(raw []byte) ([]byte, int) {
	whole := 0
	for whole < len(raw) { // a character cut off by the end is left alone
		n := c.charLen(raw[whole])
		if whole+n > len(raw) {
			break
		}
		whole += n
	}
	text, err := c.multibyte().NewDecoder().Bytes(raw[:whole])
	if err == nil && !bytes.ContainsRune(text, utf8.RuneError) {
		return text, whole
	}
	return c.decodeUntilBroken(raw[:whole])
}

// decodeUntilBroken goes character by character to the first that does not
// decode. It is slow and only runs on broken text.
func (c charset) decodeUntilBroken(raw []byte) ([]byte, int) {
	dec := c.multibyte().NewDecoder()
	var text []byte
	i := 0
	for i < len(raw) {
		n := min(c.charLen(raw[i]), len(raw)-i)
		part, err := dec.Bytes(raw[i : i+n])
		if err != nil || bytes.ContainsRune(part, utf8.RuneError) {
			break
		}
		text = append(text, part...)
		i += n
	}
	return text, i
}

// decode decodes all of raw or nothing, and only when encoding again gives the
// same bytes.
func (c charset) decode(raw []byte) ([]byte, bool) {
	text, used := c.decodePrefix(raw)
	if used != len(raw) {
		return nil, false
	}
	if c.wide() || c.table() != nil {
		return text, true // one byte or unit, one character, and back
	}
	again, err := Encoding{set: c}.Encode(string(text))
	return text, err == nil && bytes.Equal(again, raw)
}
