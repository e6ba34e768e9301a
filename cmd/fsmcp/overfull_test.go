//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// rulesFile is a settings file with n deny rules made from a format of one number.
func rulesFile(t *testing.T, n int, format string) string {
	t.Helper()
	var rules []string
	for i := range n {
		rules = append(rules, fmt.Sprintf(format, i))
	}
	text, err := json.Marshal(map[string]any{"permissions": map[string]any{"deny": rules}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestOverfullProjectFileCloses: a project's file with too many rules, or too long
// or too intricate ones, counts as broken. Without the bound the first shape kept a
// call for half a minute. The control: as many as are taken decide as ever, and so
// do those of the user's own file.
func TestOverfullProjectFileCloses(t *testing.T) {
	t.Parallel()
	stars := "Read(%d" + strings.Repeat("a**/", 120) + "x)"
	for _, c := range []struct {
		name, text, why string
	}{
		{"a megabyte of stars", rulesFile(t, 1000, stars), "slashes and wildcards together"},
		{"a rule too many", rulesFile(t, 2001, "Read(secret%d)"), "has more than 2000 permission rules"},
		{"a long rule", rulesFile(t, 1, "Read("+strings.Repeat("a", 1024)+"%d)"), "has a permission rule of more than 1024 bytes"},
		{"misspelt rules", rulesFile(t, 2001, "Raed(secret%d)"), "has more than 2000 permission rules"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFort(t)
			f.put("a.txt", "text\n")
			f.put(f.outside+"/b.txt", "text\n")
			f.put(".claude/settings.local.json", c.text)
			f.serve()
			for _, call := range []struct {
				tool string
				args map[string]any
			}{
				{"Write", map[string]any{"file_path": f.abs("new.txt"), "content": "x"}},
				{"Read", map[string]any{"file_path": f.outside + "/b.txt"}},
			} {
				res := f.call(call.tool, call.args)
				if res.Slug != "denied" || !strings.Contains(res.Text, ".claude/settings.local.json:1 ") || !strings.Contains(res.Text, c.why) {
					t.Errorf("%s: %d %s: %s", call.tool, res.Code, res.Slug, clipText(res.Text))
				}
			}
			f.lacks("new.txt")
		})
	}
	for _, c := range []struct{ name, file, text string }{
		{"as many as are taken", "ws/.claude/settings.json", rulesFile(t, 2000, "Read(secret%d)")},
		{"the user's own", "home/.claude/settings.json", rulesFile(t, 2500, "Read(secret%d)")},
		{"rules for commands", "ws/.claude/settings.json", `{"permissions": {"deny": ["Read(secret7)"], "allow": [` + strings.Repeat(`"Bash(cat > a/b/c*)",`, 3000) + `"Bash(` + strings.Repeat("a", 5000) + `)"]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFort(t)
			f.put("secret7", canary)
			f.put(strings.TrimSuffix(f.ws, "/ws")+"/"+c.file, c.text)
			f.serve()
			if res := f.call("Write", map[string]any{"file_path": f.abs("new.txt"), "content": "x"}); res.IsError {
				t.Error(clipText(res.Text))
			}
			if res := f.call("Read", map[string]any{"file_path": f.abs("secret7")}); res.Slug != "denied" || !strings.Contains(res.Text, "Read(secret7)") {
				t.Errorf("%d %s: %s", res.Code, res.Slug, clipText(res.Text))
			}
		})
	}
}
