package tools

import (
	"strings"
	"testing"
)

func TestStubIsKnownInEveryShape(t *testing.T) {
	sentences := strings.SplitAfter(stub, ". ")
	for _, text := range []string{
		stub, "\n" + stub + "\n", "1\t" + stub, "  12\t" + stub + "\r\n", "1→" + stub, stub + "\n(Relative path: /p/a.txt was used.)", strings.ReplaceAll(stub, ". ", ".\n"), strings.ReplaceAll(stub, " — ", "\n— "),
		stubStart, stubStart + ".", "1\t" + stubStart + ".\n", strings.TrimSpace(sentences[0]), sentences[0] + sentences[1], "7\t" + sentences[0] + strings.TrimSpace(sentences[1]), strings.TrimSuffix(stub, "."),
	} {
		if !isStub(text) {
			t.Errorf("%q is taken for a file's text", text)
		}
	}
	for _, text := range []string{"", "1\t", "File unchanged", "1\tone", stub + " And more.", "x " + stub, stubStart + ", I think.", "a\n" + stub, stub + "\nmore", strings.ToUpper(stub)} {
		if isStub(text) {
			t.Errorf("%q is taken for the notice", text)
		}
	}
}
