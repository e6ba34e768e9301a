package settings

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/lsp"
	"github.com/fsmcp/fsmcp/internal/lsp/servers"
	"github.com/fsmcp/fsmcp/internal/perm"
)

var (
	ownFile    = SettingsFile{Name: "/f", Level: perm.User, Anchor: "/d"}
	claudeFile = SettingsFile{Name: "/f", Level: perm.Project, Anchor: "/d", Claude: true}
)

func TestRulesKeepTheirLines(t *testing.T) {
	l := Parse(ownFile, []byte(`// mine
{
  "$schema": "x",
  "permissions": {
    "deny": ["Read(.env)", // here
      "Read(\u002e\"x)",
    ],
    "ask": [ ], "allow":
      ["Edit(//a)"],
    /* two
       lines */ "additionalDirectories": ["~/b", "c"],
    "defaultMode": "plan",
  },
}
// the end`))
	rule := func(list perm.List, text string, line int) perm.RuleText {
		return perm.RuleText{Text: text, List: list, Source: perm.Source{Name: "/f", Line: line, Level: perm.User, Anchor: "/d"}}
	}
	if l.Broken != nil || l.Warnings != nil || !l.Found {
		t.Fatalf("%+v, %q", l.Broken, l.Warnings)
	}
	if want := []perm.RuleText{rule(perm.Deny, "Read(.env)", 5), rule(perm.Deny, `Read(."x)`, 6)}; !slices.Equal(rulesIn(l.Rules, perm.Deny), want) {
		t.Errorf("deny: %+v", rulesIn(l.Rules, perm.Deny))
	}
	if want := []perm.RuleText{rule(perm.Allow, "Edit(//a)", 9)}; !slices.Equal(rulesIn(l.Rules, perm.Allow), want) || len(rulesIn(l.Rules, perm.Ask)) != 0 {
		t.Errorf("allow: %+v, ask: %+v", rulesIn(l.Rules, perm.Allow), rulesIn(l.Rules, perm.Ask))
	}
	if want := []Word{{"~/b", 11}, {"c", 11}}; !slices.Equal(l.Dirs, want) || l.Mode != (Word{"plan", 12}) {
		t.Errorf("%+v, %+v", l.Dirs, l.Mode)
	}
}

