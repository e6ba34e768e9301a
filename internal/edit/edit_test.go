package edit

import (
	"fmt"
	"strings"
	"testing"
)

func describe(e *AmbiguousError) string {
	return fmt.Sprintf("%d at %s", e.Count, strings.Trim(fmt.Sprint(e.Lines), "[]"))
}

func TestApply(t *testing.T) {
	for _, c := range editCases {
		t.Run(c.name, func(t *testing.T) {
			res, err := Apply(c.text, c.request())
			c.check(t, res.Patch(c.text), res.Stripped, res.Rule, err)
		})
	}
}

func TestFindTellsWhatApplyReplaces(t *testing.T) {
	for _, c := range editCases {
		t.Run(c.name, func(t *testing.T) {
			res, err := Apply(c.text, c.request())
			if err != nil {
				return
			}
			matches, rule, err := Find(c.text, c.request())
			if err != nil || rule != res.Rule || len(matches) != len(res.Splices) {
				t.Fatalf("Find: %v %s %v, Apply: %+v", matches, rule, err, res)
			}
			for i, s := range res.Splices {
				if matches[i] != (Match{s.Start, s.End}) {
					t.Errorf("Find: %v, Apply: %+v", matches, res)
				}
			}
		})
	}
}

func TestStrippedErrorNamesLines(t *testing.T) {
	for _, c := range []struct{ text, new, want string }{
		{"a\n", "a ", "white space at the end of line 1"},
		{"a\nb\n", "a \nb\t", "white space at the end of lines 1 and 2"},
		{"a\nb\nc", "a \nb\t\nc ", "white space at the end of lines 1, 2 and 3"},
	} {
		_, err := Apply(c.text, Request{Old: strings.TrimSuffix(c.text, "\n"), New: c.new})
		stripped, ok := err.(*StrippedToSameError)
		if !ok || stripped.What != c.want {
			t.Errorf("%q: %v, want %q", c.new, err, c.want)
		}
	}
}

func TestAmbiguousErrorNamesPlaces(t *testing.T) {
	_, err := Apply("x“é”\n“e\u0301” “e”", Request{Old: `"e`, New: "b"})
	if err == nil {
		t.Fatal("found once")
	}
	e := err.(*AmbiguousError)
	if fmt.Sprint(e.Count, e.Lines, e.At, e.Spans) != "2 [2 2] [10 20] [[10 14] [20 24]]" {
		t.Errorf("%+v", e)
	}
}
