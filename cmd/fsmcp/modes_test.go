//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestModes: the list of tools is the same whatever the mode and the rules, in
// both eras, and each mode does what it says to each group of tools.
func TestModes(t *testing.T) {
	t.Parallel()
	lists := map[string]string{}
	for _, revision := range bothEras {
		for _, c := range []struct {
			mode        string
			words       []string
			read, write string // what becomes of a call inside: a slug, or "" where it is done
			ask         bool   // whether the user was asked for the write
		}{
			{mode: "default", write: "denied", ask: true},
			{mode: "acceptEdits"},
			{mode: "plan", write: "plan_mode"},
			{mode: "dontAsk", write: "denied"},
			{mode: "bypassPermissions"},
			{mode: "auto", write: "denied", ask: true},
			{mode: "manual", write: "denied", ask: true},
			{mode: "plan", words: []string{"--deny", "*"}, read: "denied", write: "denied"},
			{mode: "acceptEdits", words: []string{"--deny", "Write", "--deny", "Edit", "--deny", "NotebookEdit", "--deny", "Read"}, read: "denied", write: "denied"},
			{mode: "plan", words: []string{"--allow", "Edit(**)"}, write: "plan_mode"},
		} {
			name := revision + " " + c.mode + fmt.Sprint(c.words)
			f := newFort(t)
			file := f.put("a.txt", "one\n")
			book := f.put("a.ipynb", tableNotebook)
			p := scene{revision: revision, dir: f.ws, home: f.home}.meet(t, append(append([]string{"--permission-mode", c.mode}, c.words...), f.ws)...)
			tools, err := p.session.ListTools(context.Background(), &mcp.ListToolsParams{})
			f.check(err)
			text, err := json.Marshal(tools.Tools)
			f.check(err)
			if first, ok := lists[revision]; !ok {
				lists[revision] = string(text)
			} else if first != string(text) {
				t.Errorf("%s: the list of tools is another one", name)
			}
			for path, show := range map[string]string{file: "one", book: "one"} {
				if a := p.try("Read", map[string]any{"file_path": path}); a.slug != c.read || a.slug == "" && !strings.Contains(a.text, show) {
					t.Errorf("%s: Read answered %+v", name, a)
				}
			}
			for tool, args := range map[string]map[string]any{
				"Write":        {"file_path": f.abs("new.txt"), "content": "x\n"},
				"Edit":         {"file_path": file, "old_string": "one", "new_string": "two"},
				"NotebookEdit": {"notebook_path": book, "cell_id": "a", "new_source": "two"},
			} {
				a := p.try(tool, args)
				asked := p.questions()
				if a.slug != c.write || (len(asked) == 1) != c.ask {
					t.Errorf("%s: %s answered %+v, asked %q", name, tool, a, asked)
				}
				if c.write == "plan_mode" && (a.code != 13 || !strings.HasPrefix(a.text, "Plan mode: ") || !strings.Contains(a.text, "Nothing was changed")) {
					t.Errorf("%s: %s answered %+v", name, tool, a)
				}
			}
			if c.write != "" {
				f.holds("a.txt", "one\n")
				f.holds("a.ipynb", tableNotebook)
				f.lacks("new.txt")
			}
		}
	}
}

// TestPlanFile: in plan mode one file may be written, made, edited and read
// again, wherever it is, and nothing else: no neighbour, and nothing that a
// link of its name leads to.
func TestPlanFile(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"flag", "environment", "relative", "home"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			f := newFort(t)
			plan := f.outside + "/plans/plan.md"
			words := []string{"--permission-mode", "plan", "--plan-file", plan}
			switch where {
			case "environment":
				words = []string{"FSMCP_PERMISSION_MODE=plan", "FSMCP_PLAN_FILE=" + plan}
			case "relative":
				plan = f.abs("plan.md")
				words[3] = "plan.md"
			case "home":
				plan = f.home + "/.claude/plans/plan.md" // protected, but the user named it
				words[3] = "~/.claude/plans/plan.md"
			}
			f.serve(words...)
			if res := f.call("Write", map[string]any{"file_path": plan, "content": "# Plan\n"}); res.IsError {
				t.Fatalf("making it: %s", res.Text)
			}
			if res := f.call("Edit", map[string]any{"file_path": plan, "old_string": "# Plan", "new_string": "# The plan"}); res.IsError {
				t.Errorf("editing it: %s", res.Text)
			}
			f.holds(plan, "# The plan\n")
			f.put("a.txt", "one\n")
			for _, name := range []string{plan + ".bak", plan + "/x", strings.TrimSuffix(plan, ".md"), f.abs("a.txt"), f.abs("new.txt"), f.abs("sub/plan.md")} {
				if res := f.call("Write", map[string]any{"file_path": name, "content": "x\n"}); res.Slug != "plan_mode" || res.Code != 13 {
					t.Errorf("%s: %d %s: %s", name, res.Code, res.Slug, res.Text)
				}
			}
			f.link(plan, "to-plan")
			if res := f.call("Write", map[string]any{"file_path": f.abs("to-plan"), "content": "x\n"}); res.Slug != "plan_mode" {
				t.Errorf("a link to it: %s: %s", res.Slug, res.Text)
			}
		})
	}
	t.Run("a link of its name", func(t *testing.T) {
		f := newFort(t)
		f.put("a.txt", "one\n")
		f.link("a.txt", "plan.md")
		f.serve("--permission-mode", "plan", "--plan-file", f.abs("plan.md"))
		f.call("Read", map[string]any{"file_path": f.abs("plan.md")})
		if res := f.call("Write", map[string]any{"file_path": f.abs("plan.md"), "content": "x\n"}); res.Slug != "plan_mode" {
			t.Errorf("answered %s: %s", res.Slug, res.Text)
		}
		f.holds("a.txt", "one\n")
	})
	t.Run("denied all the same", func(t *testing.T) {
		f := newFort(t)
		f.serve("--permission-mode", "plan", "--plan-file", f.abs("plan.md"), "--deny", "Edit(*.md)")
		f.refusedWrite("plan.md", "denied")
	})
}

func (f *fort) refusedWrite(name, slug string) {
	f.t.Helper()
	if res := f.call("Write", map[string]any{"file_path": f.abs(name), "content": "x\n"}); res.Slug != slug {
		f.t.Errorf("%s: %s: %s", name, res.Slug, res.Text)
	}
	f.lacks(name)
}
