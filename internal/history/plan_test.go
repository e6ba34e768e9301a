package history

import (
	"bytes"
	"slices"
	"testing"
)

// TestPlanRestore holds the cases of taking back against a table: nil is no file.
func TestPlanRestore(t *testing.T) {
	file := func(s string) []byte { return []byte(s) }
	for name, c := range map[string]struct {
		before, after, now []byte
		want               []byte
		remove, conflict   bool
	}{
		"changed, as made":        {file("a\n"), file("b\n"), file("b\n"), file("a\n"), false, false},
		"changed, already undone": {file("a\n"), file("b\n"), file("a\n"), file("a\n"), false, false},
		"changed, then gone":      {file("a\n"), file("b\n"), nil, nil, false, true},
		"changed, then again":     {file("a\n"), file("b\n"), file("c\n"), file("c\n"), false, true},
		"changed, then elsewhere": {file("1\n2\n3\n"), file("1\n2\nx\n"), file("y\n2\nx\n"), file("y\n2\n3\n"), false, false},
		"created, as made":        {nil, file("b"), file("b"), nil, true, false},
		"created empty":           {nil, file(""), file(""), nil, true, false},
		"created, then changed":   {nil, file("b"), file("c"), file("c"), false, true},
		"created, then gone":      {nil, file("b"), nil, nil, false, false},
		"removed":                 {file("a"), nil, nil, file("a"), false, false},
		"removed, an empty one":   {file(""), nil, nil, file(""), false, false},
		"removed, and back":       {file("a"), nil, file("a"), file("a"), false, false},
		"removed, and another":    {file("a"), nil, file("b"), file("b"), false, true},
		"emptied":                 {file("a\n"), file(""), file(""), file("a\n"), false, false},
		"binary, as made":         {file("a\x00"), file("b\x00"), file("b\x00"), file("a\x00"), false, false},
		"binary, then changed":    {file("a\x00"), file("b\x00"), file("b\x00c"), file("b\x00c"), false, true},
	} {
		u, err := PlanRestore(c.before, c.after, c.now)
		if (err != nil) != c.conflict || u.Remove != c.remove {
			t.Errorf("%s: %+v, %v", name, u, err)
			continue
		}
		got := slices.Clone(c.now)
		if len(u.Splices) > 0 {
			got = []byte{}
			at := int64(0)
			for _, s := range u.Splices {
				got = append(append(got, c.now[at:s.Start]...), s.New...)
				at = s.End
			}
			got = append(got, c.now[at:]...)
		}
		if u.Remove {
			got = nil
		}
		if !bytes.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}
