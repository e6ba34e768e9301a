// Package charset detects, decodes and encodes the charsets of text files.
//
// It promises that decoding accepts only what encodes back to the same bytes. It knows
// nothing of lines or pages, and opens no file.
package charset

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

// Charset is one way of writing characters as bytes, the byte order mark aside.
type Charset uint8

const (
	UTF8 Charset = iota
	UTF16LE
	UTF16BE
	Windows1250
	Windows1251
	Windows1252
	Windows1253
	Windows1254
	Windows1255
	Windows1256
	Windows1257
	Windows1258
	Windows874
	ISO8859_2
	ISO8859_5
	ISO8859_6
	ISO8859_7
	ISO8859_8
	ISO8859_13
	ISO8859_15
	KOI8R
	ShiftJIS
	EUCJP
	GBK
	Big5
	EUCKR
)

// sets holds the name of each Charset in answers, and its codec; nil: this package decodes it.
var sets = [...]struct {
	name  string
	codec encoding.Encoding
}{
	UTF8:        {name: "utf-8"},
	UTF16LE:     {name: "utf-16le"},
	UTF16BE:     {name: "utf-16be"},
	Windows1250: {name: "windows-1250", codec: charmap.Windows1250},
	Windows1251: {name: "windows-1251", codec: charmap.Windows1251},
	Windows1252: {name: "windows-1252", codec: charmap.Windows1252},
	Windows1253: {name: "windows-1253", codec: charmap.Windows1253},
	Windows1254: {name: "windows-1254", codec: charmap.Windows1254},
	Windows1255: {name: "windows-1255", codec: charmap.Windows1255},
	Windows1256: {name: "windows-1256", codec: charmap.Windows1256},
	Windows1257: {name: "windows-1257", codec: charmap.Windows1257},
	Windows1258: {name: "windows-1258", codec: charmap.Windows1258},
	Windows874:  {name: "windows-874", codec: charmap.Windows874},
	ISO8859_2:   {name: "iso-8859-2", codec: charmap.ISO8859_2},
	ISO8859_5:   {name: "iso-8859-5", codec: charmap.ISO8859_5},
	ISO8859_6:   {name: "iso-8859-6", codec: charmap.ISO8859_6},
	ISO8859_7:   {name: "iso-8859-7", codec: charmap.ISO8859_7},
	ISO8859_8:   {name: "iso-8859-8", codec: charmap.ISO8859_8},
	ISO8859_13:  {name: "iso-8859-13", codec: charmap.ISO8859_13},
	ISO8859_15:  {name: "iso-8859-15", codec: charmap.ISO8859_15},
	KOI8R:       {name: "koi8-r", codec: charmap.KOI8R},
	ShiftJIS:    {name: "shift-jis", codec: japanese.ShiftJIS},
	EUCJP:       {name: "euc-jp", codec: japanese.EUCJP},
	GBK:         {name: "gbk", codec: simplifiedchinese.GBK},
	Big5:        {name: "big5", codec: traditionalchinese.Big5},
	EUCKR:       {name: "euc-kr", codec: korean.EUCKR},
}

// String is the lower-case name, such as "windows-1252".
func (c Charset) String() string { return sets[c].name }

// Named returns the charset with a lower-case name.
func Named(name string) (set Charset, ok bool) {
	for i := range sets {
		if sets[i].name == name {
			return Charset(i), true
		}
	}
	return 0, false
}

// Wide reports a charset of 16-bit units.
func (c Charset) Wide() bool { return c == UTF16LE || c == UTF16BE }

// Table returns the map of a single-byte charset, nil for the others.
func (c Charset) Table() *charmap.Charmap {
	table, _ := sets[c].codec.(*charmap.Charmap)
	return table
}

