package settings

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// none stands for a file that is not there.
const none = "\x00"

// rulesIn returns the rules of one list.
func rulesIn(rules []perm.RuleText, list perm.List) (out []perm.RuleText) {
	for _, r := range rules {
		if r.List == list {
			out = append(out, r)
		}
	}
	return out
}

// summary shows what a reload can change, in a few words.
func summary(c Config) string {
	var out []string
	add := func(what string, rules []perm.RuleText) {
		for _, r := range rules {
			out = append(out, what+r.Text)
		}
	}
	add("-", rulesIn(c.Rules, perm.Deny))
	add("?", rulesIn(c.Rules, perm.Ask))
	add("+", rulesIn(c.Rules, perm.Allow))
	for _, d := range c.Workspace[1:] {
		out = append(out, "dir:"+d)
	}
	if c.Mode != "acceptEdits" {
		out = append(out, c.Mode)
	}
	if !c.Dedup {
		out = append(out, "nodedup")
	}
	if c.Gate != "shown" {
		out = append(out, c.Gate)
	}
	if c.TokensAPI != nil {
		out = append(out, c.TokensAPI.URL)
	}
	if c.MaxTokens != 1000 {
		out = append(out, fmt.Sprint(c.MaxTokens))
	}
	for _, h := range slices.Concat(c.Hooks.Before, c.Hooks.After) {
		out = append(out, "hook:"+h.Command[0])
	}
	for _, b := range c.Broken {
		out = append(out, fmt.Sprintf("broken:%d", b.Line))
	}
	return strings.Join(out, " ")
}

// rules writes a file in the notation of summary.
func rules(words string) string {
	lists := map[byte][]string{}
	for _, w := range strings.Fields(words) {
		lists[w[0]] = append(lists[w[0]], fmt.Sprintf("%q", w[1:]))
	}
	list := func(c byte) string { return "[" + strings.Join(lists[c], ",") + "]" }
	return fmt.Sprintf(`{"permissions": {"deny": %s, "ask": %s, "allow": %s}}`, list('-'), list('?'), list('+'))
}

// TestForeignContentNeverCounts: what another user could have written does not begin to count
// when the file goes or breaks in the hands of the user.
func TestForeignContentNeverCounts(t *testing.T) {
	for _, file := range []string{userOwn, nativetest.Name("/home/u/dotfiles.json")} {
		for _, then := range []string{"", "{", "\n"} {
			files := map[string]string{file: `{"permissions": {"allow": ["Edit(a)"]}, "hooks": {"afterFileEdited": [{"glob": "*", "command": ["x"]}]}, "clipboard": true}`}
			s := with(env(nil), files)
			foreign := "others may write it"
			s.Owned = func(SettingsFile, []int) Ownership { return Ownership{Foreign: foreign} }
			cfg := first2(New(Flags{Settings: file, Dirs: []string{nativetest.Name("/home/u")}}, s, 1))
			foreign = ""
			if files[file] = then; then == "" {
				delete(files, file)
			}
			cfg, _ = cfg.Reload([]string{file})
			if len(cfg.Hooks.After) > 0 || cfg.Clipboard || len(rulesIn(cfg.Rules, perm.Allow)) > 0 {
				t.Errorf("%s, then %q: %+v %v %v", file, then, cfg.Hooks, cfg.Clipboard, cfg.Rules)
			}
		}
	}
}

