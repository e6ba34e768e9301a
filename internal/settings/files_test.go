package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// Where files lie for the surroundings that env makes.
var (
	managed      = managedName("managed-settings.json")
	dropIn       = managedName("managed-settings.d/10-more.json")
	userOwn      = nativetest.Name("/home/u/.config/fsmcp/settings.json")
	userClaude   = nativetest.Name("/home/u/.claude/settings.json")
	project      = nativetest.Name("/home/u/proj/.fsmcp/settings.json")
	local        = nativetest.Name("/home/u/proj/.fsmcp/settings.local.json")
	claude       = nativetest.Name("/home/u/proj/.claude/settings.json")
	claudeLocal  = nativetest.Name("/home/u/proj/.claude/settings.local.json")
	settingsFile = nativetest.Name("/opt/team/s.json")
)

// managedName names a file in the administrator's folder.
func managedName(name string) string {
	return filepath.Join(managedDir(env(nil)), filepath.FromSlash(name))
}

// with puts files into surroundings. The map may change later. A text that
// begins with "!" is why the file cannot be read.
func with(s System, files map[string]string) System {
	s.Read = func(name string) FileContent {
		text, ok := files[name]
		why, failed := strings.CutPrefix(text, "!")
		switch {
		case !ok:
			return FileContent{Missing: true}
		case failed:
			return FileContent{Why: why, Safe: true}
		}
		return FileContent{Bytes: []byte(nativetest.Quoted(text)), Safe: !strings.Contains(text, "unsafe")}
	}
	s.List = func(dir string) (names []string) {
		for name := range files {
			if filepath.Dir(name) == dir {
				names = append(names, filepath.Base(name))
			}
		}
		return names
	}
	return s
}

// nativeLines spells the names in lines for the system.
func nativeLines(lines ...string) []string {
	if nativetest.Windows {
		for i, line := range lines {
			line = strings.ReplaceAll(line, "/etc/claude-code", managedName(""))
			lines[i] = filepath.FromSlash(strings.NewReplacer(" /", " C:/", " @/", " @C:/").Replace(line))
		}
	}
	return lines
}

func TestFilesInOrderOfPrecedence(t *testing.T) {
	s := with(env(nil), map[string]string{
		managedName("managed-settings.d/20.json"): "", managedName("managed-settings.d/.hidden.json"): "",
		managedName("managed-settings.d/10.json"): "", managedName("managed-settings.d/30.txt"): "",
	})
	show := func(files []SettingsFile) (out []string) {
		for _, f := range files {
			kind := ""
			if f.Claude {
				kind = " claude"
			}
			out = append(out, fmt.Sprintf("%s %s%s @%s", f.Level, f.Name, kind, f.Anchor))
		}
		return out
	}
	got := show(Files(s, []string{nativetest.Name("/w"), nativetest.Name("/v")}, "../s.json", true))
	want := []string{
		"managed /etc/claude-code/managed-settings.json claude @",
		"managed /etc/claude-code/managed-settings.d/10.json claude @",
		"managed /etc/claude-code/managed-settings.d/20.json claude @",
		"settings /home/u/s.json @/home/u",
		"local /w/.fsmcp/settings.local.json @/w", "local /w/.claude/settings.local.json claude @/w",
		"local /v/.fsmcp/settings.local.json @/v", "local /v/.claude/settings.local.json claude @/v",
		"project /w/.fsmcp/settings.json @/w", "project /w/.claude/settings.json claude @/w",
		"project /v/.fsmcp/settings.json @/v", "project /v/.claude/settings.json claude @/v",
		"user /home/u/.config/fsmcp/settings.json @/home/u/.config/fsmcp",
		"user /home/u/.claude/settings.json claude @/home/u/.claude",
	}
	if !slices.Equal(got, nativeLines(want...)) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}

	without := show(Files(s, []string{nativetest.Name("/w")}, "", false))
	if len(without) != 6 || strings.Contains(strings.Join(without[3:], " "), "claude") {
		t.Errorf("without Claude Code's files: %q", without)
	}

	s.Getenv = func(k string) string { return map[string]string{"CLAUDE_CONFIG_DIR": "~/cc"}[k] }
	if got := show(Files(s, nil, "", true)); !slices.Contains(got, nativeLines("user /home/u/cc/settings.json claude @/home/u/cc")[0]) || len(got) != 5 {
		t.Errorf("with another folder: %q", got)
	}
}

