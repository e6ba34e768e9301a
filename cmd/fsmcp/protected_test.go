//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/conformance"
)

// needsConsent asks that a call was refused because its client cannot ask, and
// that the answer says so of a protected path.
func (f *fort) needsConsent(tool string, args map[string]any) {
	f.t.Helper()
	res := f.call(tool, args)
	if !res.IsError || res.Slug != "denied" || !strings.Contains(res.Text, "protected path") || !strings.Contains(res.Text, "needs the user's consent") {
		f.t.Errorf("%s %v answered %d %s: %s", tool, args, res.Code, res.Slug, clipText(res.Text))
	}
}

// writes asks that no changing tool reaches a name that holds text, or none
// where text is "".
func (f *fort) guarded(name, text string) {
	f.t.Helper()
	path := f.abs(name)
	f.needsConsent("Write", map[string]any{"file_path": path, "content": "evil\n"})
	f.needsConsent("Edit", map[string]any{"file_path": path, "old_string": "", "new_string": "evil\n"})
	f.needsConsent("NotebookEdit", map[string]any{"notebook_path": path, "cell_id": "a", "new_source": "evil"})
	if text == "" {
		f.lacks(name)
		return
	}
	if res := f.call("Read", map[string]any{"file_path": path}); res.IsError {
		f.t.Errorf("reading %s: %s", name, res.Text)
	}
	f.needsConsent("Edit", map[string]any{"file_path": path, "old_string": text, "new_string": "evil\n"})
	f.needsConsent("Write", map[string]any{"file_path": path, "content": "evil\n"})
	f.holds(name, text)
}

// TestEveryProtectedPath creates, overwrites and edits each protected name, at
// the top and deep down, by its name, in other case, and through links.
func TestEveryProtectedPath(t *testing.T) {
	t.Parallel()
	f := newFort(t)
	type spot struct{ new, old string }
	var spots []spot
	for _, dir := range conformance.ProtectedDirs() {
		spots = append(spots, spot{dir + "/new", dir + "/old"}, spot{dir + "/in/new/new.json", dir + "/in/old.json"})
	}
	for _, file := range conformance.ProtectedFiles() {
		spots = append(spots, spot{file, ""}, spot{"", file})
	}
	if len(spots) != 2*(11+37) {
		t.Fatalf("%d spots", len(spots))
	}
	const text = "as it was\n"
	// Each in workspaces of its own kind, so that new and old do not meet.
	for _, deep := range []string{"", "a/b/", "a/.claude/worktrees/w/"} {
		for _, s := range spots {
			if s.old != "" {
				f.put("old/"+deep+s.old, text)
			}
		}
	}
	for i, s := range spots {
		if s.old == "" {
			continue
		}
		f.link("../old/"+s.old, fmt.Sprintf("links/file%d", i))
		f.link(filepath.Dir("../old/"+s.old), fmt.Sprintf("links/dir%d", i))
	}
	for i, s := range spots {
		if s.new != "" {
			f.link("../fresh/"+s.new, fmt.Sprintf("links/new%d", i))
		}
	}
	for _, dir := range []string{".git", ".claude", ".fsmcp", ".vscode", ".husky"} {
		f.put("as-files/"+dir, text)
	}
	f.serve()
	for i, s := range spots {
		for _, deep := range []string{"", "a/b/", "a/.claude/worktrees/w/"} {
			if s.new != "" {
				f.guarded("fresh/"+deep+s.new, "")
				f.guarded("fresh/"+deep+strings.ToUpper(s.new), "")
			}
			if s.old != "" {
				f.guarded("old/"+deep+s.old, text)
			}
		}
		if s.old != "" {
			f.guarded(fmt.Sprintf("links/file%d", i), text)
			if strings.Contains(s.old, "/") { // the folder is protected
				f.guarded(fmt.Sprintf("links/dir%d/other", i), "")
			}
		}
		if s.new != "" {
			f.needsConsent("Write", map[string]any{"file_path": f.abs(fmt.Sprintf("links/new%d", i)), "content": "evil\n"})
		}
	}
	for _, dir := range []string{".git", ".claude", ".fsmcp", ".vscode", ".husky"} {
		f.guarded("as-files/"+dir, text)
		f.guarded("as-new-files/"+dir, "")
		f.guarded("as-new-files/."+"\u200b"+dir[1:], "")
	}
	f.lacks("fresh")
	f.lacks("as-new-files")
	// What only resembles them is free.
	for _, name := range []string{".gitignore", ".github/workflows/ci.yml", ".claude/worktrees/w1/main.go", "git/config", "x.git/config", ".vscode-test/a",
		"config/git/x", "my.bashrc", ".bashrc.d/x", "package.json", "lefthook.json", ".mcp.json.md"} {
		if res := f.call("Write", map[string]any{"file_path": f.abs("free/" + name), "content": "fine\n"}); res.IsError {
			t.Errorf("%s: %s", name, res.Text)
		}
	}
}

// TestBareRepository plants a bare repository in the workspace, in any order:
// what makes the folder one is asked for.
func TestBareRepository(t *testing.T) {
	t.Parallel()
	f := newFort(t)
	f.serve()
	write := func(name string) map[string]any {
		return map[string]any{"file_path": f.abs(name), "content": "[core]\n\tfsmonitor = evil\n"}
	}
	// Without HEAD the others are ordinary names, and HEAD is asked for.
	for _, name := range []string{"config", "objects/info/x", "refs/heads/x", "hooks/post-checkout"} {
		if res := f.call("Write", write(name)); res.IsError {
			t.Errorf("%s: %s", name, res.Text)
		}
	}
	f.guarded("HEAD", "")
	f.needsConsent("Write", write("head"))
	f.lacks("head")
	for _, head := range []struct {
		name string
		make func()
	}{
		{"a file", func() { f.put("HEAD", "ref: refs/heads/main\n") }},
		{"a link that leads nowhere, which git takes for one", func() { f.link("refs/heads/main", "HEAD") }},
		{"a link out of the workspace", func() { f.put(f.outside+"/HEAD", "ref: refs/heads/main\n"); f.link(f.outside+"/HEAD", "HEAD") }},
	} {
		t.Run(head.name, func(t *testing.T) {
			head.make()
			defer os.Remove(f.abs("HEAD"))
			for _, name := range []string{"config", "hooks/post-checkout", "hooks/new", "objects/new", "refs/heads/new", "Config"} {
				f.needsConsent("Write", write(name))
			}
			f.lacks("hooks/new")
		})
	}
	if res := f.call("Write", write("sub/config")); res.IsError {
		t.Errorf("below: %s", res.Text)
	}
}
