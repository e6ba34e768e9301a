package settings

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/perm/notation"
)

// Every cell of the table that says which file may set which key: a file's value either
// counts, or a warning says that it is ignored.
func TestWhoMaySetWhat(t *testing.T) {
	always := func(perm.Level, bool) bool { return true }
	notProject := func(l perm.Level, _ bool) bool { return !l.InProject() }
	withTrust := func(l perm.Level, trust bool) bool { return !l.InProject() || trust }
	rows := []struct {
		path, value string
		may         func(l perm.Level, trust bool) bool
		counts      func(Config) bool
	}{
		{keyDeny, `["Read(x)"]`, always, func(c Config) bool { return len(rulesIn(c.Rules, perm.Deny)) == 1 }},
		{keyAsk, `["Read(x)"]`, always, func(c Config) bool { return len(rulesIn(c.Rules, perm.Ask)) == 1 }},
		// Whether a project's allow rule counts is for the policy to say: it knows
		// the level and whether the project is trusted.
		{keyAllow, `["Read(x)"]`, always, func(c Config) bool { return len(rulesIn(c.Rules, perm.Allow)) == 1 }},
		{keyDirectories, `["/x"]`, withTrust, func(c Config) bool { return len(c.Workspace) == 2 }},
		{keyMode, `"plan"`, always, func(c Config) bool { return c.Mode == "plan" }},
		{keyMode, `"bypassPermissions"`, notProject, func(c Config) bool { return c.Mode == "bypassPermissions" }},
		{keyGate.path, `"full"`, withTrust, func(c Config) bool { return c.Gate == "full" }},
		{keyWhenChanged.path, `"refuse"`, withTrust, func(c Config) bool { return c.WhenChanged == "refuse" }},
		{keyOverlong.path, `"refuse"`, always, func(c Config) bool { return c.Overlong == "refuse" }},
		{keyStrip.path, `false`, withTrust, func(c Config) bool { return !c.StripTrailingSpace }},
		{keyDedup.path, `false`, always, func(c Config) bool { return !c.Dedup }},
		{keyHardLinks.path, `true`, notProject, func(c Config) bool { return c.KeepHardLinks }},
		{keyDurability.path, `"none"`, withTrust, func(c Config) bool { return c.Durability == "none" }},
		{keyMaxTokens.path, `500`, always, func(c Config) bool { return c.MaxTokens == 500 }},
		{keyMaxTokens.path, `5000`, withTrust, func(c Config) bool { return c.MaxTokens == 5000 }},
		{keyMaxBytes.path, `500`, always, func(c Config) bool { return c.MaxFileBytes == 500 }},
		{keyMaxBytes.path, `"1MB"`, withTrust, func(c Config) bool { return c.MaxFileBytes == 1<<20 }},
		{keyClients.path, `{"c": {"tokens": 5}}`, always, func(c Config) bool {
			return c.ClientLimit("c", ClientLimit{Tokens: 10, Chars: 10}) == ClientLimit{Tokens: 5, Chars: 10}
		}},
		{keyTokensAPI.path, `{"url": "https://a", "key": "k", "model": "m"}`, notProject, func(c Config) bool { return c.TokensAPI != nil }},
		{keyAskTimeout.path, `"1s"`, withTrust, func(c Config) bool { return c.AskTimeout == time.Second }},
		{keyTools.path, `["Read"]`, always, func(c Config) bool { return slices.Equal(c.Tools, []string{"Read"}) }},
		{keyTools.path, `["all"]`, withTrust, func(c Config) bool { return slices.Equal(c.Tools, ToolNames()) }},
		{keyAuditFile.path, `"~/x"`, notProject, func(c Config) bool {
			return strings.HasSuffix(filepath.ToSlash(c.AuditFile), "/x") && len(c.AuditFile) > 2
		}},
		{keyAuditNeeded.path, `true`, notProject, func(c Config) bool { return c.AuditRequired }},
		{keyClipboard.path, `true`, notProject, func(c Config) bool { return c.Clipboard }},
		{keyLSP.path, `"auto"`, notProject, func(c Config) bool { return c.LSP.Auto }},
		{keyLSP.path, `{"gopls": {}}`, notProject, func(c Config) bool { return len(c.LSP.Servers) == 1 && !c.LSP.Off() }},
		{keyHints.path, `false`, always, func(c Config) bool { return !c.Hints }},
		{keyPersist.path, `false`, notProject, func(c Config) bool { return !c.Persist }},
		{keyHistoryEnabled.path, `false`, withTrust, func(c Config) bool { return !c.History.Enabled }},
		{keyHistoryMaxSize.path, `0`, withTrust, func(c Config) bool { return !c.History.Enabled }},
		{keyHistoryRequired.path, `false`, withTrust, func(c Config) bool { return !c.History.Required }},
		{keyHistoryMaxSize.path, `"5MB"`, withTrust, func(c Config) bool { return c.History.MaxSize == 5<<20 }},
		{keyHistoryMaxAge.path, `"2d"`, withTrust, func(c Config) bool { return c.History.MaxAge == 48*time.Hour }},
		{keyHistoryExclude.path, `["x"]`, withTrust, func(c Config) bool { return slices.Equal(c.History.Exclude, []string{"x"}) }},
		{keyImageTokens.path, `50`, always, func(c Config) bool { return c.Images.Tokens == 50 }},
		{keyImageTokens.path, `500000`, withTrust, func(c Config) bool { return c.Images.Tokens == 500_000 }},
		{keySentSide.path, `1568`, always, func(c Config) bool { return c.Images.SentSide == 1568 }},
		{keySentSide.path, `2500`, withTrust, func(c Config) bool { return c.Images.SentSide == 2500 }},
		{keyMegapixels.path, `50`, always, func(c Config) bool { return c.Images.Megapixels == 50 }},
		{keyMegapixels.path, `200`, withTrust, func(c Config) bool { return c.Images.Megapixels == 200 }},
		{keyImageSide.path, `50`, always, func(c Config) bool { return c.Images.Side == 50 }},
		{keyImageSide.path, `20000`, withTrust, func(c Config) bool { return c.Images.Side == 20_000 }},
		{keyImageDecoded.path, `"1MB"`, always, func(c Config) bool { return c.Images.Decoded == 1<<20 }},
		{keyImageDecoded.path, `"1GB"`, withTrust, func(c Config) bool { return c.Images.Decoded == 1<<30 }},
		{keyPDFMode.path, `"document"`, always, func(c Config) bool { return c.PDFFor("x", PDF{}).Mode == "document" }},
		{keyPDFImages.path, `"never"`, always, func(c Config) bool { return c.PDFFor("x", PDF{}).Images == "never" }},
		{keyPDFClients.path, `{"x": {"mode": "document"}}`, always, func(c Config) bool {
			return c.PDFFor("x", PDF{}).Mode == "document" && c.PDFFor("y", PDF{}).Mode == "pages"
		}},
		{keyPDFWarm.path, `false`, always, func(c Config) bool { return !c.PDFWarm }},
		{keyHooksBefore.path, `[{"glob": "*", "command": ["x"]}]`, withTrust, func(c Config) bool { return len(c.Hooks.Before) == 1 && len(c.Hooks.After) == 0 }},
		{keyHooksAfter.path, `[{"glob": "*", "command": ["x"]}]`, withTrust, func(c Config) bool { return len(c.Hooks.After) == 1 && len(c.Hooks.Before) == 0 }},
		{keyLog.path, `"/x"`, notProject, func(c Config) bool { return c.Log == nativetest.Name("/x") }},
	}
	files := map[perm.Level]string{perm.SettingsFile: settingsFile, perm.Local: local, perm.Project: project, perm.User: userOwn}
	covered := make(map[string]bool)
	for _, row := range rows {
		covered[row.path] = true
		for level, name := range files {
			for _, trust := range []bool{false, true} {
				s := with(env(nil), map[string]string{settingsFile: "{}", name: asFile(row.path, row.value)})
				c, warnings, err := New(Flags{Settings: settingsFile, TrustProject: &trust}, s, 1000)
				want := row.may(level, trust)
				if err != nil || c.Broken != nil || row.counts(c) != want || (len(warnings) == 0) != want {
					t.Errorf("%s: %s by %s, trust %v: %q", row.path, row.value, level, trust, warnings)
				}
				if !want && !strings.Contains(fmt.Sprint(warnings), name+":1: ") {
					t.Errorf("%s by %s: the warning does not say where: %q", row.path, level, warnings)
				}
			}
		}
	}
	for _, path := range known() {
		if isGroup := path == keyPermissions || strings.Contains("edit read limits tokens ask history audit images pdf hooks state", path); !isGroup && !covered[path] {
			t.Errorf("%s has no row", path)
		}
	}
}

