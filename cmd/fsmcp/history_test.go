//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// changeID puts the id of a change into an environment variable: the Nth newest
// one, from 1, of all or of PATH.
func changeID(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "change-id NAME N [PATH]")
	ts.Check(ts.Exec("fsmcp", append([]string{"history", "list", "--json"}, args[2:]...)...))
	var list struct{ Changes []struct{ ID string } }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
	n := number(ts, args, 1)
	if n > len(list.Changes) {
		ts.Fatalf("there are only %d changes", len(list.Changes))
	}
	ts.Setenv(args[0], list.Changes[n-1].ID)
}

// spoil flips one byte in each file that the patterns name, but for a file's
// first and last ones.
func spoil(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "spoil PATTERN...")
	for _, pattern := range args {
		files, err := filepath.Glob(pattern)
		ts.Check(err)
		if len(files) == 0 {
			ts.Fatalf("nothing is named %s", pattern)
		}
		for _, name := range files {
			b, err := os.ReadFile(name)
			ts.Check(err)
			if len(b) > 40 {
				b[20+rand.IntN(len(b)-40)] ^= 0x20
			}
			ts.Check(os.WriteFile(name, b, 0o600))
		}
	}
}

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
		u, err := planRestore(c.before, c.after, c.now)
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