func TestBrokenFilesSayWhereAndWhy(t *testing.T) {
	deep := strings.Repeat("[", 1<<19)
	for _, c := range []struct {
		name, text string
		claude     bool
		line       int
		why        string
	}{
		{"a comment alone in a strict file", "// x\n", true, 1, "is not valid JSON"},
		{"a comment that does not end", "/* x\n", false, 1, "is not valid JSON"},
		{"null and more", "null\nnull", false, 2, "is not valid JSON"},
		{"false", "false", false, 1, "is not a JSON object"},
		{"cut off", "{\n\"permissions\": {\n", false, 2, "is not valid JSON"},
		{"cut off, strict", "{\n\"permissions\": {\n", true, 2, "is not valid JSON"},
		{"text behind", "{}\n{}", false, 2, "is not valid JSON"},
		{"missing comma", "{\n\"a\": 1\n\"b\": 2}", false, 3, "is not valid JSON"},
		{"single quotes", "{\n'a': 1}", false, 2, "is not valid JSON"},
		{"comment in a strict file", "{\n// x\n}", true, 2, "takes no comments"},
		{"trailing comma in a strict file", "{\n\"a\": [1,\n]}", true, 2, "takes no comments"},
		{"not UTF-8", "{\n\"a\": \"\xff\"}", false, 2, "is not valid UTF-8"},
		{"a list", "\n[]", true, 2, "is not a JSON object"},
		{"too large", "{}" + strings.Repeat(" ", MaxFileBytes), false, 1, "is larger than 1 MiB"},
		{"too deep", deep, false, 1, "is nested too deeply"},
		{"too deep in a strict file", `{"a":` + deep, true, 1, "is nested too deeply"},
		{"too deep behind words", `{"a": "\"]", /* " */ "b": ` + "// \"\n" + deep, false, 1, "is nested too deeply"},
		{"permissions are a list", "{\n\"permissions\": []}", true, 2, "permissions is not an object"},
		{"permissions are null", "{\"permissions\": null}", false, 1, "permissions is not an object"},
		{"deny is a word", "{\"permissions\": {\n\"deny\":\n\"x\"}}", true, 3, "permissions.deny is not a list of strings"},
		{"deny is null", `{"permissions": {"deny": null}}`, false, 1, "permissions.deny is not a list of strings"},
		{"deny is an object", `{"permissions": {"deny": {"Read(x)": true}}}`, false, 1, "permissions.deny is not a list of strings"},
		{"a number among rules", "{\"permissions\": {\"ask\": [\"a\",\n1]}}", true, 2, "permissions.ask holds something that is no string"},
		{"a list among rules", `{"permissions": {"allow": [["a"]]}}`, false, 1, "permissions.allow holds something that is no string"},
		{"directories", `{"permissions": {"additionalDirectories": "/x"}}`, true, 1, "permissions.additionalDirectories is not a list of strings"},
		{"mode", `{"permissions": {"defaultMode": 1}}`, false, 1, "permissions.defaultMode is not a string"},
		{"permissions twice", "{\"permissions\": {},\n\"permissions\": {}}", true, 2, "has permissions twice"},
		{"deny twice", "{\"permissions\": {\"deny\": [],\n\"d\\u0065ny\": []}}", false, 2, "has permissions.deny twice"},
		{"wrong behind what is right", "{\"dedup\": false, \"permissions\": {\"deny\": [\"Read(a)\"], \n\"ask\": 1}}", false, 2, "permissions.ask"},
	} {
		f := ownFile
		if c.claude {
			f = claudeFile
		}
		l := Parse(f, []byte(c.text))
		if l.Broken == nil || l.Broken.Name != "/f" || l.Broken.Line != c.line || !strings.Contains(l.Broken.Why, c.why) {
			t.Errorf("%s: %+v", c.name, l.Broken)
		}
		if len(l.Rules)+len(l.Dirs)+len(l.values) > 0 || l.Mode.Text != "" {
			t.Errorf("%s: something of a broken file counts: %+v", c.name, l)
		}
	}
}

// Without its trailing commas a file is shorter.
func TestTrailingCommas(t *testing.T) {
	for n := range 300 {
		text := `{"edit": {"gate": "shown",},` + "\n" + `"pdf": {"images": "auto",},"log":"` + strings.Repeat("x", n) + `",}`
		if l := Parse(ownFile, []byte(text)); l.Broken != nil {
			t.Fatalf("%d: %+v", n, l.Broken)
		}
		if l := Parse(claudeFile, []byte(text)); l.Broken == nil || l.Broken.Line != 1 || !strings.Contains(l.Broken.Why, "takes no comments") {
			t.Fatalf("%d: %+v", n, l.Broken)
		}
	}
}

func TestUnderstoodAllTheSame(t *testing.T) {
	for _, c := range []struct {
		name, text string
		claude     bool
	}{
		{"byte order mark", "\ufeff{}", true},
		{"empty", "", false},
		{"empty, strict", "", true},
		{"blank, strict", "\n \r\n\t", true},
		{"byte order mark alone", "\ufeff", true},
		{"comments alone", "\ufeff// x\n/* y */", false},
		{"null", "null", false},
		{"null, strict", " null\n", true},
		{"byte order mark and comment", "\ufeff// x\n{}", false},
		{"CRLF", "{\r\n// x\r\n}\r\n", false},
		{"brackets in words and comments", `{"a": "` + strings.Repeat("[", 99) + `", /*` + strings.Repeat("{", 99) + "*/}", false},
		{"another's business", `{"permissions": {"defaultMode": 7, "disableBypassPermissionsMode": "disable", "denny": 1}, "env": {}, "dedup": "x", "edit": 1, "model": null}`, true},
	} {
		f := ownFile
		if c.claude {
			f = claudeFile
		}
		if l := Parse(f, []byte(c.text)); l.Broken != nil || c.claude && (l.Warnings != nil || l.Mode.Text != "" || l.values != nil) {
			t.Errorf("%s: %+v", c.name, l)
		}
	}
}

