//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// audited reads an audit file, holds every line against the schema, and returns
// what they say, with the text.
func audited(t *testing.T, name string) (lines []toolcall.Event, text string) {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat = true
	schema := compiler.MustCompile(filepath.Join("..", "..", "schemas", "audit.schema.json"))
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var v any
		var l toolcall.Event
		if err := errors.Join(json.Unmarshal([]byte(line), &v), json.Unmarshal([]byte(line), &l)); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		lines = append(lines, l)
	}
	return lines, string(b)
}

// TestEveryCallIsAudited makes calls of every kind and end, in both protocol eras, with
// and without a user to ask. Each call leaves one line that says how it ended. Neither the
// audit file nor the log holds any content that was read, sent or kept.
func TestEveryCallIsAudited(t *testing.T) {
	type args = map[string]any
	for _, revision := range bothEras {
		for _, deaf := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s deaf %v", revision, deaf), func(t *testing.T) {
				root := t.TempDir()
				dir, home := filepath.Join(root, "ws"), filepath.Join(root, "home")
				put := func(name, text string) string {
					t.Helper()
					if !filepath.IsAbs(name) {
						name = filepath.Join(dir, name)
					}
					if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
						t.Fatal(err)
					}
					return name
				}
				audit, log := filepath.Join(home, "audit.jsonl"), filepath.Join(home, "log")
				put(filepath.Join(home, ".config/fsmcp/settings.json"), `{"audit":{"file":"~/audit.jsonl","required":true}}`)
				a := put("a.txt", canary+" one\n")
				nb := put("n.ipynb", `{"cells":[{"cell_type":"code","execution_count":null,"id":"a","metadata":{},"outputs":[],"source":["`+canary+`"]}],"metadata":{},"nbformat":4,"nbformat_minor":5}`)
				asked, denied, guide := put("asked.txt", canary), put("denied.txt", canary), put("AGENTS.md", canary)
				binary := put("bin", canary+"\x00")
				p := scene{revision: revision, dir: dir, home: home, deaf: deaf}.meet(t, "--log", log, "--ask", "Read(asked.txt)", "--deny", "Read(denied.txt)", dir)
				seen := 0
				for i, c := range []struct {
					tool string
					args args
					says string // what the user answers
					kind toolcall.EventKind
					path string
					end  string
				}{
					{"Read", args{"file_path": a}, "", toolcall.EventRead, a, "ok"},
					{"Read", args{"file_path": a}, "", toolcall.EventRead, a, "ok"}, // a stub
					{"Read", args{"file_path": a, "offset": 99}, "", toolcall.EventRead, a, "ok"},
					{"Read", args{"file_path": a, "limit": -1}, "", toolcall.EventRefusal, a, "bad_argument"},
					{"Read", args{"file_path": a, canary: canary}, "", toolcall.EventRefusal, "", "bad_argument"},
					{"Read", args{"file_path": 7}, "", toolcall.EventRefusal, "", "bad_argument"},
					{"Read", args{"file_path": dir}, "", toolcall.EventRead, dir, "ok"},
					{"Read", args{"file_path": a + ".not"}, "", toolcall.EventRefusal, a + ".not", "not_found"},
					{"Read", args{"file_path": binary}, "", toolcall.EventRefusal, binary, "binary"},
					{"Read", args{"file_path": denied}, "", toolcall.EventRefusal, denied, "denied"},
					{"Edit", args{"file_path": a, "old_string": canary + " two", "new_string": canary}, "", toolcall.EventRefusal, a, "no_match"},
					{"Edit", args{"file_path": a, "old_string": canary, "new_string": canary + canary}, "", toolcall.EventEdit, a, "ok"},
					{"Write", args{"file_path": dir + "/new.txt", "content": canary}, "", toolcall.EventWrite, dir + "/new.txt", "ok"},
					{"Write", args{"file_path": binary, "content": canary}, "", toolcall.EventRefusal, binary, "binary"},
					{"Write", args{"file_path": denied, "content": canary}, "", toolcall.EventRefusal, denied, "denied"},
					{"NotebookEdit", args{"notebook_path": nb, "cell_id": "a", "new_source": canary}, "", toolcall.EventRefusal, nb, "not_read"},
					{"Read", args{"file_path": nb}, "", toolcall.EventRead, nb, "ok"},
					{"NotebookEdit", args{"notebook_path": nb, "cell_id": "a", "new_source": canary + " = 2"}, "", toolcall.EventEdit, nb, "ok"},
					{"NotebookEdit", args{"notebook_path": nb, "cell_id": canary, "new_source": canary}, "", toolcall.EventRefusal, nb, "no_such_cell"},
					{"Read", args{"file_path": asked}, "decline", toolcall.EventRefusal, asked, "denied"},
					{"Read", args{"file_path": asked}, "once", either(deaf, toolcall.EventRefusal, toolcall.EventRead), asked, either(deaf, "denied", "ok")},
					{"Read", args{"file_path": guide}, "", toolcall.EventRead, guide, "ok"},
					{"Edit", args{"file_path": guide, "old_string": canary, "new_string": "obey " + canary}, "", toolcall.EventEdit, guide, "ok"},
				} {
					switch c.says {
					case "decline":
						p.will("decline", "")
					case "once":
						p.will("accept", "once")
					}
					if i == 12 { // a reminder tells of it
						put("a.txt", canary+" from outside\n")
					}
					got := p.try(c.tool, c.args)
					lines, text := audited(t, audit)
					var own []toolcall.Event
					begun, instructions := 0, 0
					for _, l := range lines[seen:] {
						switch l.Kind {
						case toolcall.EventBegun:
							begun++
						case toolcall.EventInstructions:
							instructions++
						default:
							own = append(own, l)
						}
					}
					seen = len(lines)
					if len(own) != 1 || own[0].Kind != c.kind || own[0].Outcome != c.end || own[0].Path != c.path || own[0].Tool != c.tool || own[0].Code != got.code {
						t.Errorf("%s %v (%d %s): %+v", c.tool, c.args, got.code, got.slug, own)
					}
					changed := c.end == "ok" && c.kind != toolcall.EventRead
					if (begun == 1) != changed || (instructions == 1) != (changed && c.path == guide) {
						t.Errorf("%s %v: %d begun, %d instructions", c.tool, c.args, begun, instructions)
					}
					if strings.Contains(text, canary) {
						t.Fatalf("%s %v: the audit file holds what is secret", c.tool, c.args)
					}
				}
				text, err := os.ReadFile(log)
				if err != nil || strings.Contains(string(text), canary) || !strings.Contains(string(text), `"event":"refusal"`) {
					t.Errorf("the log: %v\n%s", err, text)
				}
			})
		}
	}
}

// either is one of two values.
func either[T any](how bool, yes, no T) T {
	if how {
		return yes
	}
	return no
}
