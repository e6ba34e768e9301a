package clients

import (
	"slices"
	"testing"
)

// Every file that the table names is protected, by the variables and without them, and so
// are the editors' own settings.
func TestProtected(t *testing.T) {
	s := UserFolders{OS: "linux", Home: "/h", ConfigHome: "/c", CodexHome: "/x", GeminiHome: "/g", ClaudeHome: "/l"}
	got := Protected(s, []string{"/p", "/q"})
	for _, c := range All() {
		for _, dir := range []string{"/p", "/q"} {
			for _, name := range []string{c.File(s, dir), c.File(UserFolders{OS: "linux", Home: "/h"}, dir)} {
				if name != "" && !slices.Contains(got, name) {
					t.Errorf("%s: %s is not protected", c.Name, name)
				}
			}
		}
	}
	for _, name := range []string{
		"/h/.codeium/windsurf/mcp_config.json", "/c/Claude/claude_desktop_config.json", "/h/.config/goose/config.yaml", "/x/config.toml", "/h/.codex/config.toml", "/l/.claude.json", "/h/.claude.json",
		"/q/opencode.jsonc", "/c/opencode/opencode.jsonc", "/h/.config/Code/User", "/c/Cursor/User", "/h/.config/zed", "/h/.config/JetBrains",
	} {
		if !slices.Contains(got, name) {
			t.Errorf("%s is not protected", name)
		}
	}
	for _, name := range Protected(UserFolders{OS: "linux"}, nil) {
		t.Errorf("without a home: %s", name)
	}
}
