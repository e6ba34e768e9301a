package perm

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

const (
	home    = "/home/u"
	project = "/home/u/proj"
)

// The sources that the tests' rules stand in.
var (
	claudeProject = Source{Name: project + "/.claude/settings.json", Level: Project, Anchor: project, Claude: true}
	ownProject    = Source{Name: project + "/.fsmcp/settings.json", Level: Project, Anchor: project}
	claudeUser    = Source{Name: home + "/.claude/settings.json", Level: User, Anchor: home + "/.claude", Claude: true}
	ownUser       = Source{Name: home + "/.config/fsmcp/settings.json", Level: User, Anchor: home + "/.config/fsmcp"}
	settingsFile  = Source{Name: "/opt/team/settings.json", Level: SettingsFile, Anchor: "/opt/team"}
	flagSource    = Source{Name: "--allow", Level: Flag}
	managed       = Source{Name: "/etc/claude-code/managed-settings.json", Level: Managed, Claude: true}
)

// testConfig is a trusted project on a volume that knows case.
func testConfig(rules ...RuleText) Config {
	return Config{
		Workspace:     []Dir{{Name: project, Real: project}},
		Home:          home,
		StateDir:      home + "/.local/state/fsmcp",
		Mode:          Default,
		Rules:         rules,
		CaseSensitive: true,
		TrustProject:  true,
	}
}

func rule(list List, text string, src Source) RuleText {
	return RuleText{Text: text, List: list, Source: src}
}

func noHead(string) bool { return false }

var (
	rowRule  = regexp.MustCompile("(deny|ask|allow) `([^`]*)`(?: \\[(user|settings)\\])?")
	rowExtra = regexp.MustCompile(`additionalDirectories: ([^)]+)`)
	rowPath  = regexp.MustCompile("`([^`]*)`")
	rowName  = regexp.MustCompile(`\S+`)
)

// TestConformance decides every row of the specification's table.
func TestConformance(t *testing.T) {
	text, err := os.ReadFile("testdata/conformance.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(text)), "\n")[2:]
	if len(rows) != 81 {
		t.Fatalf("the table has %d rows, want 81", len(rows))
	}
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		number, title, rules, mode, op, path, verdict, by := cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7]
		t.Run(number+" "+title, func(t *testing.T) {
			c := testConfig(rowRules(number, rules)...)
			for _, m := range rowExtra.FindAllStringSubmatch(rules, -1) {
				c.Workspace = append(c.Workspace, Dir{Name: m[1], Real: m[1]})
			}
			var ok bool
			if c.Mode, ok = ParseMode(mode); !ok {
				t.Fatalf("mode %q", mode)
			}
			p, _ := Compile(c)
			d := p.Decide(opOf(t, op), rowNames(path), noHead)
			if want := strings.Trim(verdict, "*"); d.Verdict.String() != want {
				t.Errorf("%s of %s: %s (%s %s), want %s", op, path, d.Verdict, d.Reason, d.Rule, want)
			}
			if got := decidedBy(c.Mode, d); got != by {
				t.Errorf("decided by %q, want %q", got, by)
			}
		})
	}
}

func rowRules(number, cell string) (rules []RuleText) {
	lists := map[string]List{"deny": Deny, "ask": Ask, "allow": Allow}
	for _, m := range rowRule.FindAllStringSubmatch(cell, -1) {
		src := claudeProject
		switch {
		case m[3] == "user":
			src = claudeUser
		case m[3] == "settings":
			src = settingsFile
		case number >= "46" && number <= "49":
			src = ownProject
		}
		rules = append(rules, rule(lists[m[1]], m[2], src))
	}
	return rules
}

func rowNames(cell string) (names []string) {
	for _, m := range rowPath.FindAllStringSubmatch(cell, -1) {
		names = append(names, strings.Replace(m[1], "P/", project+"/", 1))
	}
	return names
}

func opOf(t *testing.T, word string) Op {
	for op := Op(0); op < opCount; op++ {
		if op.String() == word {
			return op
		}
	}
	t.Fatalf("no operation %q", word)
	return 0
}

// decidedBy words a decision as the table does.
func decidedBy(mode Mode, d Decision) string {
	switch {
	case d.Reason == ReasonAskRule && mode == DontAsk:
		return "dontAsk+ask " + d.Rule
	case d.Rule != "":
		return d.Rule
	}
	return d.Reason.String()
}
