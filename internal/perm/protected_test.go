package perm

import (
	"strings"
	"testing"
)

func TestProtected(t *testing.T) {
	c := testConfig()
	c.Mode = AcceptEdits
	p, _ := Compile(c)
	for _, w := range []struct {
		path string
		want bool
	}{
		{".git/config", true}, {".git", true}, {"a/b/.git/hooks/x", true}, {".GIT/config", true}, {".g\u200cit/config", true},
		{".gitx/config", false}, {"x.git/config", false}, {"git/config", false},
		{".config/git/ignore", true}, {".config/git", true}, {".config/other", false}, {"x/git", false},
		{".vscode/a", true}, {"a/.idea", true}, {".husky/x", true}, {".cargo/config.toml", true}, {".devcontainer/x", true},
		{".yarn/x", true}, {".mvn/x", true}, {".claude/x", true}, {".fsmcp/settings.json", true},
		{".claude/worktrees/w/a.go", false}, {".claude/worktrees/w", false}, {".claude/worktrees", true}, {".claude/worktreesx/a", true},
		{".claude/Worktrees/w/a.go", true}, {".Claude/worktrees/w/a.go", true},
		{".claude/worktrees/w/.git", true}, {".claude/worktrees/w/.claude/settings.json", true}, {".claude/worktrees/w/.mcp.json", true},
		{".claude/worktrees/w/.claude/worktrees/v/a", false}, {".git/.claude/worktrees/w/a", true},
		{".bashrc", true}, {"a/.npmrc", true}, {".npmrc/a", false}, {"bunfig.toml", true}, {"Lefthook.yml", true}, {"sub/pyrightconfig.json", true},
		{"gradle/wrapper/gradle-wrapper.properties", true}, {".mcp.json", true}, {".mcp.json.bak", false}, {".claude.json", true},
		{"HEAD", true}, {"head", true}, {"HEAD/x", true}, {"a/HEAD", false}, {"config", false}, {"hooks/pre-commit", false},
	} {
		d := p.Decide(Write, []string{project + "/" + w.path}, noHead)
		if got := d.Reason == ReasonProtected; got != w.want || got != (d.Verdict == Ask) {
			t.Errorf("%q: %s by %s", w.path, d.Verdict, d.Reason)
		}
	}
}

func TestBareRepository(t *testing.T) {
	c := testConfig()
	c.Mode = AcceptEdits
	c.Workspace = []Dir{{Name: project, Real: "/data/proj"}}
	p, _ := Compile(c)
	head := func(name string) bool { return name == project+"/HEAD" || name == "/data/proj/HEAD" }
	for _, w := range []struct {
		path   string
		exists func(string) bool
		want   bool
	}{
		{project + "/config", head, true}, {project + "/hooks/x", head, true}, {project + "/objects", head, true}, {"/data/proj/refs/x", head, true},
		{project + "/Config", head, true}, {project + "/config", noHead, false}, {project + "/config", nil, true},
		{project + "/a/config", head, false}, {project + "/configs", head, false},
	} {
		if d := p.Decide(Write, []string{w.path}, w.exists); (d.Reason == ReasonProtected) != w.want {
			t.Errorf("%s: %s by %s", w.path, d.Verdict, d.Reason)
		}
	}
}

