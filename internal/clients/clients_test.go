package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	linux := UserFolders{OS: "linux", Home: "/home/you"}
	darwin := UserFolders{OS: "darwin", Home: "/Users/you"}
	windows := UserFolders{OS: "windows", Home: `C:\Users\you`}
	for _, c := range []struct{ name, linux, darwin, windows string }{
		{"claude-desktop", "/home/you/.config/Claude/claude_desktop_config.json", "/Users/you/Library/Application Support/Claude/claude_desktop_config.json", `C:\Users\you\AppData\Roaming\Claude\claude_desktop_config.json`},
		{"claude-code", "/p/.mcp.json", "/p/.mcp.json", `D:\p\.mcp.json`},
		{"vscode", "/home/you/.config/Code/User/mcp.json", "/Users/you/Library/Application Support/Code/User/mcp.json", `C:\Users\you\AppData\Roaming\Code\User\mcp.json`},
		{"vscode-insiders", "/home/you/.config/Code - Insiders/User/mcp.json", "/Users/you/Library/Application Support/Code - Insiders/User/mcp.json", `C:\Users\you\AppData\Roaming\Code - Insiders\User\mcp.json`},
		{"cursor", "/home/you/.cursor/mcp.json", "/Users/you/.cursor/mcp.json", `C:\Users\you\.cursor\mcp.json`},
		{"zed", "/home/you/.config/zed/settings.json", "/Users/you/.config/zed/settings.json", `C:\Users\you\AppData\Roaming\Zed\settings.json`},
		{"codex", "/home/you/.codex/config.toml", "/Users/you/.codex/config.toml", `C:\Users\you\.codex\config.toml`},
		{"gemini", "/home/you/.gemini/settings.json", "/Users/you/.gemini/settings.json", `C:\Users\you\.gemini\settings.json`},
		{"opencode", "/home/you/.config/opencode/opencode.json", "/Users/you/.config/opencode/opencode.json", `C:\Users\you\.config\opencode\opencode.json`},
		{"windsurf", "/home/you/.codeium/windsurf/mcp_config.json", "/Users/you/.codeium/windsurf/mcp_config.json", `C:\Users\you\.codeium\windsurf\mcp_config.json`},
		{"jetbrains", "", "", ""},
		{"goose", "/home/you/.config/goose/config.yaml", "/Users/you/.config/goose/config.yaml", `C:\Users\you\AppData\Roaming\Block\goose\config\config.yaml`},
		{"mcp-json", "/p/.mcp.json", "/p/.mcp.json", `D:\p\.mcp.json`},
	} {
		client, ok := Find(c.name)
		if !ok {
			t.Errorf("there is no %s", c.name)
		}
		for _, on := range []struct {
			system    UserFolders
			dir, want string
		}{{linux, "/p", c.linux}, {darwin, "/p", c.darwin}, {windows, `D:\p`, c.windows}} {
			if got := client.File(on.system, on.dir); got != on.want {
				t.Errorf("%s on %s: %s, not %s", c.name, on.system.OS, got, on.want)
			}
		}
		if got := client.File(UserFolders{OS: "linux"}, "/p"); got != "" && got != "/p/.mcp.json" {
			t.Errorf("%s without a home: %s", c.name, got)
		}
	}
	if len(Names()) != 13 {
		t.Errorf("the table has %q", Names())
	}
	if _, ok := Find("nano"); ok {
		t.Error("nano is a client")
	}
}

