package edit

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	const code = "package main\n\nfunc main() {\n\tx := 1\n\tif x > 0 {\n\t\treturn\n\t}\n}\n"
	for _, c := range []struct {
		name           string
		text, old, new string
		line           int    // of the first line shown
		shows          string // one of the lines
		given          string
		why            string
	}{
		{name: "tabs for spaces", text: code, old: "    if x > 0 {\n        return", line: 5,
			shows: "5\t→if·x·>·0·{", given: "····if·x·>·0·{", why: "the file indents with tabs where old_string has spaces"},
		{name: "spaces for tabs", text: strings.ReplaceAll(code, "\t", "    "), old: "\tx := 1", line: 4,
			shows: "4\t····x·:=·1", given: "→x·:=·1", why: "the file indents with spaces where old_string has tabs"},
		{name: "less indentation", text: "a:\n    b: 1\n    c: 2\n", old: "  b: 1\n  c: 2", line: 2,
			shows: "2\t····b:·1", given: "··b:·1", why: "the indentation differs: 4 spaces in the file, 2 in old_string"},
		{name: "one tab more", text: code, old: "\tif x > 0 {\n\treturn", line: 5,
			shows: "6\t→→return", given: "→return", why: "the indentation differs: 2 tabs in the file, 1 tab in old_string"},
		{name: "line numbers left in", text: code, old: "     4\t\tx := 1\n     5\t\tif x > 0 {", line: 4,
			shows: "4\t→x·:=·1", given: "·····4→→x·:=·1", why: "line numbers are left in: the file's lines begin after the number and its separator"},
		{name: "line numbers with an arrow", text: code, old: "4→\tx := 1", line: 4,
			shows: "4\t→x·:=·1", given: "4→→x·:=·1", why: "line numbers are left in: the file's lines begin after the number and its separator"},
		{name: "line numbers and spaces", text: code, old: "4\t    x := 1\n5\t    if x > 0 {", line: 4,
			shows: "4\t→x·:=·1", given: "····x·:=·1",
			why: "line numbers are left in: the file's lines begin after the number and its separator; the file indents with tabs where old_string has spaces"},
		{name: "trailing space in the file", text: "a  \nb\n", old: "a\nb", line: 1,
			shows: "1\ta··", given: "a", why: "the file has trailing white space that old_string lacks"},
		{name: "trailing space in old text", text: "x\na\nb\n", old: "a \nb", line: 2,
			shows: "2\ta", given: "a·", why: "old_string has trailing white space that the file lacks"},
		{name: "case", text: "x\nconst MaxSize = 5\n", old: "const maxSize = 5", line: 2,
			shows: "2\tconst·MaxSize·=·5", given: "const·maxSize·=·5", why: "upper and lower case differ"},
		{name: "no-break space", text: "a\u00a0b c\n", old: "a b c", line: 1,
			shows: "1\ta[U+00A0]b·c", given: "a·b·c", why: "the file has the blank U+00A0"},
		{name: "zero width space", text: "foo\u200bbar\n", old: "foobar", line: 1,
			shows: "1\tfoo[U+200B]bar", given: "foobar", why: "the file has the invisible character U+200B"},
		{name: "escape for a character", text: "name: café\n", old: `name: caf\u00e9`, line: 1,
			shows: "1\tname:·café", given: `name:·caf\u00e9`, why: `old_string has the escape \u00e9 where the file has the character é`},
		{name: "character for an escape", text: `{"name": "caf\u00E9 \ud83d\ude00"}`, old: `"caf` + "é", line: 1,
			shows: `1` + "\t" + `{"name":·"caf\u00E9·\ud83d\ude00"}`, given: `"café`, why: `old_string has the character é where the file has the escape \u00E9`},
		{name: "surrogate pair", text: "smile 😀\n", old: `smile \ud83d\ude00`, line: 1,
			shows: "1\tsmile·😀", given: `smile·\ud83d\ude00`, why: `old_string has the escape \ud83d\ude00 where the file has the character 😀`},
		{name: "backslash escapes", text: "a\n\tb\n", old: `a\n\tb`, line: 1,
			shows: "1\ta", why: "old_string has backslash escapes where the file has the characters themselves; the line breaks differ"},
		{name: "characters for backslash escapes", text: `printf("a\tb\n")` + "\n", old: "a\tb", line: 1,
			shows: "1\t" + `printf("a\tb\n")`, given: "a→b", why: "old_string has characters where the file has backslash escapes for them"},
		{name: "entities", text: "if a < b && c {\n", old: "if a &lt; b &amp;&amp; c {", line: 1,
			shows: "1\tif·a·<·b·&&·c·{", given: "if·a·&lt;·b·&amp;&amp;·c·{", why: "old_string has HTML entities where the file has the characters themselves"},
		{name: "characters for entities", text: "<p>a &lt; b</p>\n", old: "a < b", line: 1,
			shows: "1\t<p>a·&lt;·b</p>", given: "a·<·b", why: "old_string has characters where the file has HTML entities for them"},
		{name: "already replaced", text: "x\ntimeout = 10\ny\n", old: "timeout = 5", new: "timeout = 10", line: 2,
			shows: "2\ttimeout = 10", why: "already replaced: new_string stands there"},
		{name: "already replaced, a short word", text: "see bar here\n", old: "foo", new: "bar", line: 1,
			shows: "1\tsee bar here", why: "already replaced: new_string stands there"},
		{name: "already reindented", text: "a {\n\tb\n}\n", old: "    b", new: "\tb", line: 2,
			shows: "2\t\tb", why: "already replaced: new_string stands there"},
		{name: "new text elsewhere while old text is near", text: "\tfoo()\n\n\n\n\n\tbar()\n", old: "    foo()", new: "\tbar()", line: 1,
			shows: "1\t→foo()", given: "····foo()", why: "the file indents with tabs where old_string has spaces"},
		{name: "other words", text: code, old: "\tif x > 10 {\n\t\treturn\n", line: 5,
			shows: "5\t→if·x·>·0·{", given: "→if·x·>·10·{", why: "the text differs from column 9 on"},
		{name: "a missing line", text: "one\ntwo\nthree\nfour\nfive\n", old: "one\ntwo\nfour\nfive", line: 1,
			shows: "3\tthree", given: "four", why: "the text differs from column 1 on"},
		{name: "more lines than the file", text: "one word\ntwo\n", old: "one word\ntwo\nthree", line: 1,
			shows: "1\tone word", why: "the file ends there"},
		{name: "more than one difference", text: "\tfirst line(1)\n\tsecond line(2)\n", old: "  first line(1)\n  second line(3)", line: 1,
			shows: "1\t→first·line(1)", given: "··first·line(1)", why: "the file indents with tabs where old_string has spaces"},
		{name: "inside a line", text: "\tif first && second {\n", old: "if first && third {", line: 1,
			shows: "1\t→if·first·&&·second·{", given: "if·first·&&·third·{", why: "the text differs from column 14 on"},
		{name: "other words in a very long line", text: strings.Repeat("x=1;", 5000) + "function needle(abc,def){}" + strings.Repeat("y=2;", 5000), old: "function needle(abc,xyz){}", line: 1,
			given: "function·needle(abc,xyz){}", why: "the text differs from column 20021 on"},
		{name: "a long line of another script", text: strings.Repeat("这是文本，", 200) + "引号也在这里\n", old: "引号还在这里", line: 1},
		{name: "a tab inside the line", text: "a\tb c\n", old: "a b c", line: 1,
			shows: "1\ta→b·c", given: "a·b·c", why: "the file has tabs inside the line where old_string has spaces"},
		{name: "tabs and spaces", text: "x:\n\t  deep here\n", old: "\t\tdeep here", line: 2,
			shows: "2\t→··deep·here", given: "→→deep·here", why: "the indentation differs: 1 tab and 2 spaces in the file, 2 tabs in old_string"},
		{name: "a braced escape", text: "smile 😀!\n", old: `smile \u{1f600}!`, line: 1,
			shows: "1\tsmile·😀!", given: `smile·\u{1f600}!`, why: `old_string has the escape \u{1f600} where the file has the character 😀`},
		{name: "quotes beside other differences", text: "say “Hi”\n", old: `say  "Hi"`, line: 1,
			shows: "1\tsay·“Hi”", given: `say··"Hi"`, why: "the blanks inside the line differ; the kind of quotes differs"},
		{name: "dashes", text: "1939–1945\n", old: "1939-1945", line: 1,
			shows: "1\t1939–1945", given: "1939-1945", why: "the kind of dashes differs"},
		{name: "line breaks", text: "foo(a,\n    b)\n", old: "foo(a, b)", line: 1,
			shows: "1\tfoo(a,", why: "the line breaks differ"},
		{name: "a blank line too many", text: "a()\nb()\n", old: "\na()\nb()\n", line: 1,
			shows: "1\ta()", why: "old_string begins or ends with a line break or blank line that the file does not have there"},
		{name: "stray bytes are shown as such", text: "caf\xe9 au lait\n", old: "café au lait", line: 1,
			shows: "1\t" + `caf\xe9·au·lait`, given: "café·au·lait", why: "the text differs from column 4 on"},
		{name: "in a file of CRs", text: "one\rtwo words\rthree\r", old: "Two words", line: 2,
			shows: "2\ttwo·words", given: "Two·words", why: "upper and lower case differ"},
		{name: "lone CRs in lines", text: "one\rtwo\nthree  words\n", old: "two\nthree words", line: 1,
			shows: "1\tone␍two\n2\tthree··words", given: "three·words", why: "the blanks inside the line differ"},
		{name: "a very long line", text: strings.Repeat("x=1;", 5000) + "function  needle(){}" + strings.Repeat("y=2;", 5000), old: "function needle(){}", line: 1,
			given: "function·needle(){}", why: "the blanks inside the line differ"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Apply(c.text, Request{Old: c.old, New: c.new + "?"}); failure(err) != "none" {
				t.Fatalf("not a case of old text found nowhere: %v", err)
			}
			h, ok := Nearest(c.text, c.old, c.new)
			if !ok {
				t.Fatal("no hint")
			}
			shown := strings.Join(h.Lines, "\n")
			if h.Line != c.line || !strings.Contains("\n"+shown+"\n", "\n"+c.shows) {
				t.Errorf("line %d, shows\n%s\nwant line %d and\n%s", h.Line, shown, c.line, c.shows)
			}
			if c.why != "" && (h.Given != c.given || h.Why != c.why) {
				t.Errorf("given %q, why %q\nwant %q, %q", h.Given, h.Why, c.given, c.why)
			}
		})
	}
}

