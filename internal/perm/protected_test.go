package perm

import (
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/perm/places"
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
		{".config/fsmcp/settings.json", true}, {"a/.Config/FSMCP", true}, {"fsmcp/settings.json", false},
		{".cursor/mcp.json", true}, {".gemini/settings.json", true}, {".codex/config.toml", true}, {".zed/tasks.json", true}, {"a/.windsurf/x", true},
		{".roo/mcp.json", true}, {".kiro/x", true}, {".continue/x", true}, {".amazonq/x", true}, {".opencode/x", true}, {".cursorrules", false},
		{".junie/mcp.json", true}, {"a/.qwen/settings.json", true}, {"crush.json", true}, {"a/opencode.jsonc", true}, {".exrc", true}, {"a/.nvim.lua", true},
		{".hg/hgrc", true}, {"a/.HG/hgrc", true}, {".hg/hgrc/x", true}, {".hg/dirstate", false}, {"hg/hgrc", false}, {".hg/a/hgrc", false}, {"hgrc", false},
		{".jj/repo/config.toml", true}, {"a/.jj/repo/Config.toml", true}, {".jj/repo/store/x", false}, {".jj/config.toml", false}, {"repo/config.toml", false}, {".jj/repo", false},
		{".dir-locals.el", false}, {"init.lua", false}, {".config/nvim/init.lua", false}, {".vimrc", false}, {"ssh/.ssh/config", false}, {".config", false},
		{"a/b.code-workspace", true}, {"B.Code-Workspace", true}, {"b.code-workspace/x", false}, {"code-workspace", false}, {"b.code-workspace.md", false},
		{"opencode.json", true}, {".aider.conf.yml", true}, {"aider.conf.yml", false},
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

// A part of a repository is asked for where it is the second, in any folder; what
// only has a part's name is not.
func TestBareRepository(t *testing.T) {
	for _, w := range []struct {
		path, there string // names below the project; "%" stands for every name
		want        bool
	}{
		{"a/HEAD", "", false}, {"a/objects/x", "", false}, {"a/refs/x", "", false}, {"a/config", "", false}, {"a/hooks/x", "", false},
		{"a/HEAD", "a/HEAD", false}, {"a/config", "a/HEAD", false}, {"a/hooks/x", "a/refs", false},
		{"a/HEAD", "a/objects", true}, {"a/HEAD", "a/refs", true}, {"a/objects/x", "a/HEAD", true}, {"a/refs/heads/x", "a/objects", true},
		{"a/Refs/x", "a/objects", true}, {"a/HEAD", "b/objects b/refs", false}, {"a/b/HEAD", "a/objects a/refs", false},
		{"a/config", "a/HEAD a/objects", true}, {"a/config", "a/objects a/refs", true}, {"a/hooks/x", "a/HEAD a/refs", true},
		{"a/config.worktree", "a/HEAD a/refs", true}, {"a/objects/b/refs/c", "a/HEAD", true}, {"a/objects/b/refs/c", "a/objects/b/objects", true},
		{"a/description", "a/HEAD a/objects a/refs", false}, {"a/configs", "a/HEAD a/objects a/refs", false},
		{"a/commondir", "", true}, {"a/HEAD", "a/commondir", true}, {"a/config", "a/commondir", false},
		{"HEAD", "", true}, {"config", "HEAD", false}, {"objects/x", "HEAD", true}, {"Config", "HEAD objects", true}, {"config", "", false},
		{"a/config", "%", true},
	} {
		c := testConfig()
		c.Mode = AcceptEdits
		c.Workspace = []Dir{{Name: project, Real: "/data/proj"}}
		p, _ := Compile(c)
		for _, root := range []string{project, "/data/proj"} {
			exists := func(name string) bool {
				rest, _ := strings.CutPrefix(name, root+"/")
				return slices.Contains(strings.Fields(w.there), rest)
			}
			if w.there == "%" {
				exists = nil
			}
			if d := p.Decide(Write, []string{root + "/" + w.path}, exists); (d.Reason == ReasonProtected) != w.want {
				t.Errorf("%s beside %q: %s by %s", w.path, w.there, d.Verdict, d.Reason)
			}
		}
	}
}

// The names of a workspace directory itself were chosen by the user.
func TestWorkspaceBelowObjects(t *testing.T) {
	c := testConfig()
	c.Mode = AcceptEdits
	c.Workspace = []Dir{{Name: "/srv/objects/proj"}, {Name: "/srv/game"}}
	p, _ := Compile(c)
	for path, want := range map[string]bool{
		"/srv/objects/proj/a": false, "/srv/objects/proj/hooks/a": true, "/srv/objects/proj/HEAD": true, "/srv/game/objects/a": true,
	} {
		if d := p.Decide(Write, []string{path}, nil); (d.Reason == ReasonProtected) != want {
			t.Errorf("%s: %s by %s", path, d.Verdict, d.Reason)
		}
	}
}

// A configured file asks under every spelling and every known name, and so does a write
// that would make a folder in its place.
func TestGuarded(t *testing.T) {
	c := testConfig()
	c.Mode = AcceptEdits
	c.Guarded = []string{project + "/team/settings.json", project + "/log"}
	c.Aliases = []Dir{{Name: project + "/team/settings.json", Real: project + "/dotfiles/team.json"}}
	for path, want := range map[string]bool{
		"/team/settings.json": true, "/Team/SETTINGS.json": true, "/team/settings.json/a": true, "/dotfiles/team.json": true, "/dotfiles/Team\u200b.json": true,
		"/log": true, "/LOG": true, "/log/a": true,
		"/team/settings.json.bak": false, "/team/settings": false, "/dotfiles/other.json": false, "/logs": false, "/a/log": false,
	} {
		p, _ := Compile(c)
		d := p.Decide(Edit, []string{project + path}, noHead)
		if got := d.Reason == ReasonProtected; got != want || got != (d.Verdict == Ask) {
			t.Errorf("%s: %s by %s", path, d.Verdict, d.Reason)
		}
		if d := p.Decide(Read, []string{project + path}, noHead); d.Verdict != Allow {
			t.Errorf("reading %s: %s", path, d.Verdict)
		}
	}
	p, _ := Compile(c)
	if d := p.Decide(Edit, []string{project + "/link", project + "/dotfiles/team.json"}, noHead); d.Reason != ReasonProtected {
		t.Errorf("through a link: %s by %s", d.Verdict, d.Reason)
	}
	if !slices.Equal(p.Guarded(), c.Guarded) {
		t.Errorf("guarded: %q", p.Guarded())
	}
}

// What is protected at its place below the home is so under every name of the home, and
// free elsewhere. A rule that spells it reaches it.
func TestHomePlaces(t *testing.T) {
	c := testConfig(rule(Allow, "Edit(~/.config/fish/**)", ownUser), rule(Allow, "Edit(~/**)", ownUser))
	c.Mode = AcceptEdits
	c.Workspace = []Dir{{Name: home, Real: "/data/u"}}
	c.Aliases = []Dir{{Name: home, Real: "/data/u"}}
	c.Places = func() []string { return append(places.HomePlaces(home, "/cfg"), home+"/dotfiles/vimrc") }
	p, _ := Compile(c)
	for path, want := range map[string]bool{
		home + "/.vimrc": true, home + "/.VIMRC": true, "/data/u/.vimrc": true, home + "/.config/nvim/lua/a.lua": true, home + "/.ssh/config": true, home + "/.local/bin": true,
		home + "/.local/bin/ls": true, home + "/.config/systemd/user/a.service": true, home + "/.config/powershell/profile.ps1": true, "/data/u/dotfiles/vimrc": true,
		home + "/Library/LaunchAgents/a.plist": true,
		home + "/proj/.vimrc":                  false, home + "/dotfiles/.config/nvim/init.lua": false, home + "/.vimrc.d/a": false, home + "/.config/systemd/a": false, home + "/.local/share/a": false,
		home + "/.config/fish/config.fish": false, home + "/dotfiles/other": false,
	} {
		if d := p.Decide(Write, []string{path}, noHead); (d.Reason == ReasonProtected) != want {
			t.Errorf("%s: %s by %s", path, d.Verdict, d.Reason)
		}
	}
	if d := p.Decide(Write, []string{"/cfg/nvim/init.lua"}, noHead); d.Reason != ReasonProtected {
		t.Errorf("in another .config: %s by %s", d.Verdict, d.Reason)
	}
}

// A rule reaches a configured file by spelling its last name, or the protected
// directory that it lies in.
func TestGuardedExceptions(t *testing.T) {
	for _, w := range []struct {
		rule, path string
		want       Verdict
	}{
		{"Edit(**)", "/team/fsmcp.json", Ask}, {"Edit(team/**)", "/team/fsmcp.json", Ask}, {"Edit(*.json)", "/team/fsmcp.json", Ask},
		{"Edit(team/fsmcp.json)", "/team/fsmcp.json", Allow}, {"Edit(fsmcp.json)", "/team/fsmcp.json", Allow},
		{"Edit(.claude/**)", "/.claude/settings.json", Allow}, {"Edit(settings.json)", "/.claude/settings.json", Ask},
	} {
		c := testConfig(rule(Allow, w.rule, ownUser))
		c.Guarded = []string{project + "/team/fsmcp.json", project + "/.claude/settings.json"}
		p, _ := Compile(c)
		if d := p.Decide(Edit, []string{project + w.path}, noHead); d.Verdict != w.want {
			t.Errorf("%s on %s: %s by %s", w.rule, w.path, d.Verdict, d.Reason)
		}
	}
}

// Only a rule of the user's own that spells the protected name reaches it.
func TestExceptions(t *testing.T) {
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
func TestExceptionBelowProtectedAnchor(t *testing.T) {
	c := testConfig(rule(Allow, "Edit(skills/**)", ownUser), rule(Allow, "Edit(~/.claude/agents/**)", ownUser))
	c.Workspace = []Dir{{Name: home + "/.claude"}}
	p, _ := Compile(c)
	for path, want := range map[string]Verdict{"/.claude/skills/a": Ask, "/.claude/agents/a": Allow} {
		if d := p.Decide(Write, []string{home + path}, noHead); d.Verdict != want {
			t.Errorf("%s: %s by %s", path, d.Verdict, d.Reason)
		}
	}
}
