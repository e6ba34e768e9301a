// Package text turns a file's bytes into text and back: charset, byte order mark, line
// endings, numbered pages, and a sparse line index of files that are not held in memory.
//
// It promises that encoding a decoded text again gives the same bytes, for every file it
// accepts, mixed line endings and broken characters included; that a page never cuts a
// line or a character unless asked to; and that every range it reports counts bytes of the
// file, not of the text.
//
// It opens no file, keeps nothing between calls but what a Scan indexed, and does not
// judge whether a file has changed: a caller that passes in the same Scan or Doc again
// must know that.
package text

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/text/charset"
)

// Encoding is the form of a file's text.
type Encoding = charset.Encoding

// UnencodableError is a text that the file's charset cannot hold.
type UnencodableError = charset.UnencodableError

// ErrBinary is content that is no text in any charset known here.
var ErrBinary = errors.New("content is binary")

// Doc is a decoded file.
type Doc struct {
	// Raw are the file's bytes.
	Raw []byte
	// Text is the decoded text without byte order mark. Bytes that are no
	// character stay in it as they are (then Enc is UTF-8 and Strays counts
	// them). In UTF-8 it shares the memory of Raw, which must not change.
	Text string
	// Enc writes Text as Raw.
	Enc charset.Encoding
	// Strays counts the bytes of Text that are no part of a character.
	Strays int
	// EOL counts the line endings.
	EOL EOL

	ascii bool   // nothing for the notice, and every byte a character
	marks []mark // every few KiB, if the charset is not UTF-8
}

// ASCII reports whether the file has only bytes below 0x80.
func (d *Doc) ASCII() bool {
	_, ok := countBelow(d.Raw)
	return d.ascii || ok
}

// EOL counts the line endings of a file; a carriage return counts in CR only
// if no line feed follows.
type EOL struct{ LF, CRLF, CR int }

// Name says which endings there are, "" if line feeds end all lines.
func (e EOL) Name() string {
	switch {
	case e.loneCR():
		return "CR"
	case e.CRLF > 0 && e.LF > 0:
		return "CRLF and LF"
	case e.CRLF > 0:
		return "CRLF"
	}
	return ""
}

// loneCR reports that carriage returns end the lines, for lack of line feeds.
func (e EOL) loneCR() bool { return e.CR > 0 && e.LF+e.CRLF == 0 }

// breaks returns the number of line endings that count.
func (e EOL) breaks() int {
	if e.loneCR() {
		return e.CR
	}
	return e.LF + e.CRLF
}

// CountEOL counts the line endings of s.
func CountEOL(s string) EOL {
	feeds := strings.Count(s, "\n")
	returns := strings.Count(s, "\r")
	if returns == 0 {
		return EOL{LF: feeds}
	}
	pairs := 0
	for i := 0; ; {
		n := strings.IndexByte(s[i:], '\r')
		if n < 0 {
			break
		}
		i += n + 1
		if i < len(s) && s[i] == '\n' {
			pairs++
		}
	}
	return EOL{LF: feeds - pairs, CRLF: pairs, CR: returns - pairs}
}

func (e EOL) plainASCII(b []byte) bool { return plainASCII(b, e.LF+2*e.CRLF+e.CR) }

// tooStray is the bound between a text with broken bytes and binary content:
// more than half of the bytes, or more than a tenth beyond the first four.
func tooStray(strays, size int) bool {
	return strays*2 > size || strays*10 > size+40
}

// Decode recognises the charset of raw and decodes it, or answers ErrBinary. In
// this order: a byte order mark decides, if what follows is valid; a NUL byte
// means binary, unless about half of the bytes are NUL, as in UTF-16 (IsWide);
// valid UTF-8 is UTF-8; mostly valid UTF-8 is UTF-8 with stray bytes; a legacy
// charset that is recognised, and that gives the same bytes again; UTF-8 with
// stray bytes, unless there are too many.
func Decode(raw []byte) (*Doc, error) {
	if d := decodeWide(raw); d != nil {
		return d, nil
	}
	return decodeNarrow(raw, true)
}

