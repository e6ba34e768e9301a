package refusal

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/edit"
)

// NoMatch refuses an Edit whose old_string is not in the file. near is the nearest
// place, where found is true.
func NoMatch(name, old string, near edit.Hint, found bool) error {
	hint := "Nothing like it is in the file. Read the part to be changed and copy old_string from it, without the line numbers."
	if found {
		hint = fmt.Sprintf("Nearest place, from line %d on (%s):\n%s", near.Line, near.Why, strings.Join(near.Lines, "\n"))
		if near.Given != "" {
			hint += "\nold_string has there: " + near.Given
		}
	}
	return New(noMatch, old, name, hint)
}

// NotReplaced words an error of the engine: too many matches, or a line whose number is unclear;
// any other error stays as it is.
func NotReplaced(name string, err error) error {
	return reword(err,
		as(func(e *edit.TooManyError) *Refusal { return New(tooManyMatches, name, e.Count, e.Most) }),
		as(func(e *edit.StaleLineError) *Refusal { return New(staleLine, name, e.Line) }),
	)
}

// Ambiguous refuses an Edit because its text is in several places. If line is not 0, the call
// names that line: several matches start in it (InLine), or none does. body shows the first places.
func Ambiguous(name string, line int, found *edit.AmbiguousError, body string) error {
	switch {
	case found.InLine:
		return New(notUniqueInLine, found.Count, line, name, places(found), body)
	case line > 0:
		return New(otherLine, line, name, places(found), body)
	}
	return New(notUnique, found.Count, places(found), name, body)
}

// places names the first of several places by their lines, and by their columns where
// several are in one line.
func places(many *edit.AmbiguousError) string {
	var parts []string
	for i := 0; i < len(many.Lines); {
		end := i + 1
		for end < len(many.Lines) && many.Lines[end] == many.Lines[i] {
			end++
		}
		part := strconv.Itoa(many.Lines[i])
		if end > i+1 {
			part += " (columns " + strings.Trim(strings.ReplaceAll(fmt.Sprint(many.Cols[i:end]), " ", ", "), "[]") + ")"
		}
		parts = append(parts, part)
		i = end
	}
	word := "lines "
	if len(parts) == 1 {
		word = "line "
	}
	if many.Count > len(many.Lines) {
		parts = append(parts, "…")
	}
	return word + strings.Join(parts, ", ")
}
