package edit

import (
	"errors"
	"strings"
	"testing"
)

// An editCase is one edit and the text that has to come of it. Every test of
// replacing runs the whole table: in memory, and as a stream in each encoding
// where the exact rule decides.
type editCase struct {
	name     string
	text     string
	old, new string
	all      bool   // replace_all
	md       bool   // trailing white space is kept
	want     string // the text afterwards
	rule     Rule
	fails    string // same, stripped, none, or "3 at 1 2 3": count and lines
}

func (c editCase) request() Request {
	return Request{Old: c.old, New: c.new, ReplaceAll: c.all, KeepTrailing: c.md}
}

var editCases = []editCase{
	// Rule 1.
	{name: "one place", text: "one two three\n", old: "two", new: "2", want: "one 2 three\n"},
	{name: "at the start", text: "one two", old: "one", new: "1", want: "1 two"},
	{name: "at the end", text: "one two", old: "two", new: "2", want: "one 2"},
	{name: "all of it", text: "one", old: "one", new: "1", want: "1"},
	{name: "dollar signs and backslashes mean themselves", text: "cost: 5\n", old: "5", new: `$& \1 ${0} \n`, want: "cost: $& \\1 ${0} \\n\n"},
	{name: "patterns mean themselves", text: "a.b\naxb\n", old: "a.b", new: "c", want: "c\naxb\n"},
	{name: "not there", text: "one\n", old: "two", new: "2", fails: "none"},
	{name: "longer than the text", text: "one\n", old: "one\n\ntwo", new: "2", fails: "none"},
	{name: "empty text", text: "", old: "a", new: "b", fails: "none"},
	{name: "empty old text is found nowhere", text: "", old: "", new: "b", fails: "none"},
	{name: "old equals new", text: "a\n", old: "a", new: "a", fails: "same"},
	{name: "old equals new and is not there", text: "b\n", old: "a", new: "a", fails: "same"},
	{name: "several", text: "a\nb\na\n", old: "a", new: "c", fails: "2 at 1 3"},
	{name: "several on one line", text: "a a\n", old: "a", new: "c", fails: "2 at 1 1"},
	{name: "overlapping places are several", text: "aaa", old: "aa", new: "b", fails: "2 at 1 1"},
	{name: "overlapping lines are several", text: "x\nx\nx\n", old: "x\nx\n", new: "b", fails: "2 at 1 2"},
	{name: "overlapping lines are several with CRLF", text: "x\r\nx\r\nx\r\n", old: "x\nx\n", new: "b", fails: "2 at 1 2"},
	{name: "the first ten lines", text: strings.Repeat("a\n", 12), old: "a", new: "b", fails: "12 at 1 2 3 4 5 6 7 8 9 10"},
	{name: "all places", text: "a b a b a\n", old: "a", new: "c", all: true, want: "c b c b c\n"},
	{name: "all goes left to right without overlap", text: "aaaaa", old: "aa", new: "b", all: true, want: "bba"},
	{name: "all with one place", text: "a b\n", old: "a", new: "c", all: true, want: "c b\n"},
	{name: "all with none", text: "a b\n", old: "x", new: "c", all: true, fails: "none"},
	{name: "deleting inside a line", text: "one two three\n", old: " two", new: "", want: "one three\n"},
	{name: "beyond the basic plane", text: "a😀b\n", old: "😀", new: "😃", want: "a😃b\n"},
	{name: "old text that is not UTF-8 is nowhere", text: "a\xff\n", old: "a\xff", new: "b", fails: "none"},

	// Line breaks match in any form, whole ones only.
	{name: "LF finds CRLF", text: "a\r\nb\r\nc\r\n", old: "a\nb", new: "x\ny", want: "x\r\ny\r\nc\r\n"},
	{name: "CRLF finds LF", text: "a\nb\nc\n", old: "a\r\nb", new: "x\r\ny", want: "x\ny\nc\n"},
	{name: "CR finds LF", text: "a\nb\nc\n", old: "a\rb", new: "x\ry", want: "x\ny\nc\n"},
	{name: "CR finds CRLF", text: "a\r\nb\r\nc\r\n", old: "a\rb", new: "x\ry", want: "x\r\ny\r\nc\r\n"},
	{name: "LF finds CR", text: "a\rb\rc\r", old: "a\nb", new: "x\ny", want: "x\ry\rc\r"},
	{name: "CRLF finds CR", text: "a\rb\rc\r", old: "a\r\nb", new: "x\r\ny", want: "x\ry\rc\r"},
	{name: "LF finds mixed", text: "a\nb\r\nc\nd", old: "a\nb\nc", new: "x", want: "x\nd"},
	{name: "one break is not two", text: "a\r\nb\r\n", old: "a\n\nb", new: "x", fails: "none"},
	{name: "two breaks are not one", text: "a\n\nb\n", old: "a\r\nb", new: "x", fails: "none"},
	{name: "a break alone with all and CRLF", text: "a\r\nb\r\nc", old: "\n", new: " ", all: true, want: "a b c"},
	{name: "a break alone with all and LF", text: "a\nb\nc\n", old: "\r\n", new: ", ", all: true, want: "a, b, c,"},
	{name: "a CR alone takes CRLF whole", text: "a\r\nb", old: "\r", new: ";", want: "a;b"},
	{name: "an LF alone takes CRLF whole", text: "a\r\nb", old: "\n", new: ";", want: "a;b"},
	{name: "beginning with a break", text: "a\r\nb\r\nc", old: "\nb", new: "+b", want: "a+b\r\nc"},
	{name: "ending with a break", text: "a\r\nb\r\nc", old: "b\n", new: "b+", want: "a\r\nb+c"},
	{name: "ending with a CR takes CRLF whole", text: "a\r\nb", old: "a\r", new: "x", want: "xb"},
	{name: "two blank lines are one place", text: "a\n\nb\n", old: "\n\n", new: "\n", want: "a\nb\n"},
	{name: "three breaks are two places of two", text: "a\r\n\r\n\r\nb", old: "\n\n", new: "\n", fails: "2 at 1 2"},
	{name: "mixed breaks are places of one text", text: "a\r\nb\na\nb\n", old: "a\nb", new: "x", fails: "2 at 1 3"},

	// A lone CR beside LFs is a character of its line.
	{name: "LF does not find a CR inside a line", text: "a\rb\nc\n", old: "a\nb", new: "x", fails: "none"},
	{name: "CR finds a CR inside a line", text: "10%\r20%\ndone\n", old: "10%\r20%", new: "30%\r40%", want: "30%\r40%\ndone\n"},
	{name: "CR finds a CR inside a line before a break", text: "a\rb\na\nb\n", old: "a\rb", new: "x", want: "x\na\nb\n"},
	{name: "CR finds a break where no line has it", text: "c\rd\na\nb\n", old: "a\rb", new: "x\ry", want: "c\rd\nx\ny\n"},
	{name: "CR before CRLF", text: "a\r\r\nb\n", old: "a\r", new: "x", want: "x\r\nb\n"},
	{name: "CR CRLF as written", text: "a\r\r\nb\r\n", old: "a\r\r\nb", new: "x", want: "x\r\n"},
	{name: "a new CR stays in its line", text: "a\nb\n", old: "a", new: "c\rd", want: "c\rd\nb\n"},

	// New line breaks.
	{name: "the ending of the line where the match starts", text: "a\nb\r\nc\n", old: "b", new: "b\nx", want: "a\nb\r\nx\r\nc\n"},
	{name: "the LF line of a CRLF file", text: "a\r\nb\nc\r\n", old: "b", new: "b\r\nx", want: "a\r\nb\nx\nc\r\n"},
	{name: "the match begins with a break", text: "a\r\nb\n", old: "\nb", new: "\nb\nc", want: "a\r\nb\r\nc\n"},
	{name: "a last line without ending takes the most frequent", text: "a\r\nb\r\nc", old: "c", new: "c\nd", want: "a\r\nb\r\nc\r\nd"},
	{name: "one line without ending takes breaks as written", text: "a", old: "a", new: "x\r\ny", want: "x\r\ny"},
	{name: "each place has its own ending", text: "a\nb\r\na\r\nb\n", old: "b", new: "x\ny", all: true, want: "a\nx\r\ny\r\na\r\nx\ny\n"},
	{name: "two places on a line", text: "b b\r\nc\n", old: "b", new: "x\ny", all: true, want: "x\r\ny x\r\ny\r\nc\n"},
	{name: "breaks that are not new stay, front", text: "a\nb\r\nc\n", old: "a\nb\nc", new: "a\nb\nx", want: "a\nb\r\nx\n"},
	{name: "breaks that are not new stay, back", text: "a\r\nb\nc\r\nd\n", old: "a\nb\nc\nd", new: "x\nb\nc\nd", want: "x\r\nb\nc\r\nd\n"},
	{name: "breaks that are not new stay, both", text: "a\r\nb\nc\r\n", old: "a\nb\nc", new: "a\nb\nnew\nc", want: "a\r\nb\nnew\r\nc\r\n"},
	{name: "only breaks would change", text: "a\r\nb\r\n", old: "a\r\nb", new: "a\nb", fails: "same"},

	// Final newline, deletion of lines.
	{name: "no final newline stays so", text: "a\nb", old: "b", new: "c", want: "a\nc"},
	{name: "deleting a line takes its newline", text: "a\nb\nc\n", old: "b", new: "", want: "a\nc\n"},
	{name: "deleting a line takes its CRLF", text: "a\r\nb\r\nc\r\n", old: "b", new: "", want: "a\r\nc\r\n"},
	{name: "deleting a line takes its CR", text: "a\rb\rc\r", old: "b", new: "", want: "a\rc\r"},
	{name: "deleting the first line", text: "a\nb\n", old: "a", new: "", want: "b\n"},
	{name: "deleting the only line", text: "a\n", old: "a", new: "", want: ""},
	{name: "deleting the last line without newline", text: "a\nb", old: "b", new: "", want: "a\n"},
	{name: "deleting lines takes the last one's newline", text: "a\nb\nc\nd\n", old: "b\nc", new: "", want: "a\nd\n"},
	{name: "deleting a line with its newline takes no more", text: "a\nb\n\nc\n", old: "b\n", new: "", want: "a\n\nc\n"},
	{name: "deleting the end of a line", text: "a b\nc\n", old: " b", new: "", want: "a\nc\n"},
	{name: "deleting the start of a line", text: "a b\nc\n", old: "a ", new: "", want: "b\nc\n"},
	{name: "deleting a line with the break before it", text: "a\nb\nc\n", old: "\nb", new: "", want: "a\nc\n"},
	{name: "deleting all such lines", text: "a\nb\na\nc\na", old: "a", new: "", all: true, want: "b\nc\n"},
	{name: "deleting neighbouring lines", text: "a\na\na\n", old: "a", new: "", all: true, want: ""},
	{name: "a CR inside the line is no line start", text: "x\rb\nc\n", old: "b", new: "", want: "x\r\nc\n"},
	{name: "a break that the next match begins with is its own", text: "\na\na\n", old: "\na", new: "", all: true, want: "\n"},
	{name: "deleting in markdown takes the newline too", text: "a\nb\nc\n", old: "b", new: "", md: true, want: "a\nc\n"},

	// Trailing white space of new text.
	{name: "trailing blanks go", text: "a\nb\n", old: "b", new: "x  \ny\t", want: "a\nx\ny\n"},
	{name: "trailing blanks stay in markdown", text: "a\nb\n", old: "b", new: "x  \ny\t", md: true, want: "a\nx  \ny\t\n"},
	{name: "trailing blanks go before CRLF", text: "a\r\nb\r\n", old: "b", new: "x  \r\ny", want: "a\r\nx\r\ny\r\n"},
	{name: "blank lines go empty", text: "a\nb\n", old: "b", new: "x\n\t\ny", want: "a\nx\n\ny\n"},
	{name: "the last line inside a line stays", text: "a b c\n", old: "b", new: "x ", want: "a x  c\n"},
	{name: "the last line inside a line stays, the others go", text: "a b c\n", old: "b", new: "x \ny ", want: "a x\ny  c\n"},
	{name: "the last line at the end of the text goes", text: "a b", old: "b", new: "x ", want: "a x"},
	{name: "the last line before blanks stays", text: "a b  \n", old: "b", new: "x ", want: "a x   \n"},
	{name: "after a break at the end", text: "a\nb\nc\n", old: "b\n", new: "x \ny ", want: "a\nx\ny c\n"},
	{name: "after a break at the end of the text", text: "a\nb\n", old: "b\n", new: "x\ny ", want: "a\nx\ny"},
	{name: "the match has trailing blanks", text: "a  \nb\n", old: "a  ", new: "x  ", want: "x  \nb\n"},
	{name: "the match has trailing blanks of another kind", text: "a  \nb\n", old: "a  ", new: "x\t", want: "x\t\nb\n"},
	{name: "the match has trailing blanks on that line only", text: "a  \nb\n", old: "a  \nb", new: "x  \ny  ", want: "x  \ny\n"},
	{name: "the match has trailing blanks on its last line", text: "a\nb  \n", old: "a\nb  ", new: "a\nnew  \nb  ", want: "a\nnew\nb  \n"},
	{name: "a line of the match elsewhere", text: "a\nb  \nc\nd\n", old: "a\nb  \nc\nd", new: "b  \na\nc\nx\nd", want: "b  \na\nc\nx\nd\n"},
	{name: "blanks inside a line of the match are not trailing", text: "a  z\nb\n", old: "a  ", new: "x  \ny", want: "x\nyz\nb\n"},
	{name: "blanks alone are no deletion", text: "a\nb\nc\n", old: "b", new: "  ", want: "a\n  \nc\n"},
	{name: "blanks and a break", text: "a\nb\nc\n", old: "b", new: "  \n", want: "a\n\n\nc\n"},
	{name: "nothing but trailing blanks", text: "a\nb\n", old: "b", new: "b  ", fails: "stripped"},
	{name: "nothing but trailing blanks inside", text: "a\nb\n", old: "a\nb", new: "a \nb", fails: "stripped"},
	{name: "trailing blanks in markdown are a change", text: "a\nb\n", old: "b", new: "b  ", md: true, want: "a\nb  \n"},
	{name: "removing trailing blanks", text: "a  \nb\n", old: "a  \n", new: "a\n", want: "a\nb\n"},
	{name: "other white space stays", text: "a\n", old: "a", new: "x\u00a0", want: "x\u00a0\n"},

	// Stray bytes.
	{name: "stray bytes stay", text: "a\xff\nb\n\xfe", old: "b", new: "c", want: "a\xff\nc\n\xfe"},
	{name: "beside a stray byte", text: "a\xffb\n", old: "a", new: "c", want: "c\xffb\n"},
	{name: "a replacement character is no stray byte", text: "a\xffb a\ufffdb\n", old: "a\ufffdb", new: "c", want: "a\xffb c\n"},
	{name: "a stray lead byte before a character", text: "\xe2\xc3\xa9\n", old: "é", new: "e", want: "\xe2e\n"},

	// Rule 2.
	{name: "straight finds curly", text: "say “hi” now\n", old: `"hi"`, new: `"bye"`, rule: Quotes, want: "say “bye” now\n"},
	{name: "curly finds straight", text: `say "hi" now` + "\n", old: "“hi”", new: "bye", rule: Quotes, want: "say bye now\n"},
	{name: "curly in new stays", text: `say "hi" now` + "\n", old: "“hi”", new: "“bye”", rule: Quotes, want: "say “bye” now\n"},
	{name: "straight in new stays where the file is straight", text: `say "hi" now` + "\n", old: "“hi”", new: `"bye"`, rule: Quotes, want: `say "bye" now` + "\n"},
	{name: "apostrophe", text: "don’t stop\n", old: "don't stop", new: "don't go, she's", rule: Quotes, want: "don’t go, she’s\n"},
	{name: "single quotes and apostrophe", text: "‘it’ is\n", old: "'it' is", new: "'that' isn't", rule: Quotes, want: "‘that’ isn’t\n"},
	{name: "only the kind that was folded", text: "“a” and 'b'\n", old: `"a" and 'b'`, new: `"x" or 'y'`, rule: Quotes, want: "“x” or 'y'\n"},
	{name: "opening after brackets and dashes", text: "“a”\n", old: `"a"`, new: `q ("x") ["y"] {"z"} —"u" –"v"`, rule: Quotes, want: "q (“x”) [“y”] {“z”} —“u” –“v”\n"},
	{name: "the file's own quotes stay", text: "don't say ‘hi’\n", old: "don't say 'hi'", new: "don't say 'bye'", rule: Quotes, want: "don't say ‘bye’\n"},
	{name: "the file's odd quotes stay", text: "”a” b\n", old: `"a" b`, new: `"a" c`, rule: Quotes, want: "”a” c\n"},
	{name: "a quote between letters at the start", text: "don’t\n", old: "'t", new: "'d 't", rule: Quotes, want: "don’d ‘t\n"},
	{name: "curly quotes of new beside folded ones", text: "“a”\n", old: `"a"`, new: `“b” "c"`, rule: Quotes, want: "“b” “c”\n"},
	{name: "several under folding", text: "“a” \"a\"\n", old: "“a\"", new: "b", rule: Quotes, fails: "2 at 1 1"},
	{name: "exact goes before folding", text: "“a” \"a\"\n", old: `"a"`, new: `"b"`, want: "“a” \"b\"\n"},
	{name: "all under folding", text: "“a” ‘a’\n“a”\n", old: `"a"`, new: `"b" c`, all: true, rule: Quotes, want: "“b” c ‘a’\n“b” c\n"},
	{name: "folding with line breaks", text: "“a”\r\n“b”\r\n", old: "\"a\"\n\"b\"", new: "\"x\"\n\"y\"", rule: Quotes, want: "“x”\r\n“y”\r\n"},
	{name: "folding in a file of mixed endings", text: "“a”\r\n“b”\nc\r\nd\n", old: "\"a\"\n\"b\"\nc", new: "\"a\"\n\"b\"\nx", rule: Quotes, want: "“a”\r\n“b”\nx\r\nd\n"},
	{name: "other quotes do not fold", text: "«a» ‚b’ `c`\n", old: `"a"`, new: "x", fails: "none"},
	{name: "primes do not fold", text: "5′ 6″\n", old: "5'", new: "x", fails: "none"},
	{name: "already in the file's style", text: "it’s\n", old: "it's", new: "it’s", rule: Quotes, fails: "same"},
	{name: "deleting a line found by folding", text: "a\n“b”\nc\n", old: `"b"`, new: "", rule: Quotes, want: "a\nc\n"},
	{name: "quotes after many others", text: strings.Repeat("“”‘’", 50) + "“x”\n“y”\n", old: `"y"`, new: "z", rule: Quotes, want: strings.Repeat("“”‘’", 50) + "“x”\nz\n"},

	// Rule 3.
	{name: "desanitised", text: "<function_results>a</name>\n", old: "<fnr>a</n>", new: "<fnr>b</n><n>", rule: Desanitised, want: "<function_results>b</name><n>\n"},
	{name: "only the tokens of old", text: "<name>a\n", old: "<n>a", new: "<n>b</n> <o>", rule: Desanitised, want: "<name>b</n> <o>\n"},
	{name: "no closing fnr", text: "<name></function_results>\n", old: "<n></fnr>", new: "x", fails: "none"},
	{name: "all tokens at once", text: "<name> <n>\n", old: "<n> <n>", new: "x", fails: "none"},
	{name: "every short tag", text: "<output><error><system><result></output></error></system></result>", old: "<o><e><s><r></o></e></s></r>", new: "<r>", rule: Desanitised, want: "<result>"},
	{name: "blanks in markers", text: "<META_START><META_END><EOT><META><SOS>", old: "< META_START >< META_END >< EOT >< META >< SOS >", new: "< EOT >", rule: Desanitised, want: "<EOT>"},
	{name: "speakers", text: "x\n\nHuman: a\n\nAssistant: b\n", old: "x\n\nH: a\n\nA: b", new: "x\n\nH: c\n\nA: d", rule: Desanitised, want: "x\n\nHuman: c\n\nAssistant: d\n"},
	{name: "speakers with CRLF", text: "x\r\n\r\nHuman: a\r\n", old: "x\n\nH: a", new: "x\n\nH: b", rule: Desanitised, want: "x\r\n\r\nHuman: b\r\n"},
	{name: "speakers written with CRLF", text: "x\n\nHuman: a\n", old: "x\r\n\r\nH: a", new: "y", rule: Desanitised, want: "y\n"},
	{name: "speakers after three breaks", text: "x\n\n\nHuman: a\n", old: "x\n\n\nH: a", new: "y", rule: Desanitised, want: "y\n"},
	{name: "exact goes before desanitising", text: "<n>a <name>a\n", old: "<n>a", new: "x", want: "x <name>a\n"},
	{name: "desanitised several", text: "<name>\n<name>\n", old: "<n>", new: "x", rule: Desanitised, fails: "2 at 1 2"},

	// Rule 4.
	{name: "NFC finds NFD", text: "cafe\u0301 au lait\n", old: "café", new: "thé", rule: Normalised, want: "thé au lait\n"},
	{name: "NFD finds NFC", text: "café au lait\n", old: "cafe\u0301", new: "thé", rule: Normalised, want: "thé au lait\n"},
	{name: "marks in another order", text: "a\u0316\u0301\n", old: "a\u0301\u0316", new: "x", rule: Normalised, want: "x\n"},
	{name: "singletons", text: "300\u212a and 5\u2126\n", old: "300K and 5Ω", new: "x", rule: Normalised, want: "x\n"},
	{name: "hangul", text: "\u1112\u1161\u11ab\u1100\u1173\u11af\n", old: "한글", new: "x", rule: Normalised, want: "x\n"},
	{name: "part of a hangul syllable", text: "\u1112\u1161\u11ab 한\n", old: "하", new: "x", fails: "none"},
	{name: "not before a mark", text: "e\u0301 e\u0301\u0316\n", old: "é", new: "x", rule: Normalised, want: "x e\u0301\u0316\n"},
	{name: "not after the start of a sequence", text: "a\u0316\u0301\n", old: "\u0301 ", new: "x", fails: "none"},
	{name: "several under equivalence", text: "e\u0301\ne\u0301\n", old: "é", new: "x", rule: Normalised, fails: "2 at 1 2"},
	{name: "one exact is enough", text: "e\u0301\né\n", old: "é", new: "x", want: "e\u0301\nx\n"},
	{name: "all under equivalence", text: "e\u0301e\u0301 e\u0301\n", old: "é", new: "x", all: true, rule: Normalised, want: "xx x\n"},
	{name: "equivalence with line breaks", text: "e\u0301\r\no\u0308\r\n", old: "é\nö", new: "x\ny", rule: Normalised, want: "x\r\ny\r\n"},
	{name: "equivalence in mixed endings", text: "e\u0301\r\no\u0308\nz\r\n", old: "é\nö\nz", new: "x", rule: Normalised, want: "x\r\n"},
	{name: "compatible is not equivalent", text: "ﬁne ２\n", old: "fine 2", new: "x", fails: "none"},
	{name: "equivalence beside stray bytes", text: "\xffe\u0301\xff\n", old: "é", new: "x", rule: Normalised, want: "\xffx\xff\n"},
	{name: "equivalence never covers a stray byte", text: "e\xff\u0301\n", old: "é", new: "x", fails: "none"},
	{name: "rules do not combine", text: "“cafe\u0301”\n", old: `"café"`, new: "x", fails: "none"},
	{name: "desanitising does not combine", text: "<name>cafe\u0301\n", old: "<n>café", new: "x", fails: "none"},
}

// check compares the outcome of one case.
func (c editCase) check(t *testing.T, got string, rule Rule, err error) {
	t.Helper()
	if fails := failure(err); fails != c.fails {
		t.Fatalf("fails with %q (%v), want %q", fails, err, c.fails)
	}
	if c.fails != "" {
		return
	}
	if got != c.want {
		t.Errorf("got %q, want %q", got, c.want)
	}
	if rule != c.rule {
		t.Errorf("found by rule %s, want %s", rule, c.rule)
	}
}

// failure is an error as the table writes it.
func failure(err error) string {
	var ambiguous *AmbiguousError
	var stripped *StrippedToSameError
	var none *NoMatchError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &ambiguous):
		return describe(ambiguous)
	case errors.As(err, &stripped):
		return "stripped"
	case errors.As(err, &none):
		return "none"
	case errors.Is(err, ErrSame):
		return "same"
	}
	return err.Error()
}