// TestMisplacedKeys: keys for permissions in the wrong case or place are warned of, in
// Claude Code's files, too. Other keys there are its own.
func TestMisplacedKeys(t *testing.T) {
	for _, c := range []struct {
		text   string
		claude bool
		want   string // the known key
	}{
		{`{"Permissions": {"Deny": ["Read(a)"]}}`, true, "permissions"},
		{`{"PERMISSIONS": {}}`, false, "permissions"},
		{`{"permission": {"deny": []}}`, true, "permissions"},
		{`{"permissions": {"Deny": "Read(a)"}}`, true, "permissions.deny"},
		{`{"Permissions": ["Read(a)"]}`, true, "permissions"},
		{`{"permissions": {"Deny": []}}`, true, "permissions.deny"},
		{`{"permissions": {"denny": []}}`, true, "permissions.deny"},
		{`{"permissions": {"Ask": []}}`, false, "permissions.ask"},
		{`{"permissions": {"permissions": {"deny": []}}}`, true, "permissions"},
		{`{"deny": []}`, true, "permissions.deny"},
		{`{"deny": []}`, false, "permissions.deny"},
		{`{"ask": ["Edit(a)"]}`, true, "permissions.ask"},
		{`{"ask": ["Edit(a)"]}`, false, "permissions.ask"},
		{`{"permissions.deny": []}`, true, "permissions.deny"},
		{`{"additionaldirectories": []}`, true, "permissions.additionalDirectories"},
		{`{"Hints": false}`, false, "hints"},
		{`{"whenChanged": "refuse"}`, false, "edit.whenChanged"},
		{`{"edit": {"Gate": "full"}}`, false, "edit.gate"},
		// The control: keys that are right, mean something else, or are only like one.
		{`{"permissions": {"deny": [], "defaultMode": "plan", "disableBypassPermissionsMode": "disable"}, "env": {"deny": "1"}, "model": "x", "ask": {"timeout": "5s"}, "hooks": {}}`, true, ""},
		{`{"ask": {"timeout": "5s"}, "edit": {"gate": "full"}}`, false, ""},
		{`{"wenChanged": 1}`, false, ""},
	} {
		f := ownFile
		f.Claude = c.claude
		l := Parse(f, []byte(c.text))
		if l.Broken != nil || len(l.Rules) > 0 || (c.want == "") != (l.Misplaced == nil) {
			t.Errorf("%s: %+v", c.text, l)
			continue
		}
		if c.want != "" && (len(l.Misplaced) != 1 || !slices.Contains(l.Warnings, l.Misplaced[0]) || !strings.Contains(l.Misplaced[0], "is not a known setting; it is ignored (")) {
			t.Errorf("%s: %q, want %s", c.text, l.Misplaced, c.want)
		}
	}
}

