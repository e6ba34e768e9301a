package settings

import (
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/nativetest"
)

func TestToolsToPublish(t *testing.T) {
	const four, six, all = "Read Write Edit NotebookEdit", "Read Write Edit NotebookEdit Glob Grep", "Read Write Edit NotebookEdit Move Delete Glob Grep MultiEdit"
	for _, c := range []struct {
		name          string
		flag, env     string
		user, project string
		every, trust  bool
		readOnly      string // FSMCP_READ_ONLY
		want, fault   string
	}{
		{name: "default", want: four},
		{name: "calls by hand", every: true, want: all},
		{name: "a flag", flag: "Grep, Read", want: "Read Grep"},
		{name: "all", flag: "all", want: all},
		{name: "the set core", flag: "core", want: four},
		{name: "two sets", flag: "search,core", want: six},
		{name: "a set and a tool", flag: "search, Edit", want: "Edit Glob Grep"},
		{name: "the set read-only", flag: "read-only", want: "Read Glob Grep"},
		{name: "a mistyped set", flag: "serch", fault: `--tools: there is no tool "serch" (did you mean search?); the tools are`},
		{name: "a variable", env: "all", want: all},
		{name: "a flag beats a variable", flag: "Read", env: "all", want: "Read"},
		{name: "a setting", user: `["Read", "Glob"]`, want: "Read Glob"},
		{name: "a setting bounds calls by hand", user: `["Read"]`, every: true, want: "Read"},
		{name: "a variable beats a setting", env: "Grep", user: `["Read"]`, want: "Grep"},
		{name: "a setting names sets", user: `["read-only", "Edit"]`, want: "Read Edit Glob Grep"},
		{name: "a project takes away", project: `["Read"]`, want: "Read"},
		{name: "a project takes away from a flag", flag: "all", project: `["Read", "Grep"]`, want: "Read Grep"},
		{name: "a project takes away all but a set", flag: "all", project: `["read-only"]`, want: "Read Glob Grep"},
		{name: "a project adds nothing", project: `["all"]`, want: four},
		{name: "a project leaves something", project: `["Grep"]`, want: four},
		{name: "a trusted project adds", project: `["all"]`, trust: true, want: all},
		{name: "read-only", readOnly: "true", want: "Read"},
		{name: "read-only of all", flag: "all", readOnly: "1", want: "Read Glob Grep"},
		{name: "read-only of calls by hand", every: true, readOnly: "true", want: "Read Glob Grep"},
		{name: "read-only beats a setting", user: `["all"]`, readOnly: "true", want: "Read Glob Grep"},
		{name: "read-only beats a trusted project", project: `["Write", "Grep"]`, trust: true, readOnly: "true", want: "Grep"},
		{name: "not read-only", readOnly: "false", want: four},
		{name: "read-only of nothing", flag: "Write,Edit", readOnly: "true", fault: "read-only leaves none of the tools Write, Edit"},
		{name: "a mistyped read-only", readOnly: "yes please", fault: `FSMCP_READ_ONLY is "yes please", but takes true or false`},
		{name: "an unknown name", flag: "Read,Gerp", fault: `--tools: there is no tool "Gerp" (did you mean Grep?); the tools are Read, Write, Edit, NotebookEdit, Move, Delete, Glob, Grep, MultiEdit, and the sets of tools core, search, files, read-only, all`},
		{name: "an unknown name in a variable", env: "Bash", fault: `FSMCP_TOOLS: there is no tool "Bash"; the tools are`},
		{name: "no name", flag: " , ", fault: "--tools: no tool is named; the tools are"},
	} {
		files := map[string]string{}
		if c.user != "" {
			files[userOwn] = asFile(keyTools.path, c.user)
		}
		if c.project != "" {
			files[nativetest.Name("/w/.fsmcp/settings.json")] = asFile(keyTools.path, c.project)
		}
		f := Flags{Dirs: []string{nativetest.Name("/w")}, Tools: c.flag, EveryTool: c.every, TrustProject: &c.trust}
		got, _, err := New(f, with(env(map[string]string{"FSMCP_TOOLS": c.env, "FSMCP_READ_ONLY": c.readOnly}), files), 25000)
		if c.fault != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.fault) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || !slices.Equal(got.Tools, strings.Fields(c.want)) {
			t.Errorf("%s: %q, %v", c.name, got.Tools, err)
		}
	}
}

// TestSetsOfTools holds the default to what it was, whatever tools are added, and every set
// to tools that exist.
func TestSetsOfTools(t *testing.T) {
	if got := toolsIn(setCore); !slices.Equal(got, []string{"Read", "Write", "Edit", "NotebookEdit"}) {
		t.Errorf("core is %q", got)
	}
	if got := toolsIn(setReadOnly); !slices.Equal(got, []string{"Read", "Glob", "Grep"}) {
		t.Errorf("read-only is %q", got)
	}
	for _, o := range offeredTools() {
		if len(o.sets) == 0 {
			t.Errorf("%s is in no set but all", o.name)
		}
		for _, set := range o.sets {
			if !slices.Contains(ToolSets(), set) {
				t.Errorf("%s is in the set %q, which is not offered", o.name, set)
			}
		}
	}
}
