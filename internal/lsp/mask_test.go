package lsp

import (
	"math/rand/v2"
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

// TestMaskIsNaive masks messages whose names are known: quoted ones, bare ones, and what follows
// them.
func TestMaskIsNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 61))
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	folders := nativetest.Names("/w", "/w+b", "/w (1)", "/w.d/sub", "/w/sub", "/é[x]")
	names := 0
	for range 4000 {
		hidden := pick("secret", "a secret", ".env", "é", "x.y")
		c := New(Options{Readable: func(name string) bool { return filepath.Base(name) != hidden }})
		var message, want strings.Builder
		for range 1 + r.IntN(4) {
			quote := pick(`"`, "'", "`", "")
			base := pick("secret", "a secret", ".env", "é", "x.y", "open", "a-b_c", "a(b)")
			folder := folders[r.IntN(len(folders))]
			if quote == "" && strings.ContainsAny(base+folder, " ()[]") {
				continue // where such a name ends is not known
			}
			name := filepath.Join(folder, pick("", "in", "in.d"), base)
			before := pick("", "see ", "file://", "(", "a: ") + quote
			after := quote + pick(" ", ": x ", ", ", ". ", ") ", ":12:3: ", ">")
			message.WriteString(before + name + after)
			if base == hidden {
				name = masked
			}
			want.WriteString(before + name + after)
			names++
		}
		if got := c.mask(folders)(message.String()); got != want.String() {
			t.Fatalf("without %s, %q is %q, want %q", hidden, message.String(), got, want.String())
		}
	}
	t.Logf("%d names", names)
}