// A name that one source takes for a secret is one for all; without any source the
// defaults hold.
func TestExcludesAddUp(t *testing.T) {
	yes := true
	s := with(env(nil), map[string]string{userOwn: asFile(keyHistoryExclude.path, `["a"]`), project: asFile(keyHistoryExclude.path, `["b"]`)})
	if c := first2(New(Flags{TrustProject: &yes}, s, 1000)); !slices.Equal(c.History.Exclude, []string{"b", "a"}) {
		t.Errorf("%q", c.History.Exclude)
	}
	if c := first2(New(Flags{}, env(nil), 1000)); !slices.Contains(c.History.Exclude, ".env") {
		t.Errorf("%q", c.History.Exclude)
	}
}

// Hooks of all sources run, the user's own first: a guard of theirs comes before
// what a project brings.
func TestHooksAddUp(t *testing.T) {
	hook := func(name string) string {
		return asFile(keyHooksAfter.path, fmt.Sprintf(`[{"glob": "*", "command": [%q]}]`, name))
	}
	s := with(env(nil), map[string]string{userOwn: hook("user"), project: hook("project"), local: hook("local"), settingsFile: hook("settings")})
	for trust, want := range map[bool][]string{false: {"settings", "user"}, true: {"settings", "user", "local", "project"}} {
		var got []string
		for _, h := range first2(New(Flags{TrustProject: &trust, Settings: settingsFile}, s, 1000)).Hooks.After {
			got = append(got, h.Command[0])
		}
		if !slices.Equal(got, want) {
			t.Errorf("trust %v: %q", trust, got)
		}
	}
}

