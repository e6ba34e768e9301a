package server

import (
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/tools"
)

// TestUnknownTool checks what a call of a tool that is not there is answered with: the right
// tool, if fsmcp has one, and how the user offers it.
func TestUnknownTool(t *testing.T) {
	s := &Server{known: "Read, Write, Edit", opts: Options{
		Tools:     []tools.Tool{{Name: "Read"}, {Name: "Write"}, {Name: "Edit"}},
		Unoffered: []string{"Grep", "Move", "MultiEdit"},
	}}
	for given, want := range map[string]string{
		"read_text_file":                "; use Read.",
		"list_directory":                "; use Read (of the folder).",
		"read":                          "; use Read.",
		"mcp__fsmcp__Read":              "; use Read.",
		"mcp__filesystem__edit_file":    "; use Edit.",
		"functions.str_replace":         "; use Edit.",
		"Raed":                          "; use Read.",
		"write_file":                    "; use Write.",
		"move_file":                     "; what does that is Move, which is not offered here.",
		"multi_edit":                    "; what does that is MultiEdit, which is not offered here.",
		"Grep":                          ` here; the user can offer it: add it to --tools of fsmcp, or to its setting "tools".`,
		"delete_file":                   `"delete_file". The tools`, // no such tool yet
		"bash":                          `"bash". The tools`,
		"":                              `"". The tools`,
		"__":                            `"__". The tools`,
		strings.Repeat("é", 100) + "-x": "The tools",
	} {
		if got := s.unknownTool(given); !strings.HasPrefix(got, "There is no tool ") || !strings.Contains(got, want) || !strings.HasSuffix(got, " The tools are Read, Write, Edit.") {
			t.Errorf("%q: %s", given, got)
		}
	}
}

// TestHabits checks that no two tools claim one name.
func TestHabits(t *testing.T) {
	seen := map[string]string{}
	for _, h := range habits() {
		for name := range strings.FieldsSeq(h.names) {
			if folded := foldTool(name); seen[folded] != "" {
				t.Errorf("%s is said to be %s and %s", name, seen[folded], h.tool)
			} else {
				seen[folded] = h.tool
			}
		}
	}
}