func TestAFileOfTwoLevelsIsTheUsers(t *testing.T) {
	s := env(nil)
	for _, f := range Files(s, []string{nativetest.Name("/home/u")}, nativetest.Name("/home/u/.fsmcp/settings.json"), true) {
		switch f.Name {
		case userClaude:
			if f.Level != perm.User {
				t.Errorf("%+v", f)
			}
		case nativetest.Name("/home/u/.fsmcp/settings.json"):
			if f.Level != perm.SettingsFile {
				t.Errorf("%+v", f)
			}
		}
	}
}

func TestManagedFolders(t *testing.T) {
	for os, want := range map[string]string{"": "/etc/claude-code", "linux": "/etc/claude-code", "darwin": "/Library/Application Support/ClaudeCode", "windows": `C:\Program Files\ClaudeCode`} {
		if got := managedDir(System{OS: os}); got != want {
			t.Errorf("%s: %s", os, got)
		}
	}
}

func TestEveryLevelsRulesAreMerged(t *testing.T) {
	files := make(map[string]string)
	for _, name := range []string{managed, dropIn, userOwn, userClaude, project, local, claude, claudeLocal, settingsFile} {
		files[name] = fmt.Sprintf(`{"permissions": {"deny": ["Read(%s)"], "ask": ["Edit(%[1]s)"], "allow": ["Edit(%[1]s)"]}}`, filepath.ToSlash(name))
	}
	s := with(env(map[string]string{"FSMCP_DENY": "Read(env)", "FSMCP_ASK": "Edit(env)", "FSMCP_ALLOW": "Edit(env)"}), files)
	f := Flags{Settings: settingsFile, Deny: []string{"Read(flag)"}, Ask: []string{"Edit(flag)"}, Allow: []string{"Edit(flag)"}}
	c, warnings, err := New(f, s, 1)
	if err != nil || warnings != nil || c.Broken != nil {
		t.Fatalf("%q, %v, %v", warnings, c.Broken, err)
	}
	want := []string{managed, dropIn, "--deny", "FSMCP_DENY", settingsFile, local, claudeLocal, project, claude, userOwn, userClaude}
	var got, levels []string
	for _, r := range rulesIn(c.Rules, perm.Deny) {
		got, levels = append(got, r.Source.Name), append(levels, r.Source.Level.String())
		if r.Source.Claude != (strings.Contains(strings.ToLower(r.Source.Name), "claude")) {
			t.Errorf("%+v", r)
		}
	}
	if !slices.Equal(got, want) || len(rulesIn(c.Rules, perm.Ask)) != len(want) || len(rulesIn(c.Rules, perm.Allow)) != len(want) {
		t.Errorf("%q", got)
	}
	if all := "managed managed flag environment settings local local project project user user"; strings.Join(levels, " ") != all {
		t.Errorf("%q", levels)
	}
}

func TestManagedFilesHaveToBeSafe(t *testing.T) {
	s := with(env(nil), map[string]string{managed: `{"permissions": {"deny": ["Read(unsafe)"]}}`, dropIn: `{"permissions": {"deny": ["Read(x)"]}}`})
	c, warnings, _ := New(Flags{}, s, 1)
	if len(rulesIn(c.Rules, perm.Deny)) != 1 || rulesIn(c.Rules, perm.Deny)[0].Text != "Read(x)" || len(warnings) != 1 || !strings.Contains(warnings[0], "it has to belong to ") {
		t.Errorf("%+v, %q", rulesIn(c.Rules, perm.Deny), warnings)
	}
	for _, e := range c.entries {
		if !e.gone && e.layer.File.Name == managed && (e.ignored == "" || !e.layer.Found) {
			t.Errorf("%+v", e)
		}
	}
}