// What is wrong with one hook leaves the others alone, and a broken one that may be
// a guard stays, for the files that it names or, where it does not say, for all. The
// warning says which, where and why.
func TestOneBrokenHook(t *testing.T) {
	s := with(env(nil), map[string]string{userOwn: `{"hooks": {"beforeFileEdited": [
{"glob": "a", "command": ["guard"]},
{"glob": "[", "command": ["x"]},
{"glob": "*", "command": ["x"], "timeout": "11m"},
// here
{"glob": "b", "command": ["guard"], "timeout": "10m"}, {"globs": "*"}, {"command": "x", "glob": "c"}],
"afterFileEdited": [{"glob": "*", "command": "fmt"}, {"glob": "d", "command": ["fmt"]}]}}`})
	c, warnings, err := New(Flags{}, s, 1000)
	var got []string
	for _, h := range c.Hooks.Before {
		got = append(got, fmt.Sprintf("%d %s %v", h.Line, h.Glob, h.Broken == ""))
	}
	if err != nil || !slices.Equal(got, []string{"2 a true", "3 ** false", "4 * false", "6 b true", "6 ** false", "6 c false"}) || c.Hooks.Before[1].From != userOwn {
		t.Errorf("%q, %v", got, err)
	}
	if fmt.Sprint(c.Hooks.After) != `["d" ["fmt"] 10s]` {
		t.Errorf("%v", c.Hooks.After)
	}
	const refuses = "cannot be run, and until it is mended no file is changed that it is for: "
	want := []string{
		userOwn + `:3: an entry of "hooks.beforeFileEdited" ` + refuses + `its "glob" is no pattern of names, such as "**/*.go"`,
		userOwn + `:4: an entry of "hooks.beforeFileEdited" ` + refuses + `its "timeout" is no length of time up to 10 minutes, such as "10s"`,
		userOwn + `:6: an entry of "hooks.beforeFileEdited" ` + refuses + `it has "globs", which is not known (there are glob, command and timeout)`,
		userOwn + `:6: an entry of "hooks.beforeFileEdited" ` + refuses + `its "command" is no list of strings, a program and its arguments`,
		userOwn + `:7: an entry of "hooks.afterFileEdited" is ignored: its "command" is no list of strings, a program and its arguments`,
	}
	if !slices.Equal(warnings, want) {
		t.Errorf("%q", warnings)
	}
}

// Claude Code's files set nothing but rules and directories, on any level.
func TestClaudeCodesFilesSetRulesAlone(t *testing.T) {
	plain := first2(New(Flags{}, env(nil), 1000))
	for _, name := range []string{managed, userClaude, claude, claudeLocal} {
		s := with(env(nil), map[string]string{name: `{"permissions": {"defaultMode": "plan"}, "dedup": false, "edit": {"gate": "full"}, "limits": {"maxOutputTokens": 5}, "log": "/x", "ask": {"timeout": "1s"}}`})
		c, warnings, err := New(Flags{}, s, 1000)
		if err != nil || warnings != nil || !reflect.DeepEqual(visible(c), visible(plain)) {
			t.Errorf("%s: %q, %v\n%+v", name, warnings, err, visible(c))
		}
	}
}