func TestWordsThatAreNotKnown(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"permissions": {"denny": []}}`, `/f:1: "permissions.denny" is not a known setting; it is ignored (did you mean "permissions.deny"?)`},
		{"{\n\"deny\": []}", `/f:2: "deny" is not a known setting; it is ignored (did you mean "permissions.deny"?)`},
		{`{"Permissions": {}}`, `/f:1: "Permissions" is not a known setting; it is ignored (did you mean "permissions"?)`},
		{`{"edit": {"gat": "full"}}`, `/f:1: "edit.gat" is not a known setting; it is ignored (did you mean "edit.gate"?)`},
		{`{"edit.gate": "full"}`, `/f:1: "edit.gate" is not a known setting; it is ignored (it is written as {"edit": {"gate": ...}})`},
		{`{"permissions.deny": []}`, `/f:1: "permissions.deny" is not a known setting; it is ignored (it is written as {"permissions": {"deny": ...}})`},
		{`{"quite": {"another": 1}}`, `/f:1: "quite" is not a known setting; it is ignored`},
		{`{"lsp": "on"}`, `/f:1: "lsp" takes "off", "auto" or an object as {"NAME": {"command": ["PROGRAM"], "extensions": {".x": "LANGUAGE"}, "rootMarkers": ["FILE"]}}; it is ignored`},
		{`{"hooks.beforeFileEdited": []}`, `/f:1: "hooks.beforeFileEdited" is not a known setting; it is ignored (it is written as {"hooks": {"beforeFileEdited": ...}})`},
		{`{"limits": {"maxImageTokens": 1}}`, `/f:1: "limits.maxImageTokens" is not a known setting; it is ignored (did you mean "maxImageTokens"?)`},
		{`{"edit": {"gate": "ful"}}`, `/f:1: "edit.gate" takes shown or full, not "ful" (did you mean full?); it is ignored`},
		{`{"edit": true}`, `/f:1: "edit" takes an object; it is ignored`},
		{`{"dedup": "no"}`, `/f:1: "dedup" takes true or false; it is ignored`},
		{`{"log": 1}`, `/f:1: "log" takes the name of a file; it is ignored`},
		{`{"permissions": {"defaultMode": "acceptEdit"}}`, `/f:1: permissions.defaultMode is "acceptEdit", which is no mode; default is taken (did you mean acceptEdits?)`},
		{`{"permissions": {"defaultMode": ""}}`, `/f:1: permissions.defaultMode is "", which is no mode; default is taken`},
	} {
		l := Parse(ownFile, []byte(c.text))
		if l.Broken != nil || len(l.Warnings) != 1 || l.Warnings[0] != c.want {
			t.Errorf("%s:\n%q %v", c.text, l.Warnings, l.Broken)
		}
	}
}

func TestWarningsHideKeys(t *testing.T) {
	l := Parse(ownFile, []byte(`{"tokens": {"api": {"url": "http://far.example", "key": "sesame", "model": "m"}}}`))
	if len(l.Warnings) != 1 || strings.Contains(fmt.Sprint(l.Warnings), "sesame") {
		t.Errorf("%q", l.Warnings)
	}
	l = Parse(ownFile, []byte(`{"tokens": {"api": {"url": "x", "key": "sesame" "model": "m"}}}`))
	if l.Broken == nil || strings.Contains(l.Broken.Why, "sesame") {
		t.Errorf("%+v", l.Broken)
	}
}

// The values that each key takes, and some that it does not.
func values() map[string]struct {
	good map[string]any
	bad  []string
} {
	type row = struct {
		good map[string]any
		bad  []string
	}
	count := row{map[string]any{"1": 1, "10.0": 10, "1e4": 10000}, []string{"0", "-1", "1.5", `"10"`, "1e99", "null"}}
	yes := row{map[string]any{"true": true, "false": false}, []string{`"true"`, "0", "null", "{}"}}
	fmtHook := hooks.Hook{Glob: "*.go", Command: []string{"gofmt", "-w"}, Timeout: 10 * time.Second, From: "/f", Line: 1}
	slow := hooks.Hook{Glob: "**", Command: []string{"x", ""}, Timeout: 90 * time.Second, From: "/f", Line: 1}
	const fmtText, slowText = `{"glob": "*.go", "command": ["gofmt", "-w"]}`, `{"timeout": "1m30s", "command": ["x", ""], "glob": "**"}`
	hookRow := row{map[string]any{"[]": hooks.List{}, "[" + fmtText + "]": hooks.List{fmtHook}, "[" + slowText + ", " + fmtText + "]": hooks.List{slow, fmtHook}},
		[]string{fmtText, "null", `"gofmt"`, "[1]", "[{}]", `[{"glob": "*"}]`, `[{"command": ["x"]}]`, `[{"glob": "", "command": ["x"]}]`, `[{"glob": "*", "command": []}]`, `[{"glob": "*", "command": "x y"}]`,
			`[{"glob": "*", "command": [""]}]`, `[{"glob": "*", "command": ["x", 1]}]`, `[{"glob": "*", "command": ["x"], "timeout": 5}]`, `[{"glob": "*", "command": ["x"], "timeout": "5"}]`, `[{"glob": "*", "command": ["x"], "shell": true}]`}}
	return map[string]row{
		keyGate.path:         {map[string]any{`"full"`: "full", `"shown"`: "shown"}, []string{`"Full"`, `"auto"`, "1", "null", "[]"}},
		keyOverlong.path:     {map[string]any{`"refuse"`: "refuse", `"page"`: "page"}, []string{`""`}},
		keyWhenChanged.path:  {map[string]any{`"refuse"`: "refuse", `"apply"`: "apply"}, []string{`""`}},
		keyStrip.path:        yes,
		keyDedup.path:        yes,
		keyHardLinks.path:    yes,
		keyDurability.path:   {map[string]any{`"full"`: "full", `"data"`: "data", `"none"`: "none"}, []string{`"much"`}},
		keyMaxTokens.path:    count,
		keyMaxBytes.path:     {map[string]any{"1048576": int64(1 << 20), `"512KB"`: int64(512 << 10)}, []string{"0", "-1", `"much"`, "null"}},
		keyImageTokens.path:  count,
		keySentSide.path:     count,
		keyMegapixels.path:   count,
		keyImageSide.path:    count,
		keyImageDecoded.path: {map[string]any{"1048576": int64(1 << 20), `"512MB"`: int64(512 << 20)}, []string{"-1", `"much"`, "null"}},
		keyPDFMode.path:      {map[string]any{`"pages"`: "pages", `"document"`: "document"}, []string{`"whole"`, "1", "null"}},
		keyPDFImages.path:    {map[string]any{`"auto"`: "auto", `"always"`: "always", `"never"`: "never"}, []string{`"some"`, "true", "null"}},
		keyPDFClients.path: {map[string]any{"{}": map[string]PDF{}, `{"Gemini CLI": {"mode": "document"}, "x": {}}`: map[string]PDF{"gemini-cli": {Mode: "document"}, "x": {}}, `{"c": {"mode": "pages", "images": "never"}}`: map[string]PDF{"c": {"pages", "never"}}},
			[]string{"[]", `{"": {}}`, `{"c": "document"}`, `{"c": {"modes": "pages"}}`, `{"c": {"mode": "whole"}}`, `{"c": {"images": 1}}`}},
		keyPDFWarm.path: yes,
		keyClients.path: {map[string]any{"{}": map[string]ClientLimit{}, `{"My Client": {"tokens": 5}, "x": {}}`: map[string]ClientLimit{"my-client": {Tokens: 5}, "x": {}}, `{"c": {"tokens": 1, "characters": 2}}`: map[string]ClientLimit{"c": {Tokens: 1, Chars: 2}}, `{"c": {"lines": 3, "pictures": 4}, "d": {"pictures": 0}}`: map[string]ClientLimit{"c": {Lines: 3, Pictures: 4}, "d": {Pictures: NoPictures}}},
			[]string{"[]", `{"": {}}`, `{"c": 1}`, `{"c": {"token": 1}}`, `{"c": {"tokens": 0}}`, `{"c": {"lines": 0}}`, `{"c": {"pictures": -1}}`, `{"c": {"pictures": null}}`}},
		keyTokensAPI.path: {map[string]any{
			`{"url": "https://a.b/c", "key": "k", "model": "m"}`:         TokensAPI{"https://a.b/c", "k", "m"},
			`{"url": "http://127.0.0.1:80/c", "key": "k", "model": "m"}`: TokensAPI{"http://127.0.0.1:80/c", "k", "m"},
			`{"url": "http://[::1]", "key": "k", "model": "m"}`:          TokensAPI{"http://[::1]", "k", "m"},
			"null": nil,
		}, []string{"{}", `{"url": "https://a", "key": "", "model": "m"}`, `{"url": "https://a", "key": "k"}`, `{"url": "https://a", "key": "k", "model": "m", "x": 1}`,
			`{"url": "http://a", "key": "k", "model": "m"}`, `{"url": "http://localhost@a", "key": "k", "model": "m"}`, `{"url": "http://localhost.a", "key": "k", "model": "m"}`, `{"url": "https://", "key": "k", "model": "m"}`, `"https://a"`}},
		keyAskTimeout.path: {map[string]any{`"50s"`: 50 * time.Second, `"1m30s"`: 90 * time.Second, `"1h"`: time.Hour}, []string{"50", `"50"`, `"-5s"`, `""`, "null"}},
		keyHints.path:      yes,
		keyPersist.path:    yes,
		keyClipboard.path:  yes,
		keyLSP.path: {map[string]any{
			`"off"`: LSP{}, `"auto"`: LSP{Auto: true, From: "/f"}, "{}": LSP{},
			`{"gopls": {}, "rust-analyzer": {"command": ["~/bin/ra", "-v"]}}`: LSP{Servers: []lsp.LanguageServer{knownServer("gopls", nil), knownServer("rust-analyzer", []string{"~/bin/ra", "-v"})}, From: "/f"},
			`{"x": {"command": ["x-ls"], "extensions": {".x": "ex"}}}`:        LSP{Servers: []lsp.LanguageServer{{Name: "x", Command: []string{"x-ls"}, Languages: map[string]string{".x": "ex"}}}, From: "/f"},
			`{"clangd": {"extensions": {".cu": "cuda"}, "rootMarkers": []}}`:  LSP{Servers: []lsp.LanguageServer{{Name: "clangd", Command: []string{"clangd"}, Languages: map[string]string{".cu": "cuda"}}}, From: "/f"},
		}, []string{`"on"`, "true", "null", "[]", `{"x": {}}`, `{"": {"command": ["x"], "extensions": {".x": "x"}}}`, `{"x": {"command": ["x"]}}`, `{"x": {"extensions": {".x": "x"}}}`, `{"gopls": "auto"}`, `{"gopls": {"comand": ["x"]}}`,
			`{"gopls": {"command": []}}`, `{"gopls": {"command": [""]}}`, `{"gopls": {"command": "gopls"}}`, `{"gopls": {"extensions": {}}}`, `{"gopls": {"extensions": {"go": "go"}}}`, `{"gopls": {"extensions": {".go": ""}}}`, `{"gopls": {"extensions": [".go"]}}`, `{"gopls": {"extensions": {"./go": "go"}}}`,
			`{"gopls": {"rootMarkers": "go.mod"}}`, `{"gopls": {"rootMarkers": [""]}}`, `{"gopls": {"rootMarkers": ["a/go.mod"]}}`}},
		keyTools.path: {map[string]any{`["Grep", "Read"]`: []string{"Read", "Grep"}, `["all"]`: ToolNames(), `["Edit", "all"]`: ToolNames()},
			[]string{"[]", `["read"]`, `["Bash"]`, `"all"`, "[1]", "{}", "null"}},
		keyAuditNeeded.path:     yes,
		keyAuditFile.path:       {map[string]any{`"/x"`: "/x", `"~/x"`: "~/x", "null": nil}, []string{`""`, "1"}},
		keyHistoryEnabled.path:  yes,
		keyHistoryRequired.path: yes,
		keyHistoryMaxSize.path: {map[string]any{"0": int64(0), "1048576": int64(1 << 20), `"1GB"`: int64(1 << 30), `"1.5 kb"`: int64(1536), `"2 MiB"`: int64(2 << 20), `"10"`: int64(10), `"999999999TB"`: int64(math.MaxInt64)},
			[]string{"-1", "1.5", `"much"`, `"GB"`, `"1 G B"`, "null", "true"}},
		keyHistoryMaxAge.path:  {map[string]any{`"30d"`: 720 * time.Hour, `"1d12h"`: 36 * time.Hour, `"90m"`: 90 * time.Minute}, []string{"30", `"30"`, `"d"`, `"-1d"`, `"1w"`, "null"}},
		keyHistoryExclude.path: {map[string]any{"[]": []string(nil), `[".env", "a/**"]`: []string{".env", "a/**"}}, []string{`".env"`, `[""]`, "[1]", "{}", "null"}},
		keyHooksBefore.path:    hookRow,
		keyHooksAfter.path:     hookRow,
		keyLog.path:            {map[string]any{`"/x"`: "/x", `"~/x"`: "~/x", "null": nil}, []string{`""`, "1"}},
	}
}

// knownServer returns a known server, with another command if that is not nil.
func knownServer(name string, command []string) lsp.LanguageServer {
	s, _ := servers.ByName(name)
	if command != nil {
		s.Command = command
	}
	return s.LanguageServer
}

// asFile writes a key with its value as a file has it.
func asFile(path, value string) string {
	parts := strings.Split(path, ".")
	for _, p := range slices.Backward(parts) {
		value = fmt.Sprintf("{%q: %s}", p, value)
	}
	return value
}

func TestValues(t *testing.T) {
	table := values()
	for _, k := range keys() {
		row, ok := table[k.path]
		if !ok {
			t.Errorf("%s has no row", k.path)
		}
		for text, want := range row.good {
			l := Parse(ownFile, []byte(asFile(k.path, text)))
			if got := l.values[k.path].is; fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) || l.Warnings != nil || l.Broken != nil {
				t.Errorf("%s: %s: %#v, %q", k.path, text, got, l.Warnings)
			}
		}
		for _, text := range row.bad {
			l := Parse(ownFile, []byte(asFile(k.path, text)))
			_, said := l.values[k.path]
			if k.path == keyHooksBefore.path { // which stay: they stop changes
				list, _ := l.values[k.path].is.(hooks.List)
				said = len(list) != 1 || list[0].Broken == ""
			}
			if said || len(l.Warnings) != 1 || l.Broken != nil {
				t.Errorf("%s: %s: %v, %q", k.path, text, l.values, l.Warnings)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "{}", "\ufeff{}", `{"permissions": {"deny": ["Read(a)"], "ask": ["Edit(b)"], "defaultMode": "plan"}}`, "// x\n{\"dedup\": false,}",
		`{"limits": {"clients": {"c": {"tokens": 1}}}, "ask": {"timeout": "5s"}}`, `{"permissions": {"deny": [1]}}`, "{\"a\": [\n[[[", `{"a":"\ud800"}`, "/*", `{"edit.gate": 1, "tokens": {"api": {}}}`,
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, claude bool) {
		file := ownFile
		file.Claude = claude
		l := Parse(file, []byte(s))
		lines := strings.Count(s, "\n") + 1
		rules := l.Rules
		for _, r := range rules {
			if r.Source.Line < 1 || r.Source.Line > lines {
				t.Fatalf("line %d of %d", r.Source.Line, lines)
			}
		}
		if b := l.Broken; b != nil {
			if b.Line < 1 || b.Line > lines || len(rules) > 0 || l.values != nil || l.Warnings != nil {
				t.Fatalf("%+v with %+v", b, l)
			}
			return
		}
		if plain := strings.TrimPrefix(s, "\ufeff"); claude && strings.TrimSpace(plain) != "" && !json.Valid([]byte(plain)) {
			t.Fatal("took what is not JSON")
		}
	})
}
