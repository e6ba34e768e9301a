package clients

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRegistered finds the entries that Merge and the clients' own commands make, and no
// others.
func TestRegistered(t *testing.T) {
	for _, c := range []struct{ client, text, want string }{
		{"cursor", ``, ""},
		{"cursor", "// nothing\n", ""},
		{"cursor", `{}`, ""},
		{"cursor", `{"mcpServers":{}}`, ""},
		{"cursor", `{"mcpServers":{"memory":{"command":"npx"}}}`, ""},
		{"cursor", `{"servers":{"fsmcp":{"command":"/a"}}}`, ""},
		{"cursor", "{\"mcpServers\":{\n \"fsmcp\":{\"command\":\"/a/b\"}}}", "2 /a/b"},
		{"cursor", "\ufeff{\"mcpServers\":{\n \"fsmcp\":{\"command\":\"/a/b\"}}}", "2 /a/b"},
		{"cursor", "{\"mcpServers\":{\n \"files\":{\"command\":\"/bin/fsmcp\"},\n\"fsmcp\":{\"command\":\"x\"}}}", "2 /bin/fsmcp, 3 x"},
		{"cursor", `{"mcpServers":{"files":{"command":"C:\\bin\\fsmcp.exe"}}}`, `1 C:\bin\fsmcp.exe`},
		{"cursor", `{"mcpServers":{"files":{"command":"/bin/fsmcp-media"}}}`, ""},
		{"cursor", `{"mcpServers":{"fsmcp":{"url":"https://example.invalid"}}}`, "1 "},
		{"cursor", `{"mcpServers":{"fsmcp":{"command":["a"]}}}`, "1 "},
		{"cursor", `{"mcpServers":{"fsmcp":7}}`, "1 "},
		{"cursor", "{\n\"mcpServers\":[]}", `error line 2: "mcpServers" is not an object`},
		{"cursor", "{\n", "error line 2"},
		{"cursor", `{"mcpServers":{},"mcpServers":{}}`, "error line 1"},
		{"windsurf", "{\n// no\n}", "error line 2: Windsurf does not accept comments"},
		{"codex", "[mcp_servers.memory]\ncommand = \"npx\"\n", ""},
		{"codex", "# x\n[mcp_servers.fsmcp]\nargs = []\ncommand = \"/a/\\\"b\" # x\n[other]\ncommand = \"z\"\n", `2 /a/"b`},
		{"codex", "[ mcp_servers . \"fsmcp\" ]\r\ncommand='/a b'\r\n", "1 /a b"},
		{"codex", "[mcp_servers.fsmcp]\n[mcp_servers.fsmcp.env]\ncommand = \"no\"\n", "1 "},
		{"codex", "[mcp_servers.fsmcp]\ncommand = \"broken\n", "1 "},
		{"codex", "command = \"no\"\n", ""},
		{"goose", "extensions:\n  memory:\n    cmd: npx\n", ""},
		{"goose", "other:\n  fsmcp:\n    cmd: npx\n", ""},
		{"goose", "fsmcp:\n  cmd: npx\n", ""},
		{"goose", "extensions:\n  fsmcp:\n    type: stdio\n    cmd: \"/a b\"\n    args: [\"serve\"]\n  next:\n    cmd: no\n", "2 /a b"},
		{"goose", "extensions:\n  'fsmcp':\n    cmd: /a/b # why\n", "2 /a/b"},
	} {
		client, _ := Find(c.client)
		src := client.Sources(UserFolders{OS: "linux", Home: "/h"}, []string{"/p"})[0]
		if got := registrations(client.Registered(src, []byte(c.text))); got != c.want && !(strings.HasPrefix(c.want, "error") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s %q: %s, not %s", c.client, c.text, got, c.want)
		}
	}
}

func registrations(all []Registration, err error) string {
	var refusal *FileFault
	if errors.As(err, &refusal) {
		return "error " + err.Error()
	}
	list := make([]string, len(all))
	for i, r := range all {
		list[i] = fmt.Sprintf("%d %s", r.Line, r.Command)
	}
	return strings.Join(list, ", ")
}

// TestRegisteredAfterSnippet finds what every client's snippet enters.
func TestRegisteredAfterSnippet(t *testing.T) {
	for _, client := range All() {
		text := client.Snippet(Launch{Program: `/opt/a "b"/fsmcp`, Dirs: []string{"/p"}})
		got, err := client.Registered(ServersFile{keys: [][]string{client.keys}}, []byte(text))
		if err != nil || len(got) != 1 || got[0].Command != `/opt/a "b"/fsmcp` {
			t.Errorf("%s: %v, %v in\n%s", client.Name, got, err, text)
		}
	}
}

func TestSources(t *testing.T) {
	s := UserFolders{OS: "linux", Home: "/h"}
	for name, want := range map[string][]string{
		"claude-code": {"/p/.mcp.json", "/h/.claude.json"},
		"vscode":      {"/h/.config/Code/User/mcp.json", "/p/.vscode/mcp.json"},
		"cursor":      {"/h/.cursor/mcp.json", "/p/.cursor/mcp.json"},
		"gemini":      {"/h/.gemini/settings.json", "/p/.gemini/settings.json"},
		"codex":       {"/h/.codex/config.toml"},
		"jetbrains":   nil,
	} {
		client, _ := Find(name)
		var got []string
		for _, src := range client.Sources(s, []string{"/p"}) {
			got = append(got, src.File)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
	cursor, _ := Find("cursor")
	if got := cursor.Sources(s, []string{"/h"}); len(got) != 1 {
		t.Errorf("a home that is the project: %v", got)
	}
	claude, _ := Find("claude-code")
	s.ClaudeHome = "/c"
	private := claude.Sources(s, []string{"/p"})[1]
	if private.File != "/c/.claude.json" {
		t.Errorf("with CLAUDE_CONFIG_DIR: %s", private.File)
	}
	two := cursor.Sources(UserFolders{OS: "linux", Home: "/h"}, []string{"/p", "/q"})
	if len(two) != 3 || two[2].File != "/q/.cursor/mcp.json" {
		t.Errorf("two folders: %v", two)
	}
	text := `{"mcpServers":{"fsmcp":{"command":"a"}},"projects":{"/p":{"mcpServers":{"fsmcp":{"command":"b"}}},"/q":{"mcpServers":{"fsmcp":{"command":"c"}}}}}`
	if got := registrations(claude.Registered(private, []byte(text))); got != "1 a, 1 b" {
		t.Errorf("in ~/.claude.json: %s", got)
	}
	private = claude.Sources(s, []string{"/p", "/q"})[1]
	if got := registrations(claude.Registered(private, []byte(text))); got != "1 a, 1 b, 1 c" {
		t.Errorf("in ~/.claude.json, of two folders: %s", got)
	}
}
