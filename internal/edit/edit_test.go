package edit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/span"
)

func describe(e *AmbiguousError) string {
	return fmt.Sprintf("%d at %s", e.Count, strings.Trim(fmt.Sprint(e.Lines), "[]"))
}

// Patch is text with the splices applied.
func (r Replacements) Patch(text string) string {
	return string(span.Apply([]byte(text), r.Splices))
}

func TestApply(t *testing.T) {
	for _, c := range editCases {
		t.Run(c.name, func(t *testing.T) {
			res, err := Apply(c.text, c.request())
			c.check(t, res.Patch(c.text), res.Rule, err)
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
	if fmt.Sprint(e.Count, e.Lines, e.Cols, e.Places) != "2 [2 2] [1 6] [{10 14} {20 24}]" {
		t.Errorf("%+v", e)
	}
	for text, want := range map[string]string{"xaa\n\nüa\r\na\ra": "[1 1 3 4 4] [2 3 2 1 3]", "a\rxa\r\ra": "[1 2 4] [1 2 1]"} {
		_, err := Apply(text, Request{Old: "a", New: "b"})
		if e, ok := err.(*AmbiguousError); !ok || fmt.Sprint(e.Lines, e.Cols) != want {
			t.Errorf("%q: %+v, want %s", text, err, want)
		}
	}
}

func TestApplyCountsAllAndKeepsSome(t *testing.T) {
	text := strings.Repeat("needle and hay\n", 100000)
	req := Request{Old: "needle", New: "x", ReplaceAll: true, Most: 7}
	_, err := Apply(text, req)
	var many *TooManyError
	if !errors.As(err, &many) || *many != (TooManyError{100000, 7}) {
		t.Errorf("replacing some of all: %v", err)
	}
	req.Most = 100000
	res, err := Apply(text, req)
	if err != nil || len(res.Splices) != 100000 || res.Splices[6].Start != 6*15 {
		t.Errorf("%d %v", len(res.Splices), err)
	}
	req.ReplaceAll = false
	_, err = Apply(text, req)
	var e *AmbiguousError
	if !errors.As(err, &e) || describe(e) != "100000 at 1 2 3 4 5 6 7 8 9 10" {
		t.Errorf("%v", err)
	}
}