// TestPackagedFile finds the file of a client that Windows has installed as a package.
func TestPackagedFile(t *testing.T) {
	client, _ := Find("claude-desktop")
	const plain = `C:\Users\you\AppData\Roaming\Claude\claude_desktop_config.json`
	const local = `C:\Users\you\AppData\Local`
	in := func(local, name string) string {
		return local + `\Packages\` + name + `\LocalCache\Roaming\Claude\claude_desktop_config.json`
	}
	for _, c := range []struct {
		name, local   string
		packages, has []string
		want          string
	}{
		{"no package", "", nil, nil, plain},
		{"other packages", "", []string{"Claudette_x", "Microsoft.Claude_x"}, nil, plain},
		{"a package without a file", "", []string{"A", "Claude_pzs8sxrjxfjjc"}, nil, in(local, "Claude_pzs8sxrjxfjjc")},
		{"a package beside an old file", "", []string{"Claude_a"}, []string{plain}, in(local, "Claude_a")},
		{"two packages, one with a file", "", []string{"Claude_a", "Claude_b"}, []string{in(local, "Claude_b")}, in(local, "Claude_b")},
		{"LOCALAPPDATA", `D:\Local`, []string{"Claude_a"}, nil, in(`D:\Local`, "Claude_a")},
	} {
		s := UserFolders{OS: "windows", Home: `C:\Users\you`, LocalData: c.local,
			Exists: func(name string) bool { return slices.Contains(c.has, name) },
			Entries: func(folder string) []string {
				if folder != strings.TrimSuffix(in(c.local, ""), `\\LocalCache\Roaming\Claude\claude_desktop_config.json`) && c.local != "" {
					t.Errorf("%s: looks into %s", c.name, folder)
				}
				return c.packages
			}}
		if got := client.File(s, `C:\p`); got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
		sources := client.Sources(s, []string{`C:\p`})
		if c.want == plain {
			if len(sources) != 1 || sources[0].Instead != "" {
				t.Errorf("%s: %+v", c.name, sources)
			}
		} else if len(sources) != 2 || sources[0].File != plain || sources[0].Instead != c.want || sources[1].File != c.want || sources[1].Instead != "" {
			t.Errorf("%s: %+v", c.name, sources)
		}
		for _, os := range []string{"linux", "darwin"} {
			s.OS = os
			if got := client.File(s, "/p"); strings.Contains(got, "Packages") {
				t.Errorf("%s: %s on %s", c.name, got, os)
			}
		}
	}
}

// TestFileByEnvironment moves the folders that variables name.
func TestFileByEnvironment(t *testing.T) {
	linux := UserFolders{OS: "linux", Home: "/home/you", ConfigHome: "/x", CodexHome: "/c", GeminiHome: "/g", AppData: "/ignored"}
	windows := UserFolders{OS: "windows", Home: `C:\Users\you`, AppData: `E:\Roaming\`, ConfigHome: `X:\ignored`}
	for _, c := range []struct {
		name   string
		system UserFolders
		want   string
	}{
		{"zed", linux, "/x/zed/settings.json"},
		{"vscode", linux, "/x/Code/User/mcp.json"},
		{"codex", linux, "/c/config.toml"},
		{"gemini", linux, "/g/.gemini/settings.json"},
		{"cursor", linux, "/home/you/.cursor/mcp.json"},
		{"zed", windows, `E:\Roaming\Zed\settings.json`},
		{"goose", windows, `E:\Roaming\Block\goose\config\config.yaml`},
	} {
		client, _ := Find(c.name)
		if got := client.File(c.system, ""); got != c.want {
			t.Errorf("%s on %s: %s, not %s", c.name, c.system.OS, got, c.want)
		}
	}
}

func TestCommand(t *testing.T) {
	s := Launch{Program: "/opt/my tools/fsmcp", Dirs: []string{"/your/project", "/it's"}}
	for name, want := range map[string]string{
		"claude-code": `claude mcp add fsmcp -- '/opt/my tools/fsmcp' serve /your/project '/it'\''s'`,
		"codex":       `codex mcp add fsmcp -- '/opt/my tools/fsmcp' serve /your/project '/it'\''s'`,
		"gemini":      `gemini mcp add --scope user fsmcp '/opt/my tools/fsmcp' serve /your/project '/it'\''s'`,
		"vscode":      `code --add-mcp '{"name":"fsmcp","type":"stdio","command":"/opt/my tools/fsmcp","args":["serve","/your/project","/it'\''s"]}'`,
		"goose":       `goose session --with-extension ''\''/opt/my tools/fsmcp'\'' serve /your/project '\''/it'\''\'\'''\''s'\'''`,
		"zed":         "",
		"jetbrains":   "",
	} {
		c, _ := Find(name)
		if got := Shell("linux", c.Command(s)); got != want {
			t.Errorf("%s: %s\nnot %s", name, got, want)
		}
	}
	windows := Launch{Program: `C:\Program Files\fsmcp.exe`, Dirs: []string{`D:\p`, `D:\a b\`}}
	c, _ := Find("codex")
	if got, want := Shell("windows", c.Command(windows)), `codex mcp add fsmcp -- "C:\Program Files\fsmcp.exe" serve D:\p "D:\a b\\"`; got != want {
		t.Errorf("%s\nnot %s", got, want)
	}
	if got, want := Shell("windows", []string{"code", `{"a":"C:\\b"}`}), `code "{\"a\":\"C:\\b\"}"`; got != want {
		t.Errorf("%s\nnot %s", got, want)
	}
}

// TestShellIsRead gives lines to the shell that they are for.
func TestShellIsRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("!!! NOT TESTED: there is no sh !!!")
	}
	for _, words := range [][]string{{"a", ""}, {"a b", "c'd", `"`, `\`, "$HOME", "*", "ü", "-x", "!", "\t", "`id`", "a\nb"}} {
		line := Shell("linux", words)
		out, err := exec.Command("sh", "-c", `printf '%s\0' `+line).Output()
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, words) {
			t.Errorf("%s is %q to sh, %v", line, got, err)
		}
	}
}

