package jsonc

import (
	"strings"
	"testing"
)

func TestTooDeep(t *testing.T) {
	for text, want := range map[string]bool{
		strings.Repeat("[", 9):                          true,
		strings.Repeat("[", 8) + strings.Repeat("]", 8): false,
		strings.Repeat("[]", 9):                         false,
		`["` + strings.Repeat("[", 9) + `"]`:            false,
		`["\"` + strings.Repeat("[", 9) + `"]`:          false,
		"// " + strings.Repeat("{", 9) + "\n{}":         false,
		"/* " + strings.Repeat("{", 9) + "\n*/{}":       false,
		"/* " + strings.Repeat("{", 9):                  false,
		"/**/" + strings.Repeat("{\"a\":[", 5):          true,
		"/*\"*/" + strings.Repeat("[", 9):               true,
		"//\"\n" + strings.Repeat("[", 9):               true,
		`"\\"` + strings.Repeat("[", 9):                 true,
		strings.Repeat("]", 9) + strings.Repeat("[", 9): true,
		`"` + strings.Repeat("[", 9):                    false,
	} {
		if got := TooDeep([]byte(text), 8); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestComment(t *testing.T) {
	for text, want := range map[string]int{
		`{"a": "//"}`: -1, "{} // a": 3, "{/* a */}": 1, `{"a\"//": 1} /* b`: 13, "": -1,
	} {
		if got := Comment([]byte(text)); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestFault(t *testing.T) {
	if _, fault := Parse([]byte("{} // a\n")); fault != nil {
		t.Error(fault)
	}
	_, fault := Parse([]byte("{\n  \"a\": nope\n}"))
	if fault == nil || fault.Line != 2 || fault.Column != 8 || strings.Contains(fault.What, "line") {
		t.Errorf("%+v", fault)
	}
}