// TestReloadOfOwnersAndSlips: a file that gets other owners, or a mistyped rule, while fsmcp
// runs.
func TestReloadOfOwnersAndSlips(t *testing.T) {
	for _, c := range []struct {
		file   string
		inside bool
	}{{userOwn, false}, {nativetest.Name("/home/u/dotfiles.json"), true}} {
		files := map[string]string{c.file: rules("-Read(x) +Edit(a)")}
		s := with(env(nil), files)
		s.RuleFault = ruleFault
		foreign := ""
		s.Owned = func(SettingsFile, []int) Ownership { return Ownership{Foreign: foreign} }
		flags := Flags{Settings: c.file}
		if c.inside {
			flags.Dirs = []string{nativetest.Name("/home/u")}
		}
		cfg := first2(New(flags, s, 1))
		step := func(name, want string) {
			t.Helper()
			if names, _ := cfg.Stale(); !slices.Contains(names, c.file) {
				t.Errorf("inside %v, %s: it is not noticed", c.inside, name)
			}
			cfg, _ = cfg.Reload([]string{c.file})
			got := ""
			for _, r := range cfg.Rules {
				got += r.List.String() + " " + r.Text + ", "
			}
			if got += fmt.Sprint(len(cfg.Broken), " broken"); got != want {
				t.Errorf("inside %v, %s: %s, want %s", c.inside, name, got, want)
			}
		}
		foreign = "others may write it"
		step("another owner", "deny Read(x), 0 broken")
		foreign = ""
		if c.inside {
			step("own again", "deny Read(x), 0 broken")
		} else {
			step("own again", "deny Read(x), allow Edit(a), 0 broken")
		}
		files[c.file] = rules("-Read(x) -raed(y) +Edit(a)")
		allow := map[bool]string{false: "allow Edit(a), "}[c.inside]
		step("a slip", "deny Read(x), deny raed(y), "+allow+"1 broken")
		files[c.file] = rules("-Read(x) -Read(y) +Edit(a)")
		after := "deny Read(x), deny Read(y), "
		if c.inside {
			after += "deny raed(y), "
		}
		step("mended", after+allow+"0 broken")
	}
}

