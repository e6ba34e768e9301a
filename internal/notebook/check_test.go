package notebook_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/notebook"
)

// parseFault is the fault and offset of a file that must not parse.
func parseFault(t testing.TB, raw string) (notebook.ErrorClass, int64) {
	t.Helper()
	_, err := notebook.Parse([]byte(raw))
	var fault *notebook.ParseError
	if !errors.As(err, &fault) {
		t.Fatalf("%.100q: error %v", raw, err)
	}
	return fault.Fault, fault.Offset
}

func TestFaultsAndTheirPlaces(t *testing.T) {
	cell := func(source string) string { return wrap(`{"cell_type": "code", "source": ` + source + `}`) }
	at := strings.Index(cell("@"), "@")
	tests := []struct {
		name, raw string
		fault     notebook.ErrorClass
		offset    int
	}{
		{"empty", "", notebook.Malformed, 0},
		{"blank", " \n", notebook.Malformed, 2},
		{"mark alone", bom, notebook.Malformed, 3},
		{"not UTF-8", `{"a": "` + "\xff\"}", notebook.NotUTF8, 7},
		{"UTF-16", "\xff\xfe{\x00}\x00", notebook.NotUTF8, 0},
		{"surrogate in UTF-8", "{\"a\": \"\xed\xa0\x80\"}", notebook.NotUTF8, 7},
		{"overlong", "{\"\xc0\x80\": 1}", notebook.NotUTF8, 2},
		{"cut character", "{\"\xe4\xb8", notebook.NotUTF8, 2},
		{"invalid escape", cell(`"a\x"`), notebook.BadEscape, at + 2},
		{"half an escape", cell(`"\u12"`), notebook.BadEscape, at + 1},
		{"no hex", cell(`"\u12g4"`), notebook.BadEscape, at + 1},
		{"signed hex", cell(`"\u+123"`), notebook.BadEscape, at + 1},
		{"escape at the end", `{"a\`, notebook.Malformed, 4},
		{"raw newline in a string", cell("\"a\nb\""), notebook.Malformed, at + 2},
		{"tab in a key", "{\"\t\": 1}", notebook.Malformed, 2},
		{"NaN", cell("NaN"), notebook.Malformed, at},
		{"Infinity", cell("Infinity"), notebook.Malformed, at},
		{"-Infinity", cell("-Infinity"), notebook.Malformed, at + 1},
		{"leading zero", cell("01"), notebook.Malformed, at + 1},
		{"no digits", cell("-"), notebook.Malformed, at + 1},
		{"no fraction", cell("1.x"), notebook.Malformed, at + 2},
		{"no exponent", cell("1e+"), notebook.Malformed, at + 3},
		{"plus", cell("+1"), notebook.Malformed, at},
		{"half a word", cell("tru"), notebook.Malformed, at},
		{"single quotes", cell("'a'"), notebook.Malformed, at},
		{"comma at the end of a list", cell(`["a",]`), notebook.Malformed, at + 5},
		{"comma at the end of an object", `{"a": 1,}`, notebook.Malformed, 8},
		{"no comma", `{"a": 1 "b": 2}`, notebook.Malformed, 8},
		{"no colon", `{"a" 1}`, notebook.Malformed, 5},
		{"key is no string", `{1: 2}`, notebook.Malformed, 1},
		{"comment", "// x\n{}", notebook.Malformed, 0},
		{"wrong bracket", `{"a": [1}`, notebook.Malformed, 8},
		{"two values", "{} {}", notebook.Malformed, 3},
		{"NUL behind", "{}\x00", notebook.Malformed, 2},
		{"merge conflict", "{\n<<<<<<< HEAD\n", notebook.Malformed, 2},
		{"too deep", strings.Repeat("[", 1001), notebook.TooDeep, 1000},
		{"too deep, mixed", strings.Repeat(`{"a":[`, 501), notebook.TooDeep, 500 * 6},
		{"a list", "[]", notebook.NotNotebook, 0},
		{"a string", ` "x"`, notebook.NotNotebook, 1},
		{"no version", "{}", notebook.NotNotebook, 0},
		{"version is text", `{"nbformat": "4", "cells": []}`, notebook.NotNotebook, 13},
		{"version is broken", `{"nbformat": 4.5, "cells": []}`, notebook.NotNotebook, 13},
		{"version is huge", `{"nbformat": 1e400, "cells": []}`, notebook.NotNotebook, 13},
		{"minor is text", `{"nbformat": 4, "nbformat_minor": "5", "cells": []}`, notebook.NotNotebook, 34},
		{"no cells", `{"nbformat": 4}`, notebook.NotNotebook, 0},
		{"cells is an object", `{"nbformat": 4, "cells": {}}`, notebook.NotNotebook, 25},
		{"no worksheets", `{"nbformat": 3, "cells": []}`, notebook.NotNotebook, 0},
		{"cell is a number", wrap("1"), notebook.NotNotebook, 11},
		{"cell without type", wrap(`{"source": []}`), notebook.NotNotebook, 11},
		{"type is a number", wrap(`{"cell_type": 1}`), notebook.NotNotebook, 25},
		{"source is a number", cell("7"), notebook.NotNotebook, at},
		{"source is null", cell("null"), notebook.NotNotebook, at},
		{"source holds a number", cell(`["a", 7]`), notebook.NotNotebook, at},
		{"nbformat 5", `{"nbformat": 5, "cells": []}`, notebook.BadVersion, 13},
		{"nbformat 2", `{"nbformat": 2, "worksheets": []}`, notebook.BadVersion, 13},
	}
	for _, test := range tests {
		if fault, offset := parseFault(t, test.raw); fault != test.fault || offset != int64(test.offset) {
			t.Errorf("%s: fault %d at %d, want %d at %d", test.name, fault, offset, test.fault, test.offset)
		}
	}
}

func TestTruncatedFilesAreRefused(t *testing.T) {
	t.Parallel()
	for name, raw := range fixtures(t) {
		whole := len(raw)
		for whole > 0 && raw[whole-1] != '}' {
			whole--
		}
		for end := 0; end < whole; end += 1 + end/200 {
			_, err := notebook.Parse(raw[:end])
			var fault *notebook.ParseError
			if !errors.As(err, &fault) || fault.Offset > int64(end) {
				t.Fatalf("%s cut at %d: %v", name, end, err)
			}
		}
	}
}

func TestOddButValid(t *testing.T) {
	tests := []struct{ name, raw, source string }{
		{"depth 1000", wrap(`{"cell_type": "raw", "source": "s", "metadata": ` + strings.Repeat("[", 997) + strings.Repeat("]", 997) + `}`), "s"},
		{"last of equal keys", wrap(`{"cell_type": "code", "source": "first", "source": ["last"], "cell_type": "raw"}`), "last"},
		{"escaped keys", strings.Replace(wrap(`{"cell\u005ftype": "raw", "sourc\u0065": "s"}`), "cells", `c\u0065lls`, 1), "s"},
		{"lone surrogates", wrap(`{"cell_type": "raw", "source": "a\ud800b\udc00\ud83d\ude00\ud83d"}`), "a\ufffdb\ufffd\U0001f600\ufffd"},
		{"surrogates apart", wrap(`{"cell_type": "raw", "source": ["\ud83d", "\ude00"]}`), "\ufffd\ufffd"},
		{"high before a letter", wrap(`{"cell_type": "raw", "source": "\ud83d\u0041\ufffd"}`), "\ufffdA\ufffd"},
		{"all escapes", wrap(`{"cell_type": "raw", "source": "\"\\\/\b\f\n\r\t\u00e9\u00C9\u0000"}`), "\"\\/\b\f\n\r\té\u00c9\x00"},
		{"version 4.0", strings.Replace(wrap(`{"cell_type": "raw", "source": "s"}`), `"nbformat": 4`, `"nbformat": 4.0`, 1), "s"},
		{"second list of cells", `{"cells": [], "nbformat": 4, "cells": [{"cell_type": "raw", "source": "s"}]}`, "s"},
		{"mark and blanks", bom + " \r\n\t" + wrap(`{"cell_type": "raw", "source": "s"}`) + " \n", "s"},
	}
	for _, test := range tests {
		nb := mustParse(t, test.raw)
		if got := nb.Cell(0).SourceText(); nb.Len() != 1 || got != test.source {
			t.Errorf("%s: %d cells, source %q", test.name, nb.Len(), got)
		}
	}
	source := mustParse(t, tests[3].raw).Fields(0).Source
	if _, lone, _ := source.AppendText(nil); lone != 3 {
		t.Errorf("%d lone surrogates", lone)
	}
}

// accepted reports whether the checker should accept raw, by encoding/json.
func accepted(raw []byte) bool {
	text := noMark(raw)
	return json.Valid(text) && utf8.Valid(raw) && depth(text) <= notebook.MaxDepth
}

// depth returns the nesting of valid JSON.
func depth(text []byte) int {
	deepest, now, inString := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			now++
			deepest = max(deepest, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return deepest
}

func TestCheckAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	pieces := []string{"{", "}", "[", "]", ",", ":", `"a"`, `"\u00e9"`, `"\ud800"`, `"\x"`, "1", "-0", "1.5e+7", "01", "true", "nul", " ", "\n", "\x00", "\"", "é", "\xff"}
	seed := uint32(1)
	for range 200_000 {
		var raw []byte
		for n := seed % 9; ; n-- {
			seed = seed*1664525 + 1013904223
			raw = append(raw, pieces[seed>>16%uint32(len(pieces))]...)
			if n == 0 {
				break
			}
		}
		_, err := notebook.Parse(raw)
		fault := (*notebook.ParseError)(nil)
		got := err == nil || errors.As(err, &fault) && (fault.Fault == notebook.NotNotebook || fault.Fault == notebook.BadVersion)
		if want := accepted(raw); got != want {
			t.Fatalf("%q: accepted %v, want %v (%v)", raw, got, want, err)
		}
	}
}

// TestWordsOfFaults checks what an answer says of a broken file.
func TestWordsOfFaults(t *testing.T) {
	for raw, want := range map[string]string{
		"":                        "unexpected end in place of a value at byte 0",
		"{}x":                     "unexpected 'x' behind the end of the JSON value at byte 2",
		"\xff":                    "not UTF-8 at byte 0",
		`[1,]`:                    "unexpected ']' in place of a value at byte 3",
		`[1 2]`:                   `unexpected '2' in place of ',' or ']' at byte 3`,
		`{"a": 1 é}`:              `unexpected 'é' in place of ',' or '}' at byte 8`,
		`{"a": 1,}`:               "unexpected '}' in place of a key at byte 8",
		`{1: 2}`:                  "unexpected '1' in place of a key at byte 1",
		`{"a" 1}`:                 "unexpected '1' in place of ':' at byte 5",
		`{"a":`:                   "unexpected end in place of a value at byte 5",
		`[tru]`:                   "unexpected 't' in place of a value at byte 1",
		`[1.]`:                    "unexpected ']' inside a number at byte 3",
		`[1e`:                     "unexpected end inside a number at byte 3",
		`["a`:                     "unexpected end inside a string at byte 3",
		"[\"a\n\"]":               `unexpected '\n' inside a string at byte 3`,
		`["a\`:                    "unexpected end inside an escape at byte 4",
		`["a\u12`:                 "invalid escape at byte 3",
		`["\x"]`:                  "invalid escape at byte 2",
		`{"a":NaN}`:               "unexpected 'N' in place of a value at byte 5",
		"[1,\ufeff2]":             `unexpected '\ufeff' in place of a value at byte 3`,
		strings.Repeat("[", 1001): "nested deeper than 1000 at byte 1000",
	} {
		if _, err := notebook.Parse([]byte(raw)); err == nil || err.Error() != want {
			t.Errorf("%.40q: %v, want %s", raw, err, want)
		}
	}
}