// DecodeLarge decodes a file as a Scan does that has seen its beginning: a NUL byte further
// on does not make it binary. What a legacy charset cannot hold makes it UTF-8 with stray
// bytes.
func DecodeLarge(raw []byte) (*Doc, error) {
	enc, err := HeadEncoding(raw[:min(headSize, len(raw))], len(raw) <= headSize)
	if err != nil {
		return nil, err
	}
	body := raw[len(enc.BOM()):]
	if !enc.IsUTF8() {
		if text, ok := decodePieces(enc.Set, body); ok {
			return newDoc(raw, text, enc), nil
		}
		if enc.Set.Wide() {
			return nil, ErrBinary
		}
		enc = charset.Encoding{}
	}
	d := &Doc{Raw: raw, Text: stringOf(body), Enc: enc}
	d.EOL = CountEOL(d.Text)
	d.Strays, _ = countStrays(body)
	return d, nil
}

// pieceLen is the size in bytes of the pieces in which a large file is decoded.
const pieceLen = 1 << 20

// decodePieces decodes as Set.Decode does, in memory for the text and little beside it.
func decodePieces(set charset.Charset, raw []byte) ([]byte, bool) {
	var text []byte
	for len(raw) > 0 {
		piece := raw[:min(pieceLen, len(raw))]
		part, used := set.DecodePrefix(piece)
		ok := set.Restores(part, piece[:used])
		if !ok || used == 0 || len(piece) == len(raw) && used < len(raw) {
			return nil, false
		}
		if text == nil { // the rest is probably alike
			text = make([]byte, 0, len(part)*(len(raw)/used+1)*9/8)
		}
		text, raw = append(text, part...), raw[used:]
	}
	return text, true
}

// decodeNarrow decodes what is not UTF-16: UTF-8, or with legacy a charset that
// is recognised.
func decodeNarrow(raw []byte, legacy bool) (*Doc, error) {
	d := &Doc{Raw: raw, Text: stringOf(raw), EOL: CountEOL(stringOf(raw))}
	if d.EOL.plainASCII(raw) {
		d.ascii = d.EOL.CR == 0 || d.EOL.loneCR()
		return d, nil
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return nil, ErrBinary
	}
	enc := charset.Encoding{Mark: bytes.HasPrefix(raw, []byte(charset.MarkUTF8))}
	body := raw[len(enc.BOM()):]
	strays, multi := 0, 0
	if !utf8.Valid(body) {
		strays, multi = countStrays(body)
	}
	if strays > 0 && legacy && !enc.Mark && multi < 2*strays {
		if d := decodeLegacy(raw); d != nil {
			return d, nil
		}
	}
	if strays > 0 && tooStray(strays, len(raw)) {
		return nil, ErrBinary
	}
	d.Text, d.Enc, d.Strays = stringOf(body), enc, strays
	return d, nil
}

// DecodeAs decodes raw, which is known to be in an encoding, though it may be
// too short to be recognised. It may have a byte order mark now, and UTF-8 may have lost its
// mark. The error is ErrBinary if raw is no text in that encoding.
func DecodeAs(raw []byte, enc charset.Encoding) (*Doc, error) {
	if enc.IsUTF8() {
		return decodeNarrow(raw, false)
	}
	if marked, ok := wideBOM(raw); ok && marked.Set == enc.Set {
		enc = marked
	}
	body, marked := bytes.CutPrefix(raw, enc.BOM())
	if !marked {
		return nil, ErrBinary
	}
	text, ok := enc.Set.Decode(body)
	if !ok || bytes.IndexByte(text, 0) >= 0 {
		return nil, ErrBinary
	}
	return newDoc(raw, text, enc), nil
}

// decodeWide decodes UTF-16; nil if raw is not UTF-16, has half a character or holds
// U+0000. What it refuses is looked at as bytes, and mostly turns out binary by its NUL
// bytes.
func decodeWide(raw []byte) *Doc {
	enc, ok := wide(raw)
	if !ok {
		return nil
	}
	text, ok := enc.Set.Decode(raw[len(enc.BOM()):])
	if !ok || bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	return newDoc(raw, text, enc)
}

// IsWide reports whether a file with this beginning is read as UTF-16 if its bytes are valid
// as such: it has a byte order mark, or in 64 KiB every other byte is 0 for at least nine in
// ten characters, and none is a control character of another kind than texts have.
func IsWide(head []byte) bool {
	_, ok := wide(head)
	return ok
}

