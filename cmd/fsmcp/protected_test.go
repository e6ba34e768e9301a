//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/conformance"
	"github.com/fsmcp/fsmcp/internal/shortrun"
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
	fails := func(slug, tool string, args map[string]any) { // consent is asked for last
		f.t.Helper()
		if res := f.call(tool, args); res.Slug != slug {
			f.t.Errorf("%s %v answered %d %s: %s", tool, args, res.Code, res.Slug, clipText(res.Text))
		}
	}
	fails("not_notebook", "NotebookEdit", map[string]any{"notebook_path": path, "cell_id": "a", "new_source": "evil"})
	write, create := map[string]any{"file_path": path, "content": "evil\n"}, map[string]any{"file_path": path, "old_string": "", "new_string": "evil\n"}
	if text == "" {
		f.needsConsent("Write", write)
		f.needsConsent("Edit", create)
		f.lacks(name)
		return
	}
	fails("exists", "Edit", create)
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
	if len(spots) != 2*(24+44) {
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
	step := len(spots) / shortrun.Most(t, len(spots), len(spots)/2, "spots in each of two folders")
	for i, s := range spots {
		for k, deep := range []string{"", "a/b/", "a/.claude/worktrees/w/"} {
			if k > 0 && (i/2+k)%step > 0 { // i/2: those to be made and those that are there take turns
				continue
			}
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
