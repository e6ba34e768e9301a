package lsp

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/nativetest"
)

// The names of files that may not be read are taken out of a message, quoted or not.
func TestMask(t *testing.T) {
	dir, link := nativetest.Name("/w+"), nativetest.Name("/x")
	c := New(Options{Readable: func(name string) bool { return !strings.Contains(name, "secret") }})
	mask := c.mask([]string{dir, link})
	native := strings.NewReplacer("/w+", dir, "/x", link, "/", string(filepath.Separator))
	for message, want := range map[string]string{
		"undefined: x":             "undefined: x",
		"see /w+/a.go.":            "see /w+/a.go.",
		"see /w+/secret.go.":       "see (a file).",
		"/x/secret:3: /w+/secret":  "(a file):3: (a file)",
		"'/w+/a secret.go' is old": "'(a file)' is old",
		"\"/w+/a secret.\"":        "\"(a file).\"",
		"`/x/s` (/x/secret)":       "`/x/s` ((a file))",
		"an open '/x/a secret":     "an open '(a file)",
		"/elsewhere/secret":        "/elsewhere/secret",
	} {
		if got := mask(native.Replace(message)); got != native.Replace(want) {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
	for range 2 * maxMasked {
		dir += "x"
		mask(dir)
	}
	if got := mask(dir); got != masked {
		t.Errorf("above the bound: %s", got)
	}
}
