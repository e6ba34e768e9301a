package perm

import (
	"slices"
	"testing"
)

func TestPasteLines(t *testing.T) {
	mode := func(m Mode) func(*Config) { return func(c *Config) { c.Mode = m } }
	for _, c := range []struct {
		name  string
		rules []RuleText
		set   func(*Config)
		op    Op
		names string
		want  []string
	}{
		{name: "read outside", op: Read, names: "/srv/a", want: []string{"Read(//srv/a)"}},
		{name: "write inside", op: Write, names: "P/a", want: []string{"Edit(//home/u/proj/a)"}},
		{name: "in dontAsk", set: mode(DontAsk), op: NotebookEdit, names: "P/a", want: []string{"Edit(//home/u/proj/a)"}},
		{name: "special characters", op: Read, names: `/a*?[b]\c(d).x`, want: []string{`Read(//a\*\?\[b]\\c(d).x)`}},
		{name: "the file-system root", op: Read, names: "/"},
		{name: "what JSON cannot hold", op: Read, names: "/a\xff"},
		{name: "deny rule", rules: []RuleText{rule(Deny, "Read(//srv/a)", ownUser)}, op: Read, names: "/srv/a"},
		{name: "ask rule", rules: []RuleText{rule(Ask, "Read(//srv/a)", ownUser)}, op: Read, names: "/srv/a"},
		{name: "plan mode", set: mode(Plan), op: Write, names: "P/a"},
		{name: "system", op: Read, names: "/proc/1/maps"},
		{name: "broken settings", set: func(c *Config) { c.Broken = []BrokenFile{{Name: "x"}} }, op: Read, names: "P/a"},
		{name: "link: both names", op: Read, names: "P/l /srv/a", want: []string{"Read(//home/u/proj/l)", "Read(//srv/a)"}},
		{name: "link: the one not covered", rules: []RuleText{rule(Allow, "Read(l)", ownUser)}, op: Read, names: "P/l /srv/a", want: []string{"Read(//srv/a)"}},
		{name: "protected", set: mode(AcceptEdits), op: Edit, names: "P/.git/config", want: []string{"Edit(//home/u/proj/.git/config)"}},
		{name: "protected behind a link", set: mode(AcceptEdits), op: Edit, names: "P/l P/.git/config", want: []string{"Edit(//home/u/proj/.git/config)"}},
		{name: "protected behind a link, nothing allowed", op: Edit, names: "P/l P/.git/config",
			want: []string{"Edit(//home/u/proj/l)", "Edit(//home/u/proj/.git/config)"}},
		{name: "protected, allowed by the project alone", rules: []RuleText{rule(Allow, "Edit(.git/**)", ownProject)}, op: Edit, names: "P/.git/config",
			want: []string{"Edit(//home/u/proj/.git/config)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := testConfig(c.rules...)
			if c.set != nil {
				c.set(&config)
			}
			p, _ := Compile(config)
			d := p.Decide(c.op, namesOf(c.names), noHead)
			if d.Verdict == Allow || !slices.Equal(d.PasteLines, c.want) {
				t.Errorf("%s by %s, lines %q, want %q", d.Verdict, d.Reason, d.PasteLines, c.want)
			}
			if (d.PasteLine != "") != (len(c.want) == 1) || d.PasteLine != "" && d.PasteLine != c.want[0] {
				t.Errorf("line %q of %q", d.PasteLine, c.want)
			}
			tryLines(t, config, d, c.op, namesOf(c.names))
		})
	}
}

// tryLines pastes what a decision offers into the user's own file: it must help.
func tryLines(t *testing.T, c Config, d Decision, op Op, names []string) {
	t.Helper()
	if len(d.PasteLines) == 0 {
		return
	}
	c.Rules = slices.Clone(c.Rules)
	for _, line := range d.PasteLines {
		c.Rules = append(c.Rules, rule(Allow, line, ownUser))
	}
	p, ws := Compile(c)
	if d := p.Decide(op, names, noHead); d.Verdict != Allow {
		t.Errorf("with %v: %s of %q: %s by %s; %v", c.Rules, op, names, d.Verdict, d.Reason, ws)
	}
}

// FuzzPasteLine checks that the line offered for a path allows that path and
// nothing beside it.
func FuzzPasteLine(f *testing.F) {
	for _, s := range []string{"/a", "/a b ", "/[x]*?\\", "/a)b(", "/!x/#y", "/ ", "/\\ ", "/~/.", "/.git/x", "/é\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		c := testConfig()
		c.Workspace = nil
		p, _ := Compile(c)
		d := p.Decide(Write, []string{path}, noHead)
		if d.PasteLine == "" || path[len(path)-1] == '/' {
			return
		}
		tryLines(t, c, d, Write, []string{path})
		c.Rules = []RuleText{rule(Allow, d.PasteLine, ownUser)}
		p, _ = Compile(c)
		for _, other := range []string{path + "x", path[:len(path)-1], path + " ", "/x" + path} {
			if _, within := below(other, path); within {
				continue // the line covers what lies below, should the path be a directory
			}
			if d := p.Decide(Write, []string{other}, noHead); d.Verdict == Allow {
				t.Errorf("the line %q for %q allows %q too", c.Rules[0].Text, path, other)
			}
		}
	})
}