func TestPrecedenceOfSingleValues(t *testing.T) {
	mode := func(m string) string { return asFile(keyMode, fmt.Sprintf("%q", m)) }
	tokens := func(n int) string { return asFile(keyMaxTokens.path, fmt.Sprint(n)) }
	dedup := func(b bool) string { return asFile(keyDedup.path, fmt.Sprint(b)) }
	yes, no := true, false
	for _, c := range []struct {
		name   string
		flags  Flags
		env    map[string]string
		files  map[string]string
		warned int
		want   any
		got    func(Config) any
	}{
		{"mode by default", Flags{}, nil, nil, 0, "acceptEdits", modeOf},
		{"mode by flag", Flags{PermissionMode: "bypassPermissions"}, map[string]string{"FSMCP_PERMISSION_MODE": "plan"}, map[string]string{userOwn: mode("plan"), project: mode("plan")}, 0, "bypassPermissions", modeOf},
		{"mode by variable", Flags{}, map[string]string{"FSMCP_PERMISSION_MODE": "dontAsk"}, map[string]string{project: mode("plan")}, 0, "dontAsk", modeOf},
		{"mode by --settings", Flags{Settings: settingsFile}, nil, map[string]string{settingsFile: mode("default"), project: mode("plan"), userOwn: mode("plan")}, 0, "default", modeOf},
		{"mode by user", Flags{}, nil, map[string]string{userOwn: mode("bypassPermissions")}, 0, "bypassPermissions", modeOf},
		{"project tightens", Flags{}, nil, map[string]string{userOwn: mode("default"), project: mode("dontAsk"), local: mode("plan")}, 0, "plan", modeOf},
		{"local does not loosen", Flags{}, nil, map[string]string{project: mode("plan"), local: mode("default")}, 0, "plan", modeOf},
		{"project does not loosen", Flags{TrustProject: &yes}, nil, map[string]string{userOwn: mode("plan"), project: mode("default")}, 1, "plan", modeOf},
		{"unknown by variable", Flags{}, map[string]string{"FSMCP_PERMISSION_MODE": "x"}, nil, 1, "default", modeOf},
		{"auto", Flags{PermissionMode: "auto"}, nil, nil, 0, "default", modeOf},
		{"manual", Flags{}, nil, map[string]string{userOwn: mode("manual")}, 0, "default", modeOf},
		{"unknown in a project is default", Flags{}, nil, map[string]string{project: mode("x")}, 1, "default", modeOf},

		{"tokens by variable", Flags{}, map[string]string{"FSMCP_MAX_OUTPUT_TOKENS": "900"}, map[string]string{userOwn: tokens(7), project: tokens(8)}, 0, 900, tokensOf},
		{"tokens by --settings", Flags{Settings: settingsFile}, nil, map[string]string{settingsFile: tokens(50), project: tokens(5), userOwn: tokens(5)}, 0, 50, tokensOf},
		{"tokens by user", Flags{}, nil, map[string]string{userOwn: tokens(5000)}, 0, 5000, tokensOf},
		{"tokens lowered", Flags{}, nil, map[string]string{userOwn: tokens(5000), project: tokens(500), local: tokens(600)}, 0, 500, tokensOf},
		{"tokens not raised", Flags{}, nil, map[string]string{userOwn: tokens(100), project: tokens(500)}, 1, 100, tokensOf},
		{"tokens of the trusted local file", Flags{TrustProject: &yes}, nil, map[string]string{userOwn: tokens(100), project: tokens(500), local: tokens(600)}, 0, 600, tokensOf},
		{"zero falls through", Flags{}, nil, map[string]string{userOwn: tokens(0)}, 1, 1000, tokensOf},

		{"image tokens by variable", Flags{}, map[string]string{"FSMCP_MAX_IMAGE_TOKENS": "900"}, map[string]string{userOwn: asFile(keyImageTokens.path, "7"), project: asFile(keyImageTokens.path, "8")}, 0, 900, imageTokensOf},
		{"image tokens by user", Flags{}, nil, map[string]string{userOwn: asFile(keyImageTokens.path, "900000")}, 0, 900_000, imageTokensOf},
		{"image tokens lowered", Flags{}, nil, map[string]string{userOwn: asFile(keyImageTokens.path, "5000"), project: asFile(keyImageTokens.path, "500")}, 0, 500, imageTokensOf},
		{"bad image tokens fall through", Flags{}, map[string]string{"FSMCP_MAX_IMAGE_TOKENS": "0"}, map[string]string{userOwn: asFile(keyImageTokens.path, "7")}, 1, 7, imageTokensOf},

		{"dedup by flag", Flags{Dedup: &yes}, map[string]string{"FSMCP_DEDUP": "0"}, map[string]string{userOwn: dedup(false)}, 0, true, dedupOf},
		{"dedup by variable", Flags{}, map[string]string{"FSMCP_DEDUP": "1"}, map[string]string{userOwn: dedup(false)}, 0, true, dedupOf},
		{"dedup by local", Flags{}, nil, map[string]string{local: dedup(false), project: dedup(true), userOwn: dedup(true)}, 0, false, dedupOf},
		{"dedup by --settings", Flags{Settings: settingsFile}, nil, map[string]string{settingsFile: dedup(true), local: dedup(false)}, 0, true, dedupOf},
		{"a bad variable falls through to files", Flags{}, map[string]string{"FSMCP_DEDUP": "maybe"}, map[string]string{userOwn: dedup(false)}, 1, false, dedupOf},

		{"durability", Flags{}, map[string]string{"FSMCP_DURABILITY": "data"}, map[string]string{userOwn: asFile(keyDurability.path, `"none"`)}, 0, "data", func(c Config) any { return c.Durability }},
		{"log", Flags{}, nil, map[string]string{userOwn: asFile(keyLog.path, `"~/l"`)}, 0, nativetest.Name("/home/u/l"), func(c Config) any { return c.Log }},
		{"log by variable", Flags{}, map[string]string{"FSMCP_LOG": nativetest.Name("/v")}, map[string]string{userOwn: asFile(keyLog.path, `"~/l"`)}, 0, nativetest.Name("/v"), func(c Config) any { return c.Log }},

		{"trust by variable", Flags{}, map[string]string{"FSMCP_TRUST_PROJECT": "1"}, nil, 0, true, func(c Config) any { return c.TrustProject }},
		{"trust by flag", Flags{TrustProject: &no}, map[string]string{"FSMCP_TRUST_PROJECT": "1"}, nil, 0, false, func(c Config) any { return c.TrustProject }},
		{"plan file", Flags{PlanFile: "p.md"}, map[string]string{"FSMCP_PLAN_FILE": nativetest.Name("/q")}, nil, 0, nativetest.Name("/home/u/proj/p.md"), func(c Config) any { return c.PlanFile }},
		{"plan file by variable", Flags{}, map[string]string{"FSMCP_PLAN_FILE": "~/q"}, nil, 0, nativetest.Name("/home/u/q"), func(c Config) any { return c.PlanFile }},
		{"--settings by variable", Flags{}, map[string]string{"FSMCP_SETTINGS": settingsFile}, map[string]string{settingsFile: mode("plan")}, 0, "plan", modeOf},
		{"without Claude Code's files by variable", Flags{}, map[string]string{"FSMCP_NO_CLAUDE_SETTINGS": "1"}, map[string]string{userClaude: `{"permissions": {"deny": ["Read"]}}`}, 0, 0, func(c Config) any { return len(rulesIn(c.Rules, perm.Deny)) }},
		{"a bad variable leaves them in", Flags{}, map[string]string{"FSMCP_NO_CLAUDE_SETTINGS": "si"}, map[string]string{userClaude: `{"permissions": {"deny": ["Read"]}}`}, 1, 1, func(c Config) any { return len(rulesIn(c.Rules, perm.Deny)) }},
	} {
		got, warnings, err := New(c.flags, with(env(c.env), c.files), 1000)
		if err != nil || len(warnings) != c.warned || c.got(got) != c.want || got.Broken != nil {
			t.Errorf("%s: %v, %q, %v", c.name, c.got(got), warnings, err)
		}
	}
}