func TestBrokenFilesClose(t *testing.T) {
	for name, text := range map[string]string{userOwn: "{", claude: "{,}", userClaude: "!cannot be read: permission denied", dropIn: "nonsense"} {
		c, warnings, err := New(Flags{}, with(env(nil), map[string]string{name: text}), 1)
		if err != nil || len(c.Broken) != 1 || c.Broken[0].Name != name || len(warnings) != 1 {
			t.Errorf("%s: %+v, %q, %v", name, c.Broken, warnings, err)
		}
	}
	c, _, _ := New(Flags{Settings: nativetest.Name("/nowhere.json")}, with(env(nil), nil), 1)
	if len(c.Broken) != 1 || c.Broken[0] != (perm.BrokenFile{Name: nativetest.Name("/nowhere.json"), Why: "does not exist"}) {
		t.Errorf("%+v", c.Broken)
	}
	c, _, _ = New(Flags{NoClaudeSettings: new(true)}, with(env(nil), map[string]string{userClaude: "{", managed: "{"}), 1)
	if len(c.Broken) != 1 || c.Broken[0].Name != managed {
		t.Errorf("a flag left out the administrator's file: %+v", c.Broken)
	}
}

func TestAdditionalDirectories(t *testing.T) {
	dirs := func(list string) string { return `{"permissions": {"additionalDirectories": [` + list + `]}}` }
	for _, c := range []struct {
		name   string
		flags  Flags
		env    map[string]string
		files  map[string]string
		want   []string // beside the first
		warned int
	}{
		{"user", Flags{}, nil, map[string]string{userOwn: dirs(`"/a/../b", "~/c", "d", "../e"`)}, []string{nativetest.Name("/b"), nativetest.Name("/home/u/c"), nativetest.Name("/home/u/proj/d"), nativetest.Name("/home/u/e")}, 0},
		{"Claude Code's", Flags{}, nil, map[string]string{userClaude: dirs(`"/b"`), managed: dirs(`"/m"`)}, []string{nativetest.Name("/m"), nativetest.Name("/b")}, 0},
		{"project without trust", Flags{}, nil, map[string]string{project: dirs(`"/a", "/b"`), claudeLocal: dirs(`"/c"`)}, nil, 2},
		{"project with trust", Flags{TrustProject: new(true)}, nil, map[string]string{project: dirs(`"/a", "x"`)}, []string{nativetest.Name("/a"), nativetest.Name("/home/u/proj/x")}, 0},
		{"too wide", Flags{}, nil, map[string]string{userOwn: dirs(`"/", "~", "/home"`)}, nil, 3},
		{"empty", Flags{}, nil, map[string]string{userOwn: dirs(`""`)}, nil, 1},
		{"flag", Flags{AddDirs: []string{"a", nativetest.Name("/home/u")}}, nil, nil, []string{nativetest.Name("/home/u/proj/a"), nativetest.Name("/home/u")}, 0},
		{"variable", Flags{}, map[string]string{"FSMCP_ADD_DIR": "~/a\n" + nativetest.Name("/b") + "\n" + nativetest.Name("/home") + "\n"}, nil, []string{nativetest.Name("/home/u/a"), nativetest.Name("/b")}, 1},
		{"they have files", Flags{TrustProject: new(true)}, nil, map[string]string{
			userOwn: dirs(`"/a"`), nativetest.Name("/a/.claude/settings.json"): dirs(`"b"`), nativetest.Name("/a/b/.fsmcp/settings.json"): dirs(`"/c", "/a"`)}, []string{nativetest.Name("/a/b"), nativetest.Name("/c"), nativetest.Name("/a")}, 0},
	} {
		got, warnings, err := New(c.flags, with(env(c.env), c.files), 1)
		if err != nil || !slices.Equal(got.Workspace[1:], c.want) || len(warnings) != c.warned {
			t.Errorf("%s: %q, %q, %v", c.name, got.Workspace, warnings, err)
		}
	}
}

func TestRulesOfAddedDirectoriesHold(t *testing.T) {
	s := with(env(nil), map[string]string{
		userOwn: `{"permissions": {"additionalDirectories": ["/a"]}}`,
		nativetest.Name("/a/.claude/settings.json"): `{"permissions": {"deny": ["Read(/k)"]}}`,
	})
	c, _, _ := New(Flags{}, s, 1)
	if len(rulesIn(c.Rules, perm.Deny)) != 1 || rulesIn(c.Rules, perm.Deny)[0].Source.Anchor != nativetest.Name("/a") {
		t.Errorf("%+v", rulesIn(c.Rules, perm.Deny))
	}
}