func TestSnippet(t *testing.T) {
	s := Launch{Program: `C:\a "b"\fsmcp`, Dirs: []string{"/p", "/<&>\x7f"}}
	for name, want := range map[string]string{
		"cursor": "{\n  \"mcpServers\": {\n    \"fsmcp\": {\n      \"command\": \"C:\\\\a \\\"b\\\"\\\\fsmcp\",\n      \"args\": [\n        \"serve\",\n        \"/p\",\n        \"/<&>\x7f\"\n      ]\n    }\n  }\n}\n",
		"codex":  "[mcp_servers.fsmcp]\ncommand = \"C:\\\\a \\\"b\\\"\\\\fsmcp\"\nargs = [\"serve\", \"/p\", \"/<&>\\u007f\"]\n",
		"goose":  "extensions:\n  fsmcp:\n    enabled: true\n    type: stdio\n    name: fsmcp\n    description: \"Read, Write, Edit and NotebookEdit\"\n    cmd: \"C:\\\\a \\\"b\\\"\\\\fsmcp\"\n    args: [\"serve\", \"/p\", \"/<&>\x7f\"]\n    envs: {}\n    timeout: 300\n",
	} {
		c, _ := Find(name)
		if got := c.Snippet(s); got != want {
			t.Errorf("%s:\n%s\nnot\n%s", name, got, want)
		}
	}
	for _, c := range All() {
		got := c.Snippet(s)
		if (c.Format == JSON || c.Format == JSONC) && !json.Valid([]byte(got)) {
			t.Errorf("%s: %s", c.Name, got)
		}
		if m, err := c.Merge(nil, s); c.Mergeable() && (err != nil || string(m.Splices[0].New) != got) {
			t.Errorf("%s: a new file holds %v, %v", c.Name, m.Splices, err)
		}
		if c.Title == "" || c.Format == "" || !c.Mergeable() && c.Command(s) == nil && len(c.Notes) == 0 {
			t.Errorf("%s: the row is not complete", c.Name)
		}
	}
}

// TestDocumented compares docs/clients.md with the table.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	s := Launch{Program: "/path/to/fsmcp", Dirs: []string{"/your/project"}}
	for _, c := range All() {
		files := c.describe("linux")
		if mac := c.describe("darwin"); mac != files {
			files += "`; macOS `" + mac
		}
		if windows := c.describe("windows"); strings.ReplaceAll(strings.ReplaceAll(windows, `\`, "/"), "%USERPROFILE%", "~") != c.describe("linux") {
			files += "`; Windows `" + windows
		}
		command := "–"
		if words := c.Command(s); words != nil {
			command = "`" + Shell("linux", words) + "`"
		}
		if files = "`" + files + "`"; c.describe("linux") == "none" {
			files = "–"
		}
		row := fmt.Sprintf("| `%s` | %s | %s | %s |\n", c.Name, c.Title, files, command)
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/clients.md lacks the row\n%s", row)
		}
	}
}

// describe names the client's file for a document, with variables for its folder.
func (c KnownClient) describe(os string) string {
	p := c.place(os)
	folder := map[base]string{homeDir: "~", configDir: "~/.config", appData: "%APPDATA%", codexHome: "~/.codex", geminiHome: "~", projectDir: "your project"}[p.base]
	if os == "windows" {
		folder = strings.Replace(folder, "~", "%USERPROFILE%", 1)
	}
	if folder == "" {
		return "none"
	}
	return UserFolders{OS: os}.join(strings.ReplaceAll(folder, "/", UserFolders{OS: os}.separator()), p.path)
}