// wide returns the encoding by which IsWide reports true.
func wide(head []byte) (charset.Encoding, bool) {
	if enc, ok := wideBOM(head); ok {
		return enc, true
	}
	head = head[:min(len(head), headSize)&^1]
	units := len(head) / 2
	if units < 2 || bytes.IndexByte(head[:min(len(head), 64)], 0) < 0 || // at once for other texts,
		bytes.Count(head, []byte{0})*10 < units*8 { // and soon for most binary files
		return charset.Encoding{}, false
	}
	var zeros [2]int // at even and odd places
	for i, b := range head {
		if b == 0 {
			zeros[i&1]++
		}
	}
	for i, set := range []charset.Charset{charset.UTF16BE, charset.UTF16LE} {
		if zeros[i]*10 < units*8 { // a pair of surrogates is one character
			continue
		}
		text, used := set.DecodePrefix(head)
		narrow, all := 0, 0
		for _, r := range stringOf(text) {
			if all++; r <= 0xFF {
				narrow++
			}
			if isBinaryControl(r) {
				return charset.Encoding{}, false
			}
		}
		return charset.Encoding{Set: set}, len(head)-used < 4 && narrow*10 >= all*9
	}
	return charset.Encoding{}, false
}

// isBinaryControl reports a control character that texts do not have.
func isBinaryControl(r rune) bool {
	return r < ' ' && (r < '\b' || r > '\r') && r != 0x1B || r >= 0x7F && r < 0xA0 && r != 0x85
}

func wideBOM(raw []byte) (charset.Encoding, bool) {
	switch {
	case bytes.HasPrefix(raw, []byte(charset.MarkUTF16LE)):
		return charset.Encoding{Set: charset.UTF16LE, Mark: true}, true
	case bytes.HasPrefix(raw, []byte(charset.MarkUTF16BE)):
		return charset.Encoding{Set: charset.UTF16BE, Mark: true}, true
	}
	return charset.Encoding{}, false
}

// decodeLegacy decodes raw in the charset that its head suggests; nil if
// none is recognised or encoding again would give other bytes.
func decodeLegacy(raw []byte) *Doc {
	set, ok := charset.Detect(raw)
	if !ok {
		return nil
	}
	text, ok := set.Decode(raw)
	if !ok {
		return nil
	}
	return newDoc(raw, text, charset.Encoding{Set: set})
}

// newDoc is for the charsets whose text is not the bytes themselves.
func newDoc(raw, text []byte, enc charset.Encoding) *Doc {
	s := stringOf(text)
	return &Doc{Raw: raw, Text: s, Enc: enc, EOL: CountEOL(s), marks: markOffsets(raw, s, enc)}
}

// HeadEncoding is the encoding of a file that begins with head, as NewScan finds it; whole
// says that head is all of it. The error is ErrBinary.
func HeadEncoding(head []byte, whole bool) (charset.Encoding, error) {
	if enc, ok := wide(head); ok {
		body := head[len(enc.BOM()):]
		if text, used := enc.Set.DecodePrefix(body); bytes.IndexByte(text, 0) < 0 &&
			(used == len(body) || !whole && len(body)-used < 4) {
			return enc, nil
		}
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return charset.Encoding{}, ErrBinary
	}
	if !whole {
		head = head[:len(head)-OpenTail(head)]
	}
	enc := charset.Encoding{Mark: bytes.HasPrefix(head, []byte(charset.MarkUTF8))}
	if utf8.Valid(head) {
		return enc, nil
	}
	strays, multi := countStrays(head)
	if !enc.Mark && multi < 2*strays {
		if set, ok := charset.Detect(head); ok {
			if _, used := set.DecodePrefix(head); used > len(head)-4 {
				return charset.Encoding{Set: set}, nil
			}
		}
	}
	if tooStray(strays, len(head)) {
		return charset.Encoding{}, ErrBinary
	}
	return enc, nil
}

// OpenTail returns the length of a UTF-8 character at the end of b that lacks its last bytes.
func OpenTail(b []byte) int {
	for n := 1; n <= 3 && n <= len(b); n++ {
		c := b[len(b)-n]
		if c >= 0xC0 {
			if utf8.FullRune(b[len(b)-n:]) {
				return 0
			}
			return n
		}
		if c < 0x80 {
			return 0
		}
	}
	return 0
}

// Lines is the number of lines. A line ending at the end of the file opens no
// further line.
func (d *Doc) Lines() int {
	n := d.EOL.breaks()
	if d.Text != "" && !d.endsLine() {
		n++
	}
	return n
}

func (d *Doc) endsLine() bool {
	return strings.HasSuffix(d.Text, string(d.eol()))
}

// eol is the byte that ends a line: the line feed, also of a CRLF, or the
// carriage return of a file without line feeds.
func (d *Doc) eol() byte {
	if d.EOL.loneCR() {
		return '\r'
	}
	return '\n'
}
