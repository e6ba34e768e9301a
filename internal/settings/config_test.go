package settings

import (
	"slices"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/perm"
)

func env(pairs map[string]string) System {
	return System{Getenv: func(k string) string { return pairs[k] }, WorkDir: nativetest.Name("/home/u/proj"), Home: nativetest.Name("/home/u"), OS: system()}
}

// system is "windows" on Windows; the empty string stands for Linux.
func system() string {
	if nativetest.Windows {
		return "windows"
	}
	return ""
}

func TestWorkspaceIsNeverWiderThanAsked(t *testing.T) {
	for _, c := range []struct {
		name    string
		dirs    []string
		project string
		workDir string
		want    []string
	}{
		{"working directory", nil, "", nativetest.Name("/home/u/proj"), []string{nativetest.Name("/home/u/proj")}},
		{"named", []string{"a", nativetest.Name("/b/../c")}, "", nativetest.Name("/home/u/proj"), []string{nativetest.Name("/home/u/proj/a"), nativetest.Name("/c")}},
		{"project", nil, nativetest.Name("/srv/p"), nativetest.Name("/home/u/proj"), []string{nativetest.Name("/srv/p")}},
		{"home does not count", nil, "", nativetest.Name("/home/u"), nil},
		{"nor what is above it", nil, "", nativetest.Name("/home"), nil},
		{"nor the root", nil, "", nativetest.Name("/"), nil},
		{"nor as project", nil, nativetest.Name("/home/u"), nativetest.Name("/x"), nil},
		{"but a name like it", nil, "", nativetest.Name("/home/user2"), []string{nativetest.Name("/home/user2")}},
		{"home when named", []string{nativetest.Name("/home/u")}, "", nativetest.Name("/x"), []string{nativetest.Name("/home/u")}},
	} {
		s := env(map[string]string{"CLAUDE_PROJECT_DIR": c.project})
		s.WorkDir = c.workDir
		got, _, err := New(Flags{Dirs: c.dirs}, s, 1)
		if err != nil || !slices.Equal(got.Workspace, c.want) {
			t.Errorf("%s: %q, %v", c.name, got.Workspace, err)
		}
	}
}

func TestFlagsBeatTheirTwinsAndBadValuesFallThrough(t *testing.T) {
	no := false
	for _, c := range []struct {
		name   string
		flags  Flags
		env    map[string]string
		warned int
		check  func(Config) bool
	}{
		{"defaults", Flags{}, nil, 0, func(c Config) bool {
			return c.Durability == "full" && c.Dedup && c.MaxTokens == 25000 && c.AskTimeout == 50*time.Second
		}},
		{"tokens", Flags{}, map[string]string{"FSMCP_MAX_OUTPUT_TOKENS": "7", "CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS": "9"}, 0, func(c Config) bool { return c.MaxTokens == 7 }},
		{"bad tokens fall through", Flags{}, map[string]string{"FSMCP_MAX_OUTPUT_TOKENS": "0", "CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS": "9"}, 1, func(c Config) bool { return c.MaxTokens == 9 }},
		{"all bad", Flags{}, map[string]string{"FSMCP_MAX_OUTPUT_TOKENS": "many", "CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS": "-1"}, 2, func(c Config) bool { return c.MaxTokens == 25000 }},
		{"bytes of a file", Flags{}, map[string]string{"FSMCP_MAX_FILE_BYTES": " 1.5KB "}, 0, func(c Config) bool { return c.MaxFileBytes == 1536 }},
		{"no bytes of a file", Flags{}, map[string]string{"FSMCP_MAX_FILE_BYTES": "0.5B"}, 1, func(c Config) bool { return c.MaxFileBytes == 256<<10 }},
		{"durability", Flags{Durability: "none"}, map[string]string{"FSMCP_DURABILITY": "data"}, 0, func(c Config) bool { return c.Durability == "none" }},
		{"durability by environment", Flags{}, map[string]string{"FSMCP_DURABILITY": "data"}, 0, func(c Config) bool { return c.Durability == "data" }},
		{"bad durability", Flags{}, map[string]string{"FSMCP_DURABILITY": "much"}, 1, func(c Config) bool { return c.Durability == "full" }},
		{"dedup", Flags{Dedup: &no}, map[string]string{"FSMCP_DEDUP": "true"}, 0, func(c Config) bool { return !c.Dedup }},
		{"dedup by environment", Flags{}, map[string]string{"FSMCP_DEDUP": "0"}, 0, func(c Config) bool { return !c.Dedup }},
		{"rules merge", Flags{Deny: []string{"Read(a)"}}, map[string]string{"FSMCP_DENY": "Read(b)\n\n Read(c, d) ,Read(e(,)f), "}, 0, func(c Config) bool {
			flag, variable := perm.Source{Name: "--deny", Level: perm.Flag}, perm.Source{Name: "FSMCP_DENY", Level: perm.Env}
			return slices.Equal(rulesIn(c.Rules, perm.Deny), []perm.RuleText{{Text: "Read(a)", Source: flag}, {Text: "Read(b)", Source: variable}, {Text: "Read(c, d)", Source: variable}, {Text: "Read(e(,)f)", Source: variable}})
		}},
		{"state", Flags{}, map[string]string{"XDG_STATE_HOME": nativetest.Name("/s")}, 0, func(c Config) bool { return c.StateDir == nativetest.Name("/s/fsmcp") }},
		{"relative state is none", Flags{}, map[string]string{"XDG_STATE_HOME": "s"}, 0, func(c Config) bool { return c.StateDir == nativetest.Name("/home/u/.local/state/fsmcp") }},
	} {
		got, warnings, err := New(c.flags, env(c.env), 25000)
		if err != nil || len(warnings) != c.warned || !c.check(got) {
			t.Errorf("%s: %+v, %q, %v", c.name, got, warnings, err)
		}
	}
	if _, _, err := New(Flags{Durability: "much"}, env(nil), 1); err == nil {
		t.Error("a flag that cannot be served was taken")
	}
}
