//go:build linux

package clienttest

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// TestInspector lists and calls the tools with the MCP Inspector, in both eras of the
// protocol: the one that "initialize" opens, and the one that server/discover opens.
func TestInspector(t *testing.T) {
	t.Parallel()
	program := filepath.Join(install(t, "@modelcontextprotocol/inspector", inspectorVersion), ".bin", "mcp-inspector")
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t, "MCP_INSPECTOR_SECRET_STORE=memory")
			s.fsmcp("config", "mcp-json", "--write", "--dir", s.project)
			inspect := func(args ...string) output {
				return s.try(program, append([]string{"--cli", "--config", ".mcp.json", "--server", "fsmcp", "--protocol-era", era}, args...)...)
			}
			wantTools := func(n int) {
				t.Helper()
				list := inspect("--method", "tools/list", "--strict")
				var tools struct{ Tools []struct{ Name string } }
				if err := json.Unmarshal([]byte(list.stdout), &tools); err != nil || list.err != nil || findings(list.stderr) != "" || len(tools.Tools) != n {
					t.Errorf("tools/list --strict of %d tools: %v, %v\n%s\n%s", n, err, list.err, list.stdout, list.stderr)
				}
			}
			call := func(tool string, args object) (answer inspected) {
				t.Helper()
				text, err := json.Marshal(args)
				check(t, err)
				out := inspect("--method", "tools/call", "--tool-name", tool, "--tool-args-json", string(text))
				if err := json.Unmarshal([]byte(out.stdout), &answer); err != nil {
					t.Fatalf("%s: %v, %v\n%s\n%s", tool, err, out.err, out.stdout, out.stderr)
				}
				return answer
			}
			file := s.write("settings.toml", []byte(before))
			if a := call("Read", object{"file_path": file}); a.IsError || a.Content[0].Text != "1\tcolour = \"red\"\n2\tsize = 3" {
				t.Errorf("Read: %+v", a)
			}
			picture := smallPicture(t)
			a := call("Read", object{"file_path": s.write("small.png", picture)})
			if a.IsError || len(a.Content) != 2 || a.Content[1].Type != "image" || a.Content[1].MIMEType != "image/png" || a.Content[1].Data != base64.StdEncoding.EncodeToString(picture) {
				t.Errorf("Read of an image: %.600v", a)
			}
			// Each call is a session of its own: nothing was read in this one.
			a = call("Edit", object{"file_path": file, "old_string": "red", "new_string": "blue"})
			if !a.IsError || !strings.Contains(a.Content[0].Text, "has not been read yet") || s.read("settings.toml") != before {
				t.Errorf("Edit: %+v", a)
			}
			// With all tools, which the list of four tools is a part of.
			all := func() {
				s.write(".mcp.json", []byte(strings.Replace(s.read(".mcp.json"), `"serve",`, `"serve", "--tools=all",`, 1)))
				wantTools(9)
			}
			if !shortrun.Full() {
				t.Log("the list of four tools and the texts of Write, Grep and Glob are left out; make clients and make faults try them")
				all()
				return
			}
			wantTools(4)
			fresh := filepath.Join(s.project, "new.txt")
			if a := call("Write", object{"file_path": fresh, "content": "new\n"}); a.IsError || s.read("new.txt") != "new\n" {
				t.Errorf("Write: %+v", a)
			}
			all()
			if a := call("Grep", object{"pattern": "colour", "output_mode": "content", "-A": 1, "glob": "*.toml"}); a.IsError || a.Content[0].Text != "settings.toml:1:colour = \"red\"\nsettings.toml-2-size = 3" {
				t.Errorf("Grep: %+v", a)
			}
			if a := call("Glob", object{"pattern": "*.toml"}); a.IsError || a.Content[0].Text != "settings.toml\n(1 file in 1 folder.)" {
				t.Errorf("Glob: %+v", a)
			}
		})
	}
}

// findings returns what the Inspector prints about schemas, without its notes on where it
// keeps secrets.
func findings(stderr string) string {
	lines := slices.DeleteFunc(strings.Split(stderr, "\n"), func(line string) bool { return strings.Contains(line, "ecret") })
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// inspected is an answer as the Inspector prints it.
type inspected struct {
	IsError bool
	Content []struct{ Type, Text, MIMEType, Data string }
}