func TestReload(t *testing.T) {
	type step struct {
		text, want string
		warned     int
	}
	mode := func(m string) string { return asFile(keyMode, fmt.Sprintf("%q", m)) }
	dirs := func(list string) string { return asFile(keyDirectories, "["+list+"]") }
	const broken = "{\n"
	hook := func(name string) string {
		return asFile(keyHooksAfter.path, fmt.Sprintf(`[{"glob": "*", "command": [%q]}]`, name))
	}
	for _, c := range []struct {
		name, file string
		steps      []step // the first is the start
		restart    string // what holds after one
	}{
		{"inside: tightening holds at once", claude, []step{
			{rules("+a +b"), "+a +b", 0}, {rules("-x ?y +a"), "-x ?y +a", 0}, {rules("-x -z ?y"), "-x -z ?y", 0}}, "-x -z ?y"},
		{"inside: loosening waits", claude, []step{
			{rules("-x -y ?z"), "-x -y ?z", 0}, {rules("-y +a"), "-y -x ?z", 1}, {rules(""), "-y -x ?z", 1}, {none, "-y -x ?z", 1}}, ""},
		{"inside: what was taken away does not come back", claude, []step{
			{rules("+a +b"), "+a +b", 0}, {rules("+a"), "+a", 0}, {rules("+a +b"), "+a", 1}}, "+a +b"},
		{"inside: a new file", project, []step{
			{none, "", 0}, {rules("-x +a"), "-x", 1}, {none, "-x", 1}}, ""},
		{"inside: deleted and made again", claude, []step{
			{rules("-x +a"), "-x +a", 0}, {none, "-x", 1}, {rules("-x +a"), "-x", 1}}, "-x +a"},
		{"inside: told again where it was", claude, []step{
			{rules("-x"), "-x", 0}, {rules(""), "-x", 1}, {rules("-x"), "-x", 0}}, "-x"},
		{"inside: broken keeps all and closes, mended opens", claude, []step{
			{rules("-x ?y +a"), "-x ?y +a", 0}, {broken, "-x ?y +a broken:1", 1}, {rules("-x ?y +a"), "-x ?y +a", 0}}, "-x ?y +a"},
		{"inside: broken, then emptied", claude, []step{
			{rules("-x +a"), "-x +a", 0}, {broken, "-x +a broken:1", 1}, {"{}", "-x", 1}}, ""},
		{"inside: broken, then deleted", claude, []step{
			{rules("-x +a"), "-x +a", 0}, {broken, "-x +a broken:1", 1}, {none, "-x broken:1", 2}, {rules("-y"), "-y -x", 1}}, "-y"},
		{"inside: broken from the start", claude, []step{
			{broken, "broken:1", 1}, {"\n" + broken, "broken:2", 1}, {rules("-x +a"), "-x", 1}}, "-x +a"},
		{"inside: unreadable", claude, []step{
			{rules("-x"), "-x", 0}, {"!cannot be read: permission denied", "-x broken:0", 1}, {rules("-x"), "-x", 0}}, "-x"},
		{"inside: wrong shape", project, []step{
			{rules("-x"), "-x", 0}, {`{"permissions": {"deny": "x"}}`, "-x broken:1", 1}}, "broken:1"},
		{"inside: a tighter mode at once, a looser one later", project, []step{
			{mode("default"), "default", 0}, {mode("plan"), "plan", 0}, {mode("default"), "plan", 1}, {none, "plan", 1}}, ""},
		{"inside: a mode that was not there", project, []step{
			{none, "", 0}, {mode("dontAsk"), "dontAsk", 0}, {"{}", "dontAsk", 1}}, ""},
		{"inside: dedup at once", project, []step{
			{"{}", "", 0}, {`{"dedup": false}`, "nodedup", 0}, {"{}", "", 0}, {`{"dedup": false}`, "nodedup", 0}, {broken, "nodedup broken:1", 1}}, "broken:1"},
		{"inside: limits are read once", project, []step{
			{"{}", "", 0}, {asFile(keyMaxTokens.path, "5"), "", 1}}, "5"},

		{"inside: hooks wait, also those that go", project, []step{
			{hook("a"), "hook:a", 0}, {hook("b"), "hook:a", 1}, {"// moved\n" + hook("a"), "hook:a", 0}, {"{}", "hook:a", 1}, {hook("a"), "hook:a", 0}, {hook("c"), "hook:a", 1}}, "hook:c"},
		{"inside: a new file with hooks", project, []step{
			{none, "", 0}, {hook("a"), "", 1}}, "hook:a"},
		{"outside: hooks at once", userOwn, []step{
			{"{}", "", 0}, {hook("a"), "hook:a", 0}, {broken, "hook:a broken:1", 1}, {"{}", "", 0}}, ""},

		{"outside: all at once", userClaude, []step{
			{rules("-x ?y +a"), "-x ?y +a", 0}, {rules("-z +b"), "-z +b", 0}, {none, "", 0}, {rules("+c"), "+c", 0}}, "+c"},
		{"outside: broken keeps all and closes, mended opens", userOwn, []step{
			{rules("-x ?y +a"), "-x ?y +a", 0}, {broken, "-x ?y +a broken:1", 1}, {rules("+b"), "+b", 0}}, "+b"},
		{"outside: broken, then deleted", userOwn, []step{
			{rules("-x"), "-x", 0}, {broken, "-x broken:1", 1}, {none, "", 0}}, ""},
		{"outside: emptied, as while it is written", userOwn, []step{
			{rules("-x ?y +a"), "-x ?y +a", 0}, {"\n", "-x ?y", 1}, {"", "-x ?y", 1}, {broken, "-x ?y broken:1", 2}, {rules("+b"), "+b", 0}}, "+b"},
		{"outside: only a comment, as while it is written", userOwn, []step{
			{rules("-x ?y +a"), "-x ?y +a", 0}, {"// mine\n", "-x ?y", 1}, {"/* mine */ //", "-x ?y", 1}, {"// mine\n" + rules("+b"), "+b", 0}}, "+b"},
		{"outside: a comment before what is nested too deeply", userOwn, []step{
			{rules("-x"), "-x", 0}, {"//\n" + strings.Repeat("[", 900_000), "-x broken:1", 1}}, "broken:1"},
		{"outside: a mode while it is written", userOwn, []step{
			{mode("plan"), "plan", 0}, {"", "plan", 1}, {mode("default"), "default", 0}, {mode("bypassPermissions"), "bypassPermissions", 0}, {"", "", 1}}, ""},
		{"outside: hooks while it is written", userOwn, []step{
			{hook("a"), "hook:a", 0}, {"", "hook:a", 1}, {hook("b"), "hook:b", 0}, {"{}", "", 0}}, ""},
		{"outside: other keys", userOwn, []step{
			{mode("plan"), "plan", 0}, {asFile(keyGate.path, `"full"`), "full", 0}, {asFile(keyTokensAPI.path, `{"url": "https://a", "key": "k", "model": "m"}`), "https://a", 0}, {broken, "https://a broken:1", 1}, {"{}", "", 0}}, ""},
		{"outside: limits are read once", userOwn, []step{
			{asFile(keyMaxTokens.path, "5"), "5", 0}, {asFile(keyMaxTokens.path, "6"), "5", 0}}, "6"},
		{"outside: directories", userOwn, []step{
			{"{}", "", 0}, {dirs(`"/a"`), "dir:" + nativetest.Name("/a"), 0}, {dirs(`"/b"`), "dir:" + nativetest.Name("/b"), 0}}, "dir:" + nativetest.Name("/b")},
		{"outside: --settings deleted", settingsFile, []step{
			{rules("-x"), "-x", 0}, {none, "-x broken:0", 1}, {rules("-y"), "-y", 0}}, "-y"},
		{"outside: managed", managed, []step{
			{rules("-x"), "-x", 0}, {none, "", 0}, {rules("-y"), "-y", 0}}, "-y"},
		{"outside: a managed file more", dropIn, []step{
			{none, "", 0}, {rules("-x"), "-x", 0}, {none, "", 0}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{settingsFile: "{}"}
			put := func(text string) {
				if text == none {
					delete(files, c.file)
				} else {
					files[c.file] = text
				}
			}
			f := Flags{Settings: settingsFile, TrustProject: new(true)}
			s := with(env(nil), files)
			put(c.steps[0].text)
			cfg, warnings, err := New(f, s, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for i, step := range c.steps {
				if i > 0 {
					put(step.text)
					cfg, _ = cfg.Reload([]string{c.file})
					warnings = cfg.origin.warnings
				}
				if got := summary(cfg); got != step.want || len(warnings) != step.warned {
					t.Errorf("step %d: %q, want %q; %q", i, got, step.want, warnings)
				}
			}
			if cfg = first2(New(f, s, 1000)); summary(cfg) != c.restart {
				t.Errorf("after a restart: %q, want %q", summary(cfg), c.restart)
			}
		})
	}
}

// A home directory that is a workspace makes the user's own files the agent's
// prey: what it writes there must not count before a restart either.
func TestUserFilesInsideAWorkspaceAreNotLoosened(t *testing.T) {
	files := map[string]string{userOwn: `{"permissions": {"deny": ["Read(x)"]}}`}
	c := first2(New(Flags{Dirs: []string{nativetest.Name("/home/u")}}, with(env(nil), files), 1000))
	files[userOwn] = `{"permissions": {"defaultMode": "bypassPermissions", "allow": ["Edit"], "additionalDirectories": ["/x"]},
		"edit": {"gate": "shown"}, "tokens": {"api": {"url": "https://evil", "key": "k", "model": "m"}}, "keepHardLinks": true, "log": "/x"}`
	c, warnings := c.Reload(nil)
	if got := summary(c); got != "-Read(x)" || c.KeepHardLinks || c.Log != "" || len(warnings) != 1 {
		t.Errorf("%s, %q", got, warnings)
	}
	if want := "1 removed deny or ask rule still holds, 1 added allow rule does not count, 1 added directory does not count, permissions.defaultMode stays as it was, 4 other settings stay as they were"; !strings.HasSuffix(warnings[0], want) {
		t.Errorf("%s", warnings[0])
	}
}

func TestAFileIsInsideUnderAnyName(t *testing.T) {
	for name, real := range map[string]func(string) string{
		"the file leads in": func(n string) string {
			return strings.Replace(n, userClaude, nativetest.Name("/home/u/proj/dot/settings.json"), 1)
		},
		"its folder leads in": func(n string) string {
			return strings.Replace(n, nativetest.Name("/home/u/.claude"), nativetest.Name("/home/u/proj/dot"), 1)
		},
		"a workspace's links": func(n string) string {
			return strings.Replace(n, nativetest.Name("/home/u/proj"), nativetest.Name("/home/u/.claude"), 1)
		},
	} {
		files := map[string]string{userClaude: rules("-x")}
		s := with(env(nil), files)
		s.Real = real
		c := first2(New(Flags{}, s, 1000))
		files[userClaude] = rules("+a")
		if c, _ = c.Reload(nil); summary(c) != "-x" {
			t.Errorf("%s: %s", name, summary(c))
		}
	}
	if !(System{OS: system()}).inside(nativetest.Name("/W/.CLAUDE/s"), []string{nativetest.Name("/w")}) || (System{OS: system()}).inside(nativetest.Name("/workspace/s"), []string{nativetest.Name("/w")}) || !(System{OS: system()}).inside(nativetest.Name("/a"), []string{nativetest.Name("/")}) {
		t.Error("inside is told wrongly")
	}
}

// A name that led nowhere may come to lead into the workspace.
func TestAFileMadeInsideIsInside(t *testing.T) {
	files := map[string]string{}
	s := with(env(nil), files)
	s.Real = func(n string) string {
		if files[userOwn] != "" {
			return strings.Replace(n, nativetest.Name("/home/u/.config/fsmcp"), nativetest.Name("/home/u/proj/dot"), 1)
		}
		return n
	}
	c := first2(New(Flags{}, s, 1000))
	files[userOwn] = rules("-x +a")
	if c, _ = c.Reload(nil); summary(c) != "-x" {
		t.Error(summary(c))
	}
}

func TestOnlyWhatChangedIsReadAgain(t *testing.T) {
	files := map[string]string{userClaude: rules("-x"), userOwn: rules("-y")}
	c := first2(New(Flags{}, with(env(nil), files), 1000))
	files[userClaude], files[userOwn] = rules("-a"), rules("-b")
	if c, _ = c.Reload([]string{userOwn}); summary(c) != "-b -x" {
		t.Error(summary(c))
	}
	if c, _ = c.Reload([]string{}); summary(c) != "-b -x" {
		t.Error(summary(c))
	}
	if c, _ = c.Reload(nil); summary(c) != "-b -a" {
		t.Error(summary(c))
	}
}

func TestNewManagedFilesAreFoundByTheirFolder(t *testing.T) {
	files := map[string]string{}
	c := first2(New(Flags{}, with(env(nil), files), 1000))
	watched, folders := c.Watched()
	if !slices.Contains(watched, claude) || !slices.Equal(folders, []string{managedName("managed-settings.d")}) {
		t.Errorf("%q, %q", watched, folders)
	}
	files[dropIn] = rules("-x")
	if c, _ = c.Reload(folders); summary(c) != "-x" {
		t.Error(summary(c))
	}
	files[dropIn] = rules("-y")
	if c, _ = c.Reload(folders); summary(c) != "-y" {
		t.Error(summary(c))
	}
}

func TestStaleNamesWhatIsNoLongerAsItWasRead(t *testing.T) {
	folder := managedName("managed-settings.d")
	for _, c := range []struct {
		name, file, was, is string
		names               []string
		half                bool
	}{
		{"nothing", claude, rules("-x"), rules("-x"), nil, false},
		{"other bytes of the same length", claude, rules("-x"), rules("-y"), []string{claude}, false},
		{"gone", userOwn, rules("-x"), none, []string{userOwn}, true},
		{"new", project, none, rules("-x"), []string{project}, false},
		{"emptied", userClaude, rules("-x"), "", []string{userClaude}, true},
		{"half written", userClaude, rules("-x"), rules("-x")[:20], []string{userClaude}, true},
		{"broken, and still so", claude, "{", "{", nil, false},
		{"not there, and still not", claude, none, none, nil, false},
		{"readable no more", claude, rules("-x"), "!cannot be read: permission denied", []string{claude}, true},
		{"a managed file more", dropIn, none, rules("-x"), []string{folder}, false},
		{"a managed file less", dropIn, rules("-x"), none, []string{dropIn, folder}, true},
		{"a managed file that others may write now", managed, rules("-x"), rules("-unsafe"), []string{managed}, false},
	} {
		files := map[string]string{}
		put := func(text string) {
			if delete(files, c.file); text != none {
				files[c.file] = text
			}
		}
		put(c.was)
		cfg := first2(New(Flags{}, with(env(nil), files), 1000))
		put(c.is)
		names, half := cfg.Stale()
		if !slices.Equal(names, c.names) || half != c.half {
			t.Errorf("%s: %q, half %v", c.name, names, half)
		}
		cfg, _ = cfg.Reload(names)
		if names, _ := cfg.Stale(); len(names) > 0 {
			t.Errorf("%s: %q after they were read", c.name, names)
		}
	}
}

// A directory that a trusted project took into the workspace has rules of its
// own, which must not go when the agent takes it out again.
func TestDenyRulesOutliveTheirDirectory(t *testing.T) {
	other := nativetest.Name("/a/.claude/settings.json")
	files := map[string]string{project: asFile(keyDirectories, `["/a"]`), other: rules("-x +y")}
	c := first2(New(Flags{TrustProject: new(true)}, with(env(nil), files), 1000))
	if summary(c) != "-x +y dir:"+nativetest.Name("/a") {
		t.Fatal(summary(c))
	}
	files[project] = "{}"
	for range 3 {
		if c, _ = c.Reload(nil); summary(c) != "-x" {
			t.Error(summary(c))
		}
	}
	files[project] = asFile(keyDirectories, `["/a"]`)
	if c, _ = c.Reload(nil); summary(c) != "-x" {
		t.Error(summary(c))
	}
	// The user may bring it back; what it allows waits all the same.
	files[userOwn] = asFile(keyDirectories, `["/a"]`)
	if c, _ = c.Reload(nil); summary(c) != "-x dir:"+nativetest.Name("/a") {
		t.Error(summary(c))
	}
}

func TestOldConfigsStayAsTheyAre(t *testing.T) {
	files := map[string]string{claude: rules("-x -y +a +b")}
	c := first2(New(Flags{}, with(env(nil), files), 1000))
	before := fmt.Sprintf("%+v", visible(c))
	for _, text := range []string{rules("-z"), "{", rules("+b ?q"), rules("")} {
		files[claude] = text
		c.Reload(nil)
	}
	if after := fmt.Sprintf("%+v", visible(c)); after != before {
		t.Errorf("%s\n%s", before, after)
	}
}

// Whatever happens to a file inside the workspace: deny and ask only grow,
// allow and the mode only shrink, and no allow rule counts that is not there.
func TestNothingLoosensByItself(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	modes := []string{"bypassPermissions", "acceptEdits", "default", "dontAsk", "plan"}
	some := func() []string {
		var out []string
		for _, w := range []string{"a", "b", "c"} {
			if r.IntN(2) == 0 {
				out = append(out, fmt.Sprintf("%q", w))
			}
		}
		return out
	}
	text := func() string {
		switch r.IntN(6) {
		case 0:
			return none
		case 1:
			return "{"
		}
		return fmt.Sprintf(`{"permissions": {"deny": [%s], "ask": [%s], "allow": [%s], "defaultMode": %q}}`,
			strings.Join(some(), ","), strings.Join(some(), ","), strings.Join(some(), ","), modes[r.IntN(len(modes))])
	}
	for range 1000 {
		files := map[string]string{}
		set := func() {
			delete(files, project)
			if s := text(); s != none {
				files[project] = s
			}
		}
		set()
		c := first2(New(Flags{}, with(env(nil), files), 1000))
		for range 5 {
			set()
			next, _ := c.Reload([]string{project})
			if lacking(rulesIn(c.Rules, perm.Deny), next.Rules)+lacking(rulesIn(c.Rules, perm.Ask), next.Rules)+lacking(rulesIn(next.Rules, perm.Allow), c.Rules) > 0 || rank(next.Mode) < rank(c.Mode) {
				t.Fatalf("%s became %s by %q", summary(c), summary(next), files[project])
			}
			now := Parse(SettingsFile{Name: project}, []byte(files[project]))
			if missing := lacking(rulesIn(now.Rules, perm.Deny), next.Rules) + lacking(rulesIn(now.Rules, perm.Ask), next.Rules); missing > 0 {
				t.Fatalf("%s lacks what %q says", summary(next), files[project])
			}
			if now.Broken == nil && lacking(rulesIn(next.Rules, perm.Allow), now.Rules) > 0 {
				t.Fatalf("%s allows what %q does not", summary(next), files[project])
			}
			c = next
		}
	}
}
