package main

import (
	"strings"
	"testing"
)

// TestServeArguments tells the flags of serve from its folders.
func TestServeArguments(t *testing.T) {
	for _, c := range []struct{ args, flags, dirs string }{
		{"", "", ""},
		{"/a /b", "", "/a /b"},
		{"--deny X /a --ask=Y /b", "--deny X|--ask=Y", "/a /b"},
		{"--dedup /a", "--dedup", "/a"},
		{"--dedup=false --trust-project /a", "--dedup=false|--trust-project", "/a"},
		{"--add-dir --deny /a", "--add-dir --deny", "/a"},
		{"/a --log", "--log", "/a"},
		{"--deny X -- --deny Y", "--deny X", "--deny Y"},
		{"-", "", "-"},
	} {
		got, err := serveArguments(strings.Fields(c.args))
		var flags []string
		for _, f := range got.Flags {
			flags = append(flags, strings.Join(f, " "))
		}
		if err != nil || strings.Join(flags, "|") != c.flags || strings.Join(got.Dirs, " ") != c.dirs {
			t.Errorf("%q has %q and %q, %v, not %q and %q", c.args, flags, got.Dirs, err, c.flags, c.dirs)
		}
	}
	for _, args := range []string{"--odd value", "--deny X --denyy Y"} {
		if got, err := serveArguments(strings.Fields(args)); err == nil {
			t.Errorf("%q has %q", args, got)
		}
	}
}
