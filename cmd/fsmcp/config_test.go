package main

import (
	"slices"
	"strings"
	"testing"
)

// TestServeFlags tells the flags of serve from its folders.
func TestServeFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", ""},
		{"/a /b", ""},
		{"--deny X /a --ask=Y /b", "--deny X --ask=Y"},
		{"--dedup /a", "--dedup"},
		{"--dedup=false --trust-project /a", "--dedup=false --trust-project"},
		{"--add-dir --deny /a", "--add-dir --deny"},
		{"/a --log", "--log"},
		{"--deny X -- --deny Y", "--deny X"},
		{"-", ""},
	} {
		got, err := serveFlags(strings.Fields(c.args))
		if err != nil || !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%q has %q, %v, not %q", c.args, got, err, c.want)
		}
	}
	for _, args := range []string{"--odd value", "--deny X --denyy Y"} {
		if got, err := serveFlags(strings.Fields(args)); err == nil {
			t.Errorf("%q has %q", args, got)
		}
	}
}
