package perm

import (
	"fmt"
	"testing"

	"github.com/fsmcp/fsmcp/internal/conformance"
)

const (
	home    = conformance.Home
	project = conformance.Project
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
		Own:           []string{home + "/.local/state/fsmcp", home + "/.cache/fsmcp"},
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

// sourceOf is where a rule of the table stands.
func sourceOf(t *testing.T, s conformance.Source) Source {
	for _, known := range []Source{claudeProject, ownProject, claudeUser, settingsFile} {
		if known.Name == string(s) {
			return known
		}
	}
	t.Fatalf("no source %q", s)
	return Source{}
}

// TestConformance decides every row of the specification's table.
func TestConformance(t *testing.T) {
	rows, err := conformance.Rows()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 81 {
		t.Fatalf("the table has %d rows, want 81", len(rows))
	}
	lists := map[string]List{"deny": Deny, "ask": Ask, "allow": Allow}
	for _, row := range rows {
		t.Run(fmt.Sprint(row.Number, " ", row.Title), func(t *testing.T) {
			c := testConfig()
			for _, r := range row.Rules {
				c.Rules = append(c.Rules, rule(lists[r.List], r.Text, sourceOf(t, r.Source)))
			}
			for _, dir := range row.AddDirs {
				c.Workspace = append(c.Workspace, Dir{Name: dir, Real: dir})
			}
			var ok bool
			if c.Mode, ok = ParseMode(row.Mode); !ok {
				t.Fatalf("mode %q", row.Mode)
			}
			p, _ := Compile(c)
			d := p.Decide(opOf(t, row.Tool), row.Names, noHead)
			if d.Verdict.String() != row.Verdict {
				t.Errorf("%s of %s: %s (%s %s), want %s", row.Tool, row.Names, d.Verdict, d.Reason, d.Rule, row.Verdict)
			}
			if got := decidedBy(c.Mode, d); got != row.By {
				t.Errorf("decided by %q, want %q", got, row.By)
			}
		})
	}
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
	return string(d.Reason)
}
