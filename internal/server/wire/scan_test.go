package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// The scanner accepts the same JSON as encoding/json, except for nesting.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		`{}`, `[1,-0.5e+3,"a\u00e9",null,true,false,{"a":[{}]}]`, `{"a":1,}`, `[,]`, `01`, `1.`, `-`, `"\x"`, `"\u12g4"`,
		"\"\x1f\"", `{"a" 1}`, `tru`, ` [ ] `, `"`, `{"a":1 "b":2}`, `[1 2]`, `]`, `}`, `"\`, `1e`, "\"\xff\"", `[[[[]]]]`, `{"a":{"b":[]}}x`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		s := newScanner(in)
		v, err := s.value()
		ok := err == nil && s.end()
		if errors.Is(err, ErrDepth) {
			return
		}
		if want := json.Valid(in); ok != want {
			t.Fatalf("%q: valid %v, scanner says %v (%v)", in, want, ok, err)
		}
		if !ok {
			return
		}
		if !bytes.Equal(v.Raw, bytes.Trim(in, " \t\r\n")) {
			t.Fatalf("%q: value is %q", in, v.Raw)
		}
		if v.Kind == String {
			compareUnquote(t, v.Raw)
		}
	})
}

// compareUnquote: unquote and encoding/json decode to the same string; strings that
// unquote refuses, encoding/json repairs with U+FFFD.
func compareUnquote(t *testing.T, raw []byte) {
	var want string
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	got, err := Unquote(raw)
	if err != nil && !strings.ContainsRune(want, utf8.RuneError) {
		t.Fatalf("%q is refused: %v", raw, err)
	}
	if err == nil && got != want {
		t.Fatalf("%q is %q, not %q", raw, got, want)
	}
}

// Every beginning of a message is an error, and its id is known once it is complete.
func TestMessageCutOff(t *testing.T) {
	const line = `{"id":"a1","jsonrpc":"2.0","method":"tools\/call","params":{"name":"Read","arguments":{"a":[1,{"b":null}]}}}`
	for n := range len(line) {
		if m, err := ParseMessage([]byte(line[:n])); err == nil || n > len(`{"id":"a1",`) && string(m.ID) != `"a1"` {
			t.Errorf("%s: %v, id %s", line[:n], err, m.ID)
		}
	}
}

func TestScannerDepth(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	s := newScanner([]byte(deep))
	if _, err := s.value(); err != nil || !s.end() {
		t.Errorf("%d levels: %v", MaxDepth, err)
	}
	s = newScanner([]byte("[" + deep + "]"))
	if _, err := s.value(); !errors.Is(err, ErrDepth) {
		t.Errorf("one level more: %v", err)
	}
	s = newScanner(bytes.Repeat([]byte("["), 1<<20))
	if _, err := s.value(); !errors.Is(err, ErrDepth) {
		t.Errorf("a million levels: %v", err)
	}
}

func TestPlain(t *testing.T) {
	for _, stop := range []byte{'"', '\\', 0, 0x1f, '\n'} {
		for at := range 40 {
			b := bytes.Repeat([]byte{0x80}, 40)
			for i := range b {
				b[i] = []byte{' ', 0x7f, 0x80, 0xff, '!', '#', '[', ']'}[i%8]
			}
			b[at] = stop
			if got := plain(b, '"'); got != at {
				t.Fatalf("%q: %d, not %d", b, got, at)
			}
		}
	}
}