func TestNearestHasNothingToSay(t *testing.T) {
	for _, c := range []struct{ text, old, new string }{
		{"", "a", "b"},
		{"some text\n", " \n", "b"},
		{"some text\n", "entirely other words", "x"},
		{"some text\n", "zz", ""},
		{"some text\n", "{}", "()"},
		{"a barrel\n", "foo", "bar"}, // new text is part of another word
		{"foo(a)\n", "call foo(b)", "foo"},
	} {
		if h, ok := Nearest(c.text, c.old, c.new); ok {
			t.Errorf("%q in %q: %+v", c.old, c.text, h)
		}
	}
}

func TestNearestInALongText(t *testing.T) {
	text := program(8<<20, "\n") + "\n\tif the.needle > 5 {\n\t\treturn\n\t}\n" + program(8<<20, "\n")
	h, ok := Nearest(text, "    if the.needle > 5 {\n        return", "x")
	if !ok || h.Why != "the file indents with tabs where old_string has spaces" {
		t.Errorf("%+v", h)
	}
	h, ok = Nearest(text, "\tif the.needle > 6 {\n\t\treturn", "x")
	if !ok || h.Why != "the text differs from column 18 on" {
		t.Errorf("%+v", h)
	}
}

// A hint for very long old text takes no longer than the search for it.
func TestNearestToLongText(t *testing.T) {
	text := program(1<<20, "\n")
	old := strings.Repeat(strings.Replace(text, "too large", "too small", 1), 16)
	h, ok := Nearest(text, old, "x")
	if !ok || h.Line != 1 || h.Why != "the text differs from column 39 on" {
		t.Errorf("%+v", h)
	}
	if h, ok = Nearest(text, old[:len(text)], "x"); !ok || h.Line != 1 || h.Why != "the text differs from column 39 on" {
		t.Errorf("%+v", h)
	}
}

// Only a part of a large text is looked at, and it may begin between the CR and the LF of a
// line's end.
func TestNearestInAPartOfALargeText(t *testing.T) {
	for shift := range 33 {
		text := []byte(strings.Repeat("y", shift) + strings.Repeat(strings.Repeat("x", 30)+"\r\n", 10_000))
		copy(text[131_172:], "uniqueword anotherone")
		hint, ok := Nearest(string(text), "uniqueword anotherone thirdx", "")
		if ok && !strings.Contains(strings.Join(hint.Lines, "\n"), "uniqueword") {
			t.Errorf("behind %d bytes: %v", shift, hint)
		}
	}
}