// Only a rule of the user's own that spells the protected name reaches it.
func TestAdmitted(t *testing.T) {
	for _, c := range []struct {
		text string
		src  Source
		path string
		want Verdict
	}{
		{"Edit(.claude/**)", ownUser, ".claude/settings.json", Allow},
		{"Edit(.claude/**)", flagSource, ".claude/settings.json", Allow},
		{"Edit(.claude/**)", settingsFile, ".claude/settings.json", Allow},
		{"Edit(.claude/**)", ownProject, ".claude/settings.json", Ask},
		{"Edit(.claude/**)", claudeUser, ".claude/settings.json", Ask},
		{"Edit(.claude/**)", managed, ".claude/settings.json", Ask},
		{"Edit(//home/u/proj/a/.vscode/tasks.json)", ownUser, "a/.vscode/tasks.json", Allow},
		{"Edit(**/.vscode/**)", ownUser, "a/.vscode/tasks.json", Allow},
		{"Edit(**/.vscode)", ownUser, "a/.vscode/tasks.json", Allow},
		{"Edit(.vscode)", ownUser, "a/.vscode/tasks.json", Allow},
		{"Edit(**/.vscode/tasks.json)", ownUser, "a/.vscode/other.json", Ask},
		{"Edit(**)", ownUser, ".vscode/tasks.json", Ask},
		{"Edit(**/tasks.json)", ownUser, ".vscode/tasks.json", Ask},
		{"Edit(.vs*/**)", ownUser, ".vscode/tasks.json", Ask},
		{"Edit([.]vscode/**)", ownUser, ".vscode/tasks.json", Ask},
		{`Edit(\.vscode/**)`, ownUser, ".vscode/tasks.json", Allow},
		{"Edit(/a/**)", flagSource, "a/.vscode/tasks.json", Ask},
		{"Edit", flagSource, ".vscode/tasks.json", Ask},
		{"Edit(.git/**)", ownUser, ".git/x/.vscode/y", Ask},
		{"Edit(.git/**/.vscode/**)", ownUser, ".git/x/.vscode/y", Allow},
		{"Edit(.vscode)", ownUser, ".git/x/.vscode/y", Ask},
		{"Edit(.config/git/**)", ownUser, ".config/git/ignore", Allow},
		{"Edit(.config/**)", ownUser, ".config/git/ignore", Ask},
		{"Edit(*/git/**)", ownUser, ".config/git/ignore", Ask},
		{"Edit(.CLAUDE/**)", ownUser, ".claude/settings.json", Ask},
		{"Edit(.mcp.json)", ownUser, ".mcp.json", Allow},
		{"Edit(/HEAD)", flagSource, "HEAD", Allow},
		{"Edit(H*)", flagSource, "HEAD", Ask},
		{"Read(.claude/**)", ownUser, ".claude/settings.json", Ask},
		{"Write(.claude/**)", ownUser, ".claude/settings.json", Ask},
	} {
		p, _ := Compile(testConfig(rule(Allow, c.text, c.src)))
		if d := p.Decide(Write, []string{project + "/" + c.path}, noHead); d.Verdict != c.want {
			t.Errorf("%s %s on %s: %s by %s, want %s", c.src.Name, c.text, c.path, d.Verdict, d.Reason, c.want)
		}
	}
}

// The directory that a rule starts from is not spelled by the rule.
func TestAdmittedBelowProtectedAnchor(t *testing.T) {
	c := testConfig(rule(Allow, "Edit(skills/**)", ownUser), rule(Allow, "Edit(~/.claude/agents/**)", ownUser))
	c.Workspace = []Dir{{Name: home + "/.claude"}}
	p, _ := Compile(c)
	for path, want := range map[string]Verdict{"/.claude/skills/a": Ask, "/.claude/agents/a": Allow} {
		if d := p.Decide(Write, []string{home + path}, noHead); d.Verdict != want {
			t.Errorf("%s: %s by %s", path, d.Verdict, d.Reason)
		}
	}
}

// Every protected name of the specification is in the tables, and none is
// there in a form that folding would never give.
func TestProtectedTables(t *testing.T) {
	for w := range protectedDirs {
		if w[0] != '.' {
			t.Errorf("%q would be overlooked", w)
		}
	}
	for _, set := range []map[string]bool{protectedDirs, protectedFiles} {
		for w := range set {
			if foldStrict(w) != w || strings.Contains(w, "/") {
				t.Errorf("%q is no folded name", w)
			}
		}
	}
	if len(protectedDirs) != 10 || len(protectedFiles) != 37 {
		t.Errorf("%d directories and %d files", len(protectedDirs), len(protectedFiles))
	}
}
