package settings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/perm"
)

// manyRules writes a file with n deny rules made from a format of one number.
func manyRules(n int, format string) string {
	var words []string
	for i := range n {
		words = append(words, fmt.Sprintf("%q", fmt.Sprintf(format, i)))
	}
	return `{"permissions": {"deny": [` + "\n" + strings.Join(words, ",\n") + "]}}"
}

// TestOverfullProjectFiles: beyond the bounds a project's file counts as broken,
// and the user's own does not.
func TestOverfullProjectFiles(t *testing.T) {
	long := "Read(" + strings.Repeat("a", maxRuleBytes-len("Read()"))
	for _, c := range []struct {
		name, text string
		line       int
		why        string // "": it is taken
	}{
		{"as many as are taken", manyRules(maxRules, "Read(%d)"), 0, ""},
		{"one more", manyRules(maxRules+1, "Read(%d)"), maxRules + 2, "has more than 2000 permission rules"},
		{"in all lists together", fmt.Sprintf(`{"permissions": {"allow": [%[1]s], "ask": [%[1]s]}}`, strings.Repeat(`"Read(a)",`, maxRules/2)+`"Edit(b)"`), 1, "has more than 2000 permission rules"},
		{"as long as is taken", fmt.Sprintf(`{"permissions": {"deny": [%q]}}`, long+")"), 0, ""},
		{"one byte longer", fmt.Sprintf("{\"permissions\": {\n\"deny\": [%q]}}", long+"a)"), 2, "has a permission rule of more than 1024 bytes"},
		{"as many parts as are taken", manyRules(1024, "Read(**/?*/[a]*/**/%d/**/)"), 0, ""},
		{"more parts", manyRules(1025, "Read(**/?*/[a]*/**/%d/**/)"), 1026, "has permission rules with more than 16384 slashes and wildcards together"},
		{"rules for commands", manyRules(maxRules+1, "Bash(echo %d "+strings.Repeat("a", 500)+")"), 0, ""},
		{"a long rule for a command", fmt.Sprintf(`{"permissions": {"allow": [%q]}}`, "Bash("+strings.Repeat("*/", 20_000)+")"), 0, ""},
	} {
		for file, project := range map[string]bool{claude: true, claudeLocal: true, userClaude: false} {
			s := with(env(nil), map[string]string{file: c.text})
			s.FileRule = func(rule string) bool { return !strings.HasPrefix(rule, "Bash(") }
			cfg, warnings, _ := New(Flags{}, s, 1000)
			switch rules := len(cfg.Rules); {
			case !project || c.why == "":
				if len(cfg.Broken) > 0 || rules == 0 {
					t.Errorf("%s in %s: %d rules, broken %v", c.name, file, rules, cfg.Broken)
				}
			case len(cfg.Broken) != 1 || cfg.Broken[0] != perm.BrokenFile{Name: file, Line: c.line, Why: c.why} || rules > 0:
				t.Errorf("%s in %s: %d rules, broken %v", c.name, file, rules, cfg.Broken)
			case len(warnings) != 1 || !strings.Contains(warnings[0], c.why):
				t.Errorf("%s: warnings %q", c.name, warnings)
			}
		}
	}
}

// A project's rules do not add up without end while fsmcp runs, since those that
// were removed still hold.
func TestRulesThatHoldAreCounted(t *testing.T) {
	files := map[string]string{claude: manyRules(1500, "Read(a%d)")}
	cfg := first2(New(Flags{}, with(env(nil), files), 1000))
	files[claude] = manyRules(400, "Read(b%d)")
	if cfg, _ = cfg.Reload(nil); len(cfg.Broken) > 0 || len(rulesIn(cfg.Rules, perm.Deny)) != 1900 {
		t.Fatalf("%d rules, broken %v", len(rulesIn(cfg.Rules, perm.Deny)), cfg.Broken)
	}
	files[claude] = manyRules(400, "Read(c%d)")
	for range 3 {
		if cfg, _ = cfg.Reload(nil); len(cfg.Broken) != 1 || len(rulesIn(cfg.Rules, perm.Deny)) != 1900 || !strings.HasSuffix(cfg.Broken[0].Why, "until a restart") {
			t.Fatalf("%d rules, broken %v", len(rulesIn(cfg.Rules, perm.Deny)), cfg.Broken)
		}
	}
	files[claude] = manyRules(400, "Read(b%d)")
	if cfg, _ = cfg.Reload(nil); len(cfg.Broken) > 0 || len(rulesIn(cfg.Rules, perm.Deny)) != 1900 {
		t.Fatalf("mended: %d rules, broken %v", len(rulesIn(cfg.Rules, perm.Deny)), cfg.Broken)
	}
}
