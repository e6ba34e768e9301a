package charset

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// allSets returns the charsets but UTF-8, whose text is its bytes.
func allSets() (all []Charset) {
	for c := range sets[1:] {
		all = append(all, Charset(c+1))
	}
	return all
}

// Each sequence of one or two bytes, and each unit of UTF-16, either is refused or encodes to
// the same bytes again.
func TestDecodedBytesEncodeAgain(t *testing.T) {
	for _, c := range allSets() {
		decoded := 0
		for n := range 0x10000 {
			raw := []byte{byte(n >> 8), byte(n)}
			if !c.Wide() && c.CharLen(raw) == 1 {
				raw = raw[:1]
			}
			text, ok := c.Decode(raw)
			if !ok {
				continue
			}
			decoded++
			if again, err := (Encoding{Set: c}).Encode(string(text)); err != nil || !bytes.Equal(again, raw) {
				t.Fatalf("%v: %x is %q, which is %x: %v", c, raw, text, again, err)
			}
		}
		if decoded < 200 {
			t.Errorf("%v decodes %d sequences", c, decoded)
		}
	}
}

// A text of all characters that a charset holds comes back, by Decode and by DecodePrefix, and
// CharLen finds the place of each character.
func TestEncodedCharactersDecodeAgain(t *testing.T) {
	for _, c := range allSets() {
		var runes []rune
		step := rune(1)
		for r := rune(1); r <= utf8.MaxRune; r += step {
			if r > 0xFFFF {
				step = 0x100
			}
			b, err := Encoding{Set: c}.Encode(string(r))
			if err != nil || utf16.IsSurrogate(r) {
				continue
			}
			if text, ok := c.Decode(b); ok && string(text) == string(r) {
				runes = append(runes, r)
			}
		}
		want := string(runes)
		raw, err := Encoding{Set: c}.Encode(want)
		if err != nil || len(runes) < 150 {
			t.Fatalf("%v holds %d characters: %v", c, len(runes), err)
		}
		if text, ok := c.Decode(raw); !ok || string(text) != want {
			t.Errorf("%v: %d of %d bytes decode, %v", c, len(text), len(want), ok)
		}
		n := 0
		for at := 0; at < len(raw); n++ {
			at += c.CharLen(raw[at:])
		}
		if n != len(runes) {
			t.Errorf("%v: %d characters of %d", c, n, len(runes))
		}
	}
}

func TestDecodePrefix(t *testing.T) {
	for _, c := range []struct {
		name string
		set  Charset
		raw  string
		text string
		used int
	}{
		{name: "all", set: Windows1252, raw: "caf\xe9", text: "café", used: 4},
		{name: "an unassigned byte", set: Windows1252, raw: "a\x81b", text: "a", used: 1},
		{name: "a control character", set: ISO8859_2, raw: "a\x85b", text: "a", used: 1},
		{name: "half a character at the end", set: ShiftJIS, raw: "a\x82\xa0\x82", text: "aあ", used: 3},
		{name: "a broken character", set: GBK, raw: "a\xff\xffb", text: "a", used: 1},
		{name: "three bytes", set: EUCJP, raw: "\x8f\xb0\xa1x", text: "丂x", used: 4},
		{name: "half a unit", set: UTF16LE, raw: "a\x00b", text: "a", used: 2},
		{name: "a pair", set: UTF16BE, raw: "\xd8\x3d\xde\x00!", text: "😀", used: 4},
		{name: "half a pair", set: UTF16BE, raw: "\x00a\xd8\x3d", text: "a", used: 2},
		{name: "a pair in the wrong order", set: UTF16BE, raw: "\x00a\xde\x00\xd8\x3d", text: "a", used: 2},
	} {
		text, used := c.set.DecodePrefix([]byte(c.raw))
		if string(text) != c.text || used != c.used {
			t.Errorf("%s: %q and %d", c.name, text, used)
		}
		if _, ok := c.set.Decode([]byte(c.raw)); ok != (c.used == len(c.raw)) {
			t.Errorf("%s: Decode says %v", c.name, ok)
		}
	}
}

