//go:build linux

package winetest

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNames(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "p"), 0o755); err != nil {
		t.Fatal(err)
	}
	n := Names{Roots: []string{root}}
	win := Name(root)
	for _, c := range []struct {
		text, want string
		json       bool
	}{
		{win + `\a b\c.txt holds`, root + "/a b/c.txt holds", false},
		{"from " + win + `\a.txt. The plan, ` + win + `\plan.md.`, "from " + root + "/a.txt. The plan, " + root + "/plan.md.", false},
		{"p\\a.go\np\\b.go", "p/a.go\np/b.go", false},
		{"p\\src\\deep\\\n(1 folder.)", "p/src/deep/\n(1 folder.)", false},
		{`{"text":"p\\a.go\np\\b\\c.go"}`, `{"text":"p/a.go\np/b/c.go"}`, true},
		{`{"text":"no name: \\n is \u003c and \\d\\s"}`, `{"text":"no name: \\n is \u003c and \\d\\s"}`, true},
		{`add it in %USERPROFILE%\.config\fsmcp\settings.json, or`, "add it in ~/.config/fsmcp/settings.json, or", false},
		{win + `\a/b`, win + `\a/b`, false},
		{"Read(Z:" + root + "/a)", "Read(" + root + "/a)", false},
		{"Read(//Z:" + root + "/a)", "Read(/" + root + "/a)", false},
	} {
		if got := n.FromWindows(c.text, c.json); got != c.want {
			t.Errorf("FromWindows(%q) is\n%q, not\n%q", c.text, got, c.want)
		}
	}
}