func TestALinkToHomeIsTooWide(t *testing.T) {
	s := env(nil)
	s.WorkDir = nativetest.Name("/link")
	s.Real = func(name string) string {
		if name == nativetest.Name("/link") {
			return nativetest.Name("/home/u")
		}
		return name
	}
	if c, _, _ := New(Flags{}, s, 1); c.Workspace != nil {
		t.Errorf("%q", c.Workspace)
	}
}

func TestRoots(t *testing.T) {
	s := with(env(nil), map[string]string{
		claude: `{"permissions": {"deny": ["Read(a)"]}}`, nativetest.Name("/r/.claude/settings.json"): `{"permissions": {"deny": ["Read(b)"]}}`, userClaude: `{"permissions": {"deny": ["Read(c)"]}}`,
	})
	c, _, _ := New(Flags{}, s, 1)
	if !c.RootsWanted || !slices.Equal(c.Workspace, []string{nativetest.Name("/home/u/proj")}) {
		t.Errorf("%q", c.Workspace)
	}
	texts := func(c Config) (out []string) {
		for _, r := range rulesIn(c.Rules, perm.Deny) {
			out = append(out, r.Text)
		}
		return out
	}
	r, _ := c.WithRoots([]string{nativetest.Name("/r"), nativetest.Name("/home/u"), nativetest.Name("/r"), "relative"})
	if !slices.Equal(r.Workspace, []string{nativetest.Name("/r")}) || !slices.Equal(texts(r), []string{"Read(b)", "Read(c)"}) || !r.RootsWanted {
		t.Errorf("%q, %q", r.Workspace, texts(r))
	}
	if r, _ = r.WithRoots(nil); !slices.Equal(r.Workspace, []string{nativetest.Name("/home/u/proj")}) || !slices.Equal(texts(r), []string{"Read(a)", "Read(c)"}) {
		t.Errorf("%q, %q", r.Workspace, texts(r))
	}
	if r, _ = r.WithRoots([]string{nativetest.Name("/home/u")}); r.Workspace != nil {
		t.Errorf("%q", r.Workspace)
	}
	for _, named := range []Config{first2(New(Flags{Dirs: []string{nativetest.Name("/n")}}, s, 1)), first2(New(Flags{}, env(map[string]string{"CLAUDE_PROJECT_DIR": nativetest.Name("/n")}), 1))} {
		if r, _ := named.WithRoots([]string{nativetest.Name("/r")}); named.RootsWanted || !slices.Equal(r.Workspace, []string{nativetest.Name("/n")}) {
			t.Errorf("roots widened what was named: %q", r.Workspace)
		}
	}
}

func first2(c Config, _ []string, _ error) Config { return c }

// TestGuarded lists what is read, and what another environment would have read.
func TestGuarded(t *testing.T) {
	s := env(map[string]string{"CLAUDE_CONFIG_DIR": nativetest.Name("/home/u/claude"), "XDG_CONFIG_HOME": nativetest.Name("/home/u/xdg"), "FSMCP_LOG": "fsmcp.log"})
	c := first2(New(Flags{Settings: "team.json", NoClaudeSettings: new(true)}, with(s, nil), 1000))
	want := []string{
		managedName("managed-settings.d"), managed,
		userClaude, nativetest.Name("/home/u/claude/settings.json"), userOwn, nativetest.Name("/home/u/xdg/fsmcp/settings.json"),
		project, local, claude, claudeLocal, nativetest.Name("/home/u/proj/team.json"), nativetest.Name("/home/u/proj/fsmcp.log"),
	}
	got := c.Guarded()
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s is not guarded", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d names, want %d: %q", len(got), len(want), got)
	}
	for _, name := range first2(New(Flags{}, with(env(nil), nil), 1000)).Guarded() {
		if !strings.HasPrefix(name, nativetest.Name("/home/u/")) && !strings.HasPrefix(name, managedName("")) {
			t.Errorf("%s is guarded", name)
		}
	}
}