// CharLen returns the number of bytes of the character at the start of raw, in a charset
// other than UTF-8. It looks at the first byte or unit alone: the decoder judges whether the
// character exists, and raw may end before it does.
func (c Charset) CharLen(raw []byte) int {
	b := raw[0]
	switch {
	case c.Wide():
		if len(raw) > 1 && utf16.IsSurrogate(rune(c.UnitAt(raw, 0))) {
			return 4
		}
		return 2
	case b < 0x80:
		return 1
	}
	switch c {
	case ShiftJIS:
		if b >= 0xA0 && b < 0xE0 || b == 0x80 || b > 0xFC {
			return 1
		}
		return 2
	case EUCJP:
		switch {
		case b == 0x8F:
			return 3
		case b == 0x8E || b >= 0xA1 && b < 0xFF:
			return 2
		}
		return 1
	case GBK, Big5, EUCKR:
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
	Set  Charset
	Mark bool
}

// Name is the charset's lower-case name, such as "utf-8" or "windows-1252".
func (e Encoding) Name() string { return e.Set.String() }

// String is Name, so that an Encoding reads well in messages.
func (e Encoding) String() string { return e.Name() }

// IsUTF8 reports UTF-8, with or without a byte order mark.
func (e Encoding) IsUTF8() bool { return e.Set == UTF8 }

// HasBOM reports a byte order mark at the head of the file.
func (e Encoding) HasBOM() bool { return e.Mark }

// Units is the form of its line ends and other characters below U+0080.
func (e Encoding) Units() span.Units {
	switch e.Set {
	case UTF16LE:
		return span.WideLittle
	case UTF16BE:
		return span.WideBig
	}
	return span.Narrow
}

// BOM returns the byte order mark of the file, empty if it has none.
func (e Encoding) BOM() []byte {
	if !e.Mark {
		return nil
	}
	switch e.Set {
	case UTF8:
		return []byte(MarkUTF8)
	case UTF16LE:
		return []byte(MarkUTF16LE)
	case UTF16BE:
		return []byte(MarkUTF16BE)
	}
	return nil
}

const (
	MarkUTF8    = "\xEF\xBB\xBF"
	MarkUTF16LE = "\xFF\xFE"
	MarkUTF16BE = "\xFE\xFF"
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

// EncodeFile is Encode with the byte order mark if the file had one.
func (e Encoding) EncodeFile(s string) ([]byte, error) { return e.append(e.BOM(), s) }

func (e Encoding) append(dst []byte, s string) ([]byte, error) {
	switch {
	case e.Set == UTF8:
		return append(dst, s...), nil
	case e.Set.Wide():
		return e.appendWide(dst, s)
	case e.Set.Table() != nil:
		return e.appendTable(dst, s)
	}
	return e.appendMultibyte(dst, s)
}

func (e Encoding) appendWide(dst []byte, s string) ([]byte, error) {
	dst = append(make([]byte, 0, len(dst)+2*len(s)), dst...)
	put := func(u uint16) {
		if e.Set == UTF16LE {
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

// appendTable does without the table's own encoder, which takes twice the time.
func (e Encoding) appendTable(dst []byte, s string) ([]byte, error) {
	table := e.Set.Table()
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
	enc := sets[e.Set].codec.NewEncoder()
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

// DecodePrefix decodes as much of raw as the charset allows (raw without a
// byte order mark) and says how many bytes that was. It is for the charsets
// other than UTF-8.
func (c Charset) DecodePrefix(raw []byte) (text []byte, used int) {
	switch {
	case c.Wide():
		return c.decodeWide(raw)
	case c.Table() != nil:
		return c.decodeTable(raw)
	}
	return c.decodeMultibyte(raw)
}

// UnitAt returns the 16-bit unit at raw[i:] of a wide charset.
func (c Charset) UnitAt(raw []byte, i int) uint16 {
	if c == UTF16LE {
		return uint16(raw[i]) | uint16(raw[i+1])<<8
	}
	return uint16(raw[i])<<8 | uint16(raw[i+1])
}

func (c Charset) decodeWide(raw []byte) ([]byte, int) {
	text := make([]byte, 0, len(raw)/2+len(raw)/8)
	i := 0
	for i+1 < len(raw) {
		u := c.UnitAt(raw, i)
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
		r := utf16.DecodeRune(rune(u), rune(c.UnitAt(raw, i+2)))
		if r == utf8.RuneError {
			break
		}
		text = utf8.AppendRune(text, r)
		i += 4
	}
	return text, i
}

func (c Charset) decodeTable(raw []byte) ([]byte, int) {
	table := c.Table()
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

func (c Charset) decodeMultibyte(raw []byte) ([]byte, int) {
	whole := 0
	for whole < len(raw) { // a character cut off by the end is left alone
		n := c.CharLen(raw[whole:])
		if whole+n > len(raw) {
			break
		}
		whole += n
	}
	text, err := sets[c].codec.NewDecoder().Bytes(raw[:whole])
	if err == nil && !bytes.ContainsRune(text, utf8.RuneError) {
		return text, whole
	}
	return c.decodeUntilBroken(raw[:whole])
}

// decodeUntilBroken goes character by character to the first that does not
// decode. It is slow and only runs on broken text.
func (c Charset) decodeUntilBroken(raw []byte) ([]byte, int) {
	dec := sets[c].codec.NewDecoder()
	var text []byte
	i := 0
	for i < len(raw) {
		n := min(c.CharLen(raw[i:]), len(raw)-i)
		part, err := dec.Bytes(raw[i : i+n])
		if err != nil || bytes.ContainsRune(part, utf8.RuneError) {
			break
		}
		text = append(text, part...)
		i += n
	}
	return text, i
}

// Decode decodes all of raw or nothing, and only when encoding again gives the
// same bytes.
func (c Charset) Decode(raw []byte) ([]byte, bool) {
	text, used := c.DecodePrefix(raw)
	if used != len(raw) {
		return nil, false
	}
	return text, c.Restores(text, raw)
}

// Restores reports whether encoding a decoded text again gives the same bytes.
func (c Charset) Restores(text, raw []byte) bool {
	if c.Wide() || c.Table() != nil {
		return true // one byte or unit, one character, and back
	}
	again, err := Encoding{Set: c}.Encode(string(text))
	return err == nil && bytes.Equal(again, raw)
}