// TestFaultsEndTheStart: an unknown mode by flag, and a deny or ask rule by flag or variable
// that cannot be understood.
func TestFaultsEndTheStart(t *testing.T) {
	for _, c := range []struct {
		flags Flags
		env   map[string]string
		want  string // "" where it starts
	}{
		{Flags{PermissionMode: "plna"}, nil, `--permission-mode takes bypassPermissions, acceptEdits, default, dontAsk, plan, not "plna" (did you mean plan?)`},
		{Flags{Deny: []string{"Read(.env)", ".env"}}, nil, `--deny has the deny rule ".env", which cannot be understood; did you mean "Read(.env)"?`},
		{Flags{Ask: []string{"edti(a)"}}, nil, `--ask has the ask rule "edti(a)", which cannot be understood; did you mean "Edit(a)"?`},
		{Flags{}, map[string]string{"FSMCP_DENY": "Read(a)\nread(b)"}, `FSMCP_DENY has the deny rule "read(b)", which cannot be understood; did you mean "Read(b)"?`},
		{Flags{}, map[string]string{"FSMCP_ASK": "Read(b"}, `FSMCP_ASK has the ask rule "Read(b", which cannot be understood; did you mean "Read(b)"?`},
		{Flags{Allow: []string{"raed(x)"}, Deny: []string{"Bash(rm:*)", "Read(!x)"}, PermissionMode: "manual"}, map[string]string{"FSMCP_PERMISSION_MODE": "yolo"}, ""},
	} {
		s := env(c.env)
		s.RuleFault = ruleFault
		_, _, err := New(c.flags, s, 1000)
		if got := fmt.Sprint(err); c.want != got && (c.want != "" || err != nil) {
			t.Errorf("%+v: %s\nwant %s", c.flags, got, c.want)
		}
	}
}