// The first character that a charset lacks is named with its line.
func TestUnencodableCharacter(t *testing.T) {
	for _, c := range []struct {
		name string
		set  Charset
		text string
		want UnencodableError
	}{
		{name: "a table", set: Windows1252, text: "é\nа", want: UnencodableError{Rune: 'а', Line: 2, Name: "windows-1252"}},
		{name: "a replacement character", set: Windows1253, text: "\ufffd", want: UnencodableError{Rune: '\ufffd', Line: 1, Name: "windows-1253"}},
		{name: "a stray byte", set: KOI8R, text: "a\n\n\xff", want: UnencodableError{Rune: utf8.RuneError, Line: 3, Name: "koi8-r"}},
		{name: "several bytes", set: ShiftJIS, text: "あ😀", want: UnencodableError{Rune: '😀', Line: 1, Name: "shift-jis"}},
		{name: "a stray byte among them", set: Big5, text: "\xffx", want: UnencodableError{Rune: utf8.RuneError, Line: 1, Name: "big5"}},
		{name: "a stray byte of UTF-16", set: UTF16LE, text: "\ufffd\n\xff", want: UnencodableError{Rune: utf8.RuneError, Line: 2, Name: "utf-16le"}},
	} {
		var got *UnencodableError
		if _, err := (Encoding{Set: c.set}).Encode(c.text); !errors.As(err, &got) || *got != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestByteOrderMarks(t *testing.T) {
	for _, c := range []struct {
		enc  Encoding
		want string
	}{
		{enc: Encoding{Set: UTF8}, want: "a"},
		{enc: Encoding{Set: UTF8, Mark: true}, want: "\xef\xbb\xbfa"},
		{enc: Encoding{Set: UTF16LE, Mark: true}, want: "\xff\xfea\x00"},
		{enc: Encoding{Set: UTF16BE, Mark: true}, want: "\xfe\xff\x00a"},
		{enc: Encoding{Set: UTF16BE}, want: "\x00a"},
	} {
		if b, err := c.enc.EncodeFile("a"); err != nil || string(b) != c.want {
			t.Errorf("%+v: %q %v", c.enc, b, err)
		}
	}
}

// Detect knows a charset by the text alone, and none for ASCII, noise, or bytes with control
// characters.
func TestDetect(t *testing.T) {
	for _, c := range []struct {
		set  Charset
		text string
	}{
		{set: Windows1252, text: "Voilà l’été, où le cœur naïf préfère la forêt\n"},
		{set: Windows1250, text: "Příliš žluťoučký kůň úpěl ďábelské ódy\n"},
		{set: Windows1251, text: "Съешь же ещё этих мягких французских булок\n"},
		{set: KOI8R, text: "Съешь же ещё этих мягких французских булок\n"},
		{set: Windows1253, text: "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία\n"},
		{set: ShiftJIS, text: "これは日本語の文字コードです。\n"},
		{set: EUCJP, text: "これは日本語の文字コードです。\n"},
		{set: GBK, text: "我们在这里使用简体中文文件，没有问题。\n"},
		{set: Big5, text: "我們在這裡使用繁體中文，沒有問題。\n"},
		{set: EUCKR, text: "이것은 한국어로 쓴 글입니다.\n"},
	} {
		raw, err := Encoding{Set: c.set}.Encode(strings.Repeat(c.text, 3))
		if err != nil {
			t.Fatal(err)
		}
		if set, ok := Detect(raw); !ok || set != c.set {
			t.Errorf("%v is taken for %v, %v", c.set, set, ok)
		}
		if _, ok := Detect(slices.Insert(raw, 0, 1)); ok {
			t.Errorf("%v is recognised with a control character", c.set)
		}
	}
	for _, raw := range []string{"", "plain\n", "\xff\xff"} {
		if set, ok := Detect([]byte(raw)); ok {
			t.Errorf("%q is taken for %v", raw, set)
		}
	}
}