// TestMistypedRuleCloses: a deny or ask rule that cannot be understood breaks fsmcp's own
// files, and Claude Code's where it has no likely meaning. The file's prohibitions hold.
func TestMistypedRuleCloses(t *testing.T) {
	text := `{"permissions": {"allow": ["Edit(//x)", "raed(y)"],
		"ask": ["Edit(b)"], "deny": ["Read(a)",
		"%s"]}, "clipboard": true}`
	for _, c := range []struct{ file, rule, why string }{
		{userOwn, "raed(.env)", `has the deny rule "raed(.env)", which cannot be understood; did you mean "Read(.env)"?`},
		{project, ".env", `has the deny rule ".env", which cannot be understood; did you mean "Read(.env)"?`},
		{settingsFile, "Read()", `has the deny rule "Read()", which cannot be understood; did you mean "Read"?`},
		{userClaude, "Read([)", `has the deny rule "Read([)", which cannot be understood; did you mean "Read(\\[)"?`},
		{userClaude, "raed(.env)", ""}, {claude, ".env", ""}, {managed, "Read(", ""}, {userOwn, "Bash(rm", ""}, {userOwn, "Read(ok)", ""},
	} {
		s := with(env(nil), map[string]string{c.file: fmt.Sprintf(text, c.rule)})
		s.RuleFault = ruleFault
		got, _, err := New(Flags{Settings: settingsFileIf(c.file)}, s, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if c.why == "" {
			if got.Broken != nil {
				t.Errorf("%s with %q: %+v", c.file, c.rule, got.Broken)
			}
			continue
		}
		if len(got.Broken) != 1 || got.Broken[0] != (perm.BrokenFile{Name: c.file, Line: 3, Why: c.why}) {
			t.Errorf("%s with %q: %+v", c.file, c.rule, got.Broken)
		}
		if len(rulesIn(got.Rules, perm.Deny)) != 2 || len(rulesIn(got.Rules, perm.Ask)) != 1 || len(rulesIn(got.Rules, perm.Allow)) != 0 || got.Clipboard {
			t.Errorf("%s with %q: %+v", c.file, c.rule, got.Rules)
		}
	}
}

// TestForeignFilesOnlyTighten: a file that another user could have written is like that of a
// project without trust, whatever its level.
func TestForeignFilesOnlyTighten(t *testing.T) {
	text := func(mode string, tokens int) string {
		return fmt.Sprintf(`{"permissions": {"allow": ["Edit(//x)"], "deny": ["Read(a)"], "ask": ["Edit(b)"], "additionalDirectories": ["/lib"], "defaultMode": %q},
			"limits": {"maxOutputTokens": %d, "clients": {"c": {"tokens": %[2]d}}}, "tools": ["all"], "dedup": false, "clipboard": true, "log": "/l", "audit": {"file": "/a"}, "lsp": "auto",
			"history": {"enabled": false}, "hooks": {"beforeFileEdited": [{"glob": "**", "command": ["x"]}]}}`, mode, tokens)
	}
	for _, c := range []struct {
		file    string
		foreign bool
		mode    string
		tokens  int
		want    string // mode, tokens of an answer and of a client, then what loosens
	}{
		{userOwn, false, "bypassPermissions", 5000, "bypassPermissions 5000 5000 loose"},
		{userOwn, true, "bypassPermissions", 5000, "acceptEdits 1000 1000 "},
		{userOwn, true, "plan", 5, "plan 5 5 "},
		{settingsFile, false, "bypassPermissions", 5000, "bypassPermissions 5000 5000 loose"},
		{settingsFile, true, "bypassPermissions", 5000, "acceptEdits 1000 1000 "},
		{settingsFile, true, "dontAsk", 5, "dontAsk 5 5 "},
		{project, true, "bypassPermissions", 5000, "acceptEdits 1000 1000 "},
		{project, true, "plan", 5, "plan 5 5 "},
	} {
		s := with(env(nil), map[string]string{c.file: text(c.mode, c.tokens)})
		s.Owned = func(f SettingsFile, _ []int) Ownership {
			if c.foreign && f.Name == c.file {
				return Ownership{Foreign: "it may be written by others"}
			}
			return Ownership{}
		}
		trust := true
		got, _, err := New(Flags{Settings: settingsFileIf(c.file), TrustProject: &trust}, s, 1000)
		if err != nil {
			t.Fatal(err)
		}
		loose := ""
		all := []bool{len(rulesIn(got.Rules, perm.Allow)) > 0, len(got.Workspace) > 1, len(got.Tools) > 4, got.Clipboard, got.Log != "", got.AuditFile != "", !got.LSP.Off(), !got.History.Enabled, len(got.Hooks.Before) > 0}
		if slices.Contains(all, true) {
			loose = fmt.Sprint(all)
		}
		if !slices.Contains(all, false) {
			loose = "loose"
		}
		if words := fmt.Sprint(got.Mode, " ", got.MaxTokens, " ", got.ClientLimit("c", ClientLimit{Tokens: 1000}).Tokens, " ", loose); words != c.want {
			t.Errorf("%s, foreign %v: %s, want %s", c.file, c.foreign, words, c.want)
		}
		if len(rulesIn(got.Rules, perm.Deny)) != 1 || len(rulesIn(got.Rules, perm.Ask)) != 1 || got.Dedup {
			t.Errorf("%s, foreign %v: something that tightens does not count: %+v", c.file, c.foreign, got.Rules)
		}
		if len(got.Distrusted()) > 0 != c.foreign {
			t.Errorf("%s, foreign %v: %q", c.file, c.foreign, got.Distrusted())
		}
	}
}

func settingsFileIf(name string) string {
	if name == settingsFile {
		return name
	}
	return ""
}

func modeOf(c Config) any   { return c.Mode }
func tokensOf(c Config) any { return c.MaxTokens }

func imageTokensOf(c Config) any { return c.Images.Tokens }
func dedupOf(c Config) any       { return c.Dedup }

func TestLimitsByClient(t *testing.T) {
	files := map[string]string{
		userOwn: asFile(keyClients.path, `{"codex": {"tokens": 8000}, "codex-mini": {"tokens": 100}, "any": {"characters": 9}, "Big Client": {"tokens": 99}, "artist": {"lines": 70, "pictures": 5}, "blind": {"pictures": 0}, "sees": {"pictures": 3}}`),
		project: asFile(keyClients.path, `{"codex": {"tokens": 9000, "characters": 50}, "claude": {"characters": 300}, "artist": {"lines": 50, "pictures": 0}, "blind": {"pictures": 7}, "other": {"pictures": 2}}`),
	}
	c := first2(New(Flags{}, with(env(nil), files), 1))
	for _, row := range []struct {
		client        string
		builtin, want ClientLimit
	}{
		{"codex", ClientLimit{10000, 0, 0, 0}, ClientLimit{8000, 50, 0, 0}},
		{"Codex MCP Client", ClientLimit{10000, 0, 0, 0}, ClientLimit{8000, 50, 0, 0}},
		{"codex-mini/1", ClientLimit{10000, 0, 0, 0}, ClientLimit{100, 50, 0, 0}},
		{"codexes", ClientLimit{1, 2, 0, 0}, ClientLimit{1, 2, 0, 0}},
		{"claude-code", ClientLimit{0, 200, 0, 0}, ClientLimit{0, 200, 0, 0}},
		{"claude-ai", ClientLimit{0, 400, 0, 0}, ClientLimit{0, 300, 0, 0}},
		{"anything", ClientLimit{}, ClientLimit{}},
		{"any", ClientLimit{}, ClientLimit{0, 9, 0, 0}},
		{"big client", ClientLimit{}, ClientLimit{99, 0, 0, 0}},
		{"artist", ClientLimit{0, 0, 90, 0}, ClientLimit{0, 0, 50, NoPictures}},
		{"blind", ClientLimit{0, 0, 0, 4}, ClientLimit{0, 0, 0, NoPictures}},
		{"sees", ClientLimit{0, 0, 0, NoPictures}, ClientLimit{0, 0, 0, 3}},
		{"other", ClientLimit{0, 0, 0, NoPictures}, ClientLimit{0, 0, 0, NoPictures}},
		{"other", ClientLimit{}, ClientLimit{0, 0, 0, 2}},
		{"", ClientLimit{3, 4, 0, 0}, ClientLimit{3, 4, 0, 0}},
	} {
		if got := c.ClientLimit(row.client, row.builtin); got != row.want {
			t.Errorf("%s: %+v", row.client, got)
		}
	}
}

// The nearest file that speaks of a client decides, word by word; the longest
// name that covers it counts, and a variable speaks of all.
func TestPDFsByClient(t *testing.T) {
	files := map[string]string{
		userOwn: `{"pdf": {"images": "always", "clients": {"Gemini-CLI": {"mode": "document", "images": "never"}, "c": {"mode": "document"}, "c-long": {"images": "auto"}}}}`,
		project: `{"pdf": {"clients": {"gemini-cli": {"images": "auto"}}}}`,
	}
	for _, c := range []struct {
		env    map[string]string
		client string
		want   PDF
	}{
		{nil, "other", PDF{"pages", "always"}},
		{nil, "gemini-cli-mcp-client", PDF{"document", "auto"}},
		{nil, "Gemini CLI", PDF{"document", "auto"}},
		{nil, "geminis", PDF{"pages", "always"}},
		{nil, "c", PDF{"document", "always"}},
		{nil, "c-long-name", PDF{"pages", "auto"}},
		{map[string]string{"FSMCP_PDF_MODE": "pages"}, "c", PDF{"pages", "always"}},
		{map[string]string{"FSMCP_PDF_MODE": "document"}, "other", PDF{"document", "always"}},
		{map[string]string{"FSMCP_PDF_MODE": "whole"}, "c", PDF{"document", "always"}},
	} {
		cfg, warnings, err := New(Flags{}, with(env(c.env), files), 1000)
		if err != nil || (len(warnings) > 0) != (c.env["FSMCP_PDF_MODE"] == "whole") {
			t.Errorf("%q, %v", warnings, err)
		}
		if got := cfg.PDFFor(c.client, PDF{}); got != c.want {
			t.Errorf("%s, %v: %+v, want %+v", c.client, c.env, got, c.want)
		}
	}
}

// ruleFault is the check of rules as on Linux.
func ruleFault(r perm.RuleText) string { return perm.Fault(r, notation.Convention{}) }

// On Windows a folder of another machine ends the start.
func TestOtherMachine(t *testing.T) {
	for dir, refused := range map[string]bool{`\\server\share`: true, "//server/share": true, `\\?\UNC\server\share`: true, `C:\proj`: false, `\\?\C:\proj`: false} {
		for _, f := range []Flags{{Dirs: []string{dir}}, {Dirs: []string{"/x"}, AddDirs: []string{dir}}} {
			s := env(nil)
			s.OS = "windows"
			if _, _, err := New(f, s, 1000); (err != nil) != refused {
				t.Errorf("%s: %v", dir, err)
			}
		}
	}
}

// Globs of hooks and of the history are matched as people write them on Windows. One that
// cannot be understood closes: the hook refuses, the history keeps no text.
func TestWindowsGlobs(t *testing.T) {
	files := map[string]string{userOwn: `{"history": {"exclude": ["C:\\proj\\secrets\\**", "keys\\*.txt", "\\\\srv\\share\\**"]},
		"hooks": {"beforeFileEdited": [{"glob": "sub\\*.txt", "command": ["x"]}, {"glob": "%TEMP%\\*", "command": ["x"]}],
			"afterFileEdited": [{"glob": "C:\\proj\\**", "command": ["x"]}, {"glob": "\\\\srv\\share/*", "command": ["x"]}]}}`}
	s := with(env(nil), files)
	s.OS = "windows"
	c, warnings, err := New(Flags{}, s, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(c.History.Exclude); got != "[/C:/proj/secrets/** keys/*.txt **]" {
		t.Error(got)
	}
	for _, name := range []string{`C:\proj\sub\a.txt`, `C:\proj\SUB\a.txt`} {
		if got := c.Hooks.Before.For([]string{name}, true); len(got) != 2 || got[0].Glob != `sub\*.txt` || !strings.Contains(got[1].Broken, `its "glob" %TEMP%\* has a variable`) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := c.Hooks.After; len(got) != 1 || len(got.For([]string{`C:\proj\a`}, true)) != 1 || len(got.For([]string{`D:\proj\a`}, true)) != 0 {
		t.Errorf("%+v", got)
	}
	if all := strings.Join(warnings, "\n"); strings.Count(all, "TEMP") != 1 || strings.Count(all, "srv") != 2 {
		t.Error(all)
	}
}
