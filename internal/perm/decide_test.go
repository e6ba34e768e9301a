package perm

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The cases of the order of decision that the conformance table leaves out.
func TestOrderOfDecision(t *testing.T) {
	denyEnv := rule(Deny, "Read(.env)", ownUser)
	askX := rule(Ask, "Edit(x)", ownUser)
	allowAll := rule(Allow, "Edit(//**)", ownUser)
	broken := func(c *Config) { c.Broken = []BrokenFile{{Name: "/s.json", Line: 3, Why: "no value"}} }
	mode := func(m Mode) func(*Config) { return func(c *Config) { c.Mode = m } }
	plan := func(file string) func(*Config) { return func(c *Config) { c.Mode, c.PlanFile = Plan, file } }
	grant := func(op Op, path string) *GrantSet {
		g := &GrantSet{}
		g.Grant(op, path)
		return g
	}
	for _, c := range []struct {
		name   string
		rules  []RuleText
		set    func(*Config)
		grants *GrantSet
		op     Op
		names  string // project is P, names are separated by blanks
		want   Verdict
		why    Reason
	}{
		{name: "a grant opens what would be asked", grants: grant(Edit, "/srv/a"), op: Write, names: "/srv/a", want: Allow, why: ReasonGrant},
		{name: "a grant is for one group", grants: grant(Edit, "/srv/a"), op: Read, names: "/srv/a", want: Ask, why: ReasonMode},
		{name: "a grant is for one path", grants: grant(Read, "/srv/a"), op: Read, names: "/srv/b", want: Ask, why: ReasonMode},
		{name: "a grant is for the resolved path", grants: grant(Read, "/srv/a"), op: Read, names: "/l /srv/a", want: Allow, why: ReasonGrant},
		{name: "a grant is not for the link", grants: grant(Read, "/l"), op: Read, names: "/l /srv/a", want: Ask, why: ReasonMode},
		{name: "deny beats a grant", rules: []RuleText{denyEnv}, grants: grant(Read, project+"/.env"), op: Read, names: "P/.env", want: Deny, why: ReasonDenyRule},
		{name: "a grant beats ask", rules: []RuleText{askX}, grants: grant(Edit, project+"/x"), op: Edit, names: "P/x", want: Allow, why: ReasonGrant},
		{name: "a grant reaches a protected path", grants: grant(Edit, project+"/.git/config"), op: Edit, names: "P/.git/config", want: Allow, why: ReasonGrant},
		{name: "plan mode beats a grant", set: mode(Plan), grants: grant(Edit, project+"/x"), op: Edit, names: "P/x", want: Deny, why: ReasonPlan},
		{name: "a grant beats broken settings", set: broken, grants: grant(Edit, project+"/x"), op: Edit, names: "P/x", want: Allow, why: ReasonGrant},
		{name: "a grant does not open a device", grants: grant(Read, "/dev/sda"), op: Read, names: "/dev/sda", want: Deny, why: ReasonBuiltin},

		{name: "plan file", set: plan(project + "/plan.md"), op: Write, names: "P/plan.md", want: Allow, why: ReasonPlanFile},
		{name: "plan file outside", set: plan("/tmp/plan.md"), op: Edit, names: "/tmp/plan.md", want: Allow, why: ReasonPlanFile},
		{name: "plan file in a protected folder", set: plan(home + "/.claude/plans/a.md"), op: Edit, names: home + "/.claude/plans/a.md", want: Allow, why: ReasonPlanFile},
		{name: "plan file as a link elsewhere", set: plan(project + "/plan.md"), op: Write, names: "P/plan.md /etc/passwd", want: Deny, why: ReasonPlan},
		{name: "plan file denied", rules: []RuleText{rule(Deny, "Edit(plan.md)", ownUser)}, set: plan(project + "/plan.md"), op: Write, names: "P/plan.md", want: Deny, why: ReasonDenyRule},
		{name: "plan file asked for", rules: []RuleText{rule(Ask, "Edit(plan.md)", ownUser)}, set: plan(project + "/plan.md"), op: Write, names: "P/plan.md", want: Ask, why: ReasonAskRule},
		{name: "plan mode reads outside ask", set: mode(Plan), op: Read, names: "/srv/a", want: Ask, why: ReasonMode},
		{name: "a plan file means nothing in other modes", set: func(c *Config) { c.PlanFile = "/tmp/plan.md" }, op: Write, names: "/tmp/plan.md", want: Ask, why: ReasonMode},

		{name: "broken: write", set: broken, op: Write, names: "P/a", want: Deny, why: ReasonBroken},
		{name: "broken: write although allowed", rules: []RuleText{allowAll}, set: broken, op: Write, names: "P/a", want: Deny, why: ReasonBroken},
		{name: "broken: read inside", set: broken, op: Read, names: "P/a", want: Ask, why: ReasonBroken},
		{name: "broken: read outside", set: broken, op: Read, names: "/srv/a", want: Deny, why: ReasonBroken},
		{name: "broken: link to outside", set: broken, op: Read, names: "P/l /srv/a", want: Deny, why: ReasonBroken},
		{name: "broken: bypass does not help", set: func(c *Config) { broken(c); c.Mode = Bypass }, op: Write, names: "P/a", want: Deny, why: ReasonBroken},
		{name: "broken: dontAsk read inside", set: func(c *Config) { broken(c); c.Mode = DontAsk }, op: Read, names: "P/a", want: Deny, why: ReasonBroken},
		{name: "broken: deny still tells its rule", rules: []RuleText{denyEnv}, set: broken, op: Read, names: "P/.env", want: Deny, why: ReasonDenyRule},

		{name: "bypass writes anywhere", set: mode(Bypass), op: Write, names: "/srv/a", want: Allow, why: ReasonBypass},
		{name: "bypass does not write devices", set: mode(Bypass), op: Write, names: "/dev/null", want: Deny, why: ReasonBuiltin},
		{name: "bypass does not write our own state", set: mode(Bypass), op: Write, names: home + "/.local/state/fsmcp/history/x", want: Deny, why: ReasonState},
		{name: "our own state may be read like any other file", op: Read, names: home + "/.local/state/fsmcp/history/x", want: Ask, why: ReasonMode},
		{name: "bypass does not write compiled code", set: mode(Bypass), op: Write, names: home + "/.cache/fsmcp/pdfium/list", want: Deny, why: ReasonState},
		{name: "what else is cached is no state", set: mode(Bypass), op: Write, names: home + "/.cache/other", want: Allow, why: ReasonBypass},
		{name: "our own state under a link", set: mode(Bypass), op: Edit, names: "P/l " + home + "/.local/state/fsmcp/x", want: Deny, why: ReasonState},

		{name: "/proc", rules: []RuleText{rule(Allow, "Read", ownUser)}, op: Read, names: "/proc/self/environ", want: Deny, why: ReasonBuiltin},
		{name: "/sys itself", op: Read, names: "/sys", want: Deny, why: ReasonBuiltin},
		{name: "/device is not /dev", op: Read, names: "/device", want: Ask, why: ReasonMode},
		{name: "link to a device", op: Read, names: "P/l /dev/sda", want: Deny, why: ReasonBuiltin},
		{name: "the null device is read", op: Read, names: "/dev/null", want: Allow, why: ReasonNull},
		{name: "the null device is read without a question", rules: []RuleText{rule(Ask, "Read(//**)", ownUser)}, op: Read, names: "/dev/null", want: Allow, why: ReasonNull},
		{name: "the null device is read in dontAsk", set: mode(DontAsk), op: Read, names: "/dev/null", want: Allow, why: ReasonNull},
		{name: "the null device can be denied", rules: []RuleText{rule(Deny, "Read(//dev)", ownUser)}, op: Read, names: "/dev/null", want: Deny, why: ReasonDenyRule},
		{name: "link inside to the null device", op: Read, names: "P/l /dev/null", want: Allow, why: ReasonWorkspace},
		{name: "link outside to the null device", op: Read, names: "/l /dev/null", want: Ask, why: ReasonMode},

		{name: "dontAsk read outside", set: mode(DontAsk), op: Read, names: "/srv/a", want: Deny, why: ReasonMode},
		{name: "acceptEdits honours a Read ask for reads alone", rules: []RuleText{rule(Ask, "Read(x)", ownUser)}, set: mode(AcceptEdits), op: Edit, names: "P/x", want: Allow, why: ReasonAcceptEdits},
		{name: "target allowed, link in the workspace not", rules: []RuleText{rule(Allow, "Read(//etc/hosts)", ownUser)}, op: Read, names: "P/l /etc/hosts", want: Ask, why: ReasonMode},

		{name: "no name", op: Read, want: Deny, why: ReasonBadName},
		{name: "relative name", op: Read, names: "a", want: Deny, why: ReasonBadName},
		{name: "name with a parent segment", op: Read, names: "P/../x", want: Deny, why: ReasonBadName},
		{name: "name with an empty segment", op: Read, names: "P//x", want: Deny, why: ReasonBadName},
		{name: "unknown operation", op: opCount, names: "P/x", want: Deny, why: ReasonBadName},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := testConfig(c.rules...)
			if c.set != nil {
				c.set(&config)
			}
			p, _ := Compile(config)
			var grants Grants
			if c.grants != nil {
				grants = c.grants
			}
			d := p.DecideGranted(c.op, namesOf(c.names), noHead, grants)
			if d.Verdict != c.want || d.Reason != c.why {
				t.Errorf("%s by %s, want %s by %s", d.Verdict, d.Reason, c.want, c.why)
			}
			if named := len(d.Broken) > 0; named != (len(config.Broken) > 0 && d.Verdict != Allow) {
				t.Errorf("broken files told: %v", d.Broken)
			}
		})
	}
}

// namesOf splits names at blanks, P being the project.
func namesOf(list string) (names []string) {
	for _, m := range strings.Fields(list) {
		if m == "P" || len(m) > 1 && m[:2] == "P/" {
			m = project + m[1:]
		}
		names = append(names, m)
	}
	return names
}

func TestQuotable(t *testing.T) {
	p, _ := Compile(testConfig(
		rule(Deny, "Read(//srv/a)", ownUser), rule(Deny, "Read(l)", ownUser), rule(Ask, "Read(//srv/b)", ownUser)))
	for _, c := range []struct {
		names, rule string
		quotable    bool
	}{
		{"P/x /srv/a", "Read(//srv/a)", false},
		{"/srv/a", "Read(//srv/a)", true},
		{"P/l /srv/a", "Read(l)", true}, // the rule on what was asked for is told first
		{"P/x P/l /srv/a", "Read(//srv/a)", false},
		{"P/x /srv/b", "Read(//srv/b)", false},
	} {
		d := p.Decide(Read, namesOf(c.names), noHead)
		if d.Rule != c.rule || d.Quotable != c.quotable {
			t.Errorf("%s: rule %s, quotable %v", c.names, d.Rule, d.Quotable)
		}
	}
}

func TestWorkspaceNames(t *testing.T) {
	c := testConfig(rule(Allow, "Edit(src/**)", ownUser), rule(Deny, "Read(a/.env)", ownUser))
	c.Workspace = []Dir{{Name: project, Real: "/data/proj"}}
	p, _ := Compile(c)
	for _, w := range []struct {
		op    Op
		names string
		want  Verdict
	}{
		{Read, "P/x /data/proj/x", Allow},
		{Read, "/data/proj/x", Allow},
		{Read, "P", Allow},
		{Read, "/data/proj-evil/x", Ask},
		{Read, "/data", Ask},
		{Edit, "P/src/a /data/proj/src/a", Allow},
		{Edit, "/data/proj/src/a", Allow},
		{Read, "/data/proj/a/.env", Deny},
	} {
		if d := p.Decide(w.op, namesOf(w.names), noHead); d.Verdict != w.want {
			t.Errorf("%s of %s: %s by %s, want %s", w.op, w.names, d.Verdict, d.Reason, w.want)
		}
	}
	if !p.Inside("/data/proj/x") || p.Inside("/data/projx") || p.Inside("x") {
		t.Error("Inside goes by something else than whole segments")
	}
}

func TestRootAsWorkspace(t *testing.T) {
	c := testConfig(rule(Deny, "Read(.env)", ownUser))
	c.Workspace = []Dir{{Name: "/", Real: "/"}}
	p, _ := Compile(c)
	for path, want := range map[string]Verdict{"/srv/a": Allow, "/": Allow, "/srv/.env": Deny, "/.env": Deny} {
		if d := p.Decide(Read, []string{path}, noHead); d.Verdict != want {
			t.Errorf("%s: %s by %s", path, d.Verdict, d.Reason)
		}
	}
	if d := p.Decide(Write, []string{"/HEAD"}, noHead); d.Reason != ReasonProtected {
		t.Errorf("/HEAD: %s by %s", d.Verdict, d.Reason)
	}
}

func TestNoWorkspace(t *testing.T) {
	c := testConfig(rule(Deny, "Read(.env)", ownUser), rule(Deny, "Read(a)", ownUser))
	c.Workspace = nil
	p, ws := Compile(c)
	if d := p.Decide(Read, []string{"/a/.env"}, noHead); d.Verdict != Ask || d.PasteLine != "Read(//a/.env)" {
		t.Errorf("%s, line %q", d.Verdict, d.PasteLine)
	}
	if len(ws) != 1 || ws[0].Kind != NoAnchor || ws[0].Others != 1 {
		t.Errorf("warnings %v", ws)
	}
}

// A deny rule holds under the real name of the directory that it names through
// a link; an allow rule does not follow such a link.
func TestAliases(t *testing.T) {
	c := testConfig(
		rule(Deny, "Read(~/.ssh/**)", ownUser), rule(Deny, "Read(//tmp/s/*.key)", ownUser),
		rule(Allow, "Edit(//tmp/open/**)", ownUser), rule(Allow, "Read(~/notes)", ownUser))
	for _, want := range []string{home, home + "/.ssh", "/tmp/s"} {
		if !slices.Contains(Anchors(c), want) {
			t.Errorf("anchors %v lack %s", Anchors(c), want)
		}
	}
	c.Aliases = []Dir{{Name: home, Real: "/data/u"}, {Name: "/tmp/s", Real: "/private/s"}, {Name: "/tmp/open", Real: "/etc"}}
	p, _ := Compile(c)
	for _, w := range []struct {
		op   Op
		path string
		want Verdict
	}{
		{Read, "/data/u/.ssh/id", Deny},
		{Read, "/private/s/a.key", Deny},
		{Read, "/data/u/notes", Allow},
		{Edit, "/tmp/open/x", Allow},
		{Edit, "/etc/x", Ask},
		{Write, "/data/u/.local/state/fsmcp/x", Deny},
	} {
		if d := p.Decide(w.op, []string{w.path}, noHead); d.Verdict != w.want {
			t.Errorf("%s of %s: %s by %s, want %s", w.op, w.path, d.Verdict, d.Reason, w.want)
		}
	}
}

// A name that a directory got after the start is denied and asked for like its
// others, and allows nothing.
func TestMovedDirectoriesOnlyTighten(t *testing.T) {
	c := testConfig(
		rule(Deny, "Read(.env)", ownUser), rule(Ask, "Edit(asked)", ownUser), rule(Allow, "Read(~/notes)", ownUser), rule(Allow, "Edit(/docs/**)", ownUser))
	for _, moved := range []bool{false, true} { // as an alias it is a name like any other
		dirs := []Dir{{Name: project, Real: "/far"}, {Name: home, Real: "/data/u"}, {Name: home + "/.config/fsmcp", Real: "/dot"}}
		c.Aliases, c.Moved = dirs, nil
		if moved {
			c.Aliases, c.Moved = nil, dirs
		}
		if !slices.Equal(Anchors(c), Anchors(testConfig(c.Rules...))) {
			t.Error("what has moved changes the anchors")
		}
		p, _ := Compile(c)
		for _, w := range []struct {
			op          Op
			path        string
			alias, want Verdict
		}{
			{Read, "/far/.env", Deny, Deny},
			{Edit, "/far/asked", Ask, Ask},
			{Write, "/data/u/.local/state/fsmcp/x", Deny, Deny},
			{Read, "/far/a", Allow, Ask},
			{Read, "/data/u/notes", Allow, Ask},
			{Edit, "/dot/docs/a", Allow, Ask},
		} {
			want := w.alias
			if moved {
				want = w.want
			}
			if d := p.Decide(w.op, []string{w.path}, noHead); d.Verdict != want {
				t.Errorf("moved %v: %s of %s: %s by %s, want %s", moved, w.op, w.path, d.Verdict, d.Reason, want)
			}
		}
	}
}

func TestFolding(t *testing.T) {
	deny := func(text string) RuleText { return rule(Deny, text, ownUser) }
	for _, c := range []struct {
		rule RuleText
		path string
		want Verdict
	}{
		{deny("Read(.env)"), "/.ENV", Deny},
		{deny("Read(.ENV)"), "/.env", Deny},
		{deny("Read(.env)"), "/.e\u200bnv", Deny},        // zero width space
		{deny("Read(.env)"), "/\u202e.env", Deny},        // bidi override
		{deny("Read(.env)"), "/\uff0e\uff45nv", Deny},    // full width
		{deny("Read(caf\u00e9)"), "/cafe\u0301", Deny},   // composed and not
		{deny("Read(stra\u00dfe)"), "/STRASSE", Deny},    // sharp s
		{deny("Read(file)"), "/\ufb01le", Deny},          // ligature
		{deny("Read(*.PEM)"), "/a.pem", Deny},            // in wildcards
		{deny("Read([A-C]x)"), "/bX", Deny},              // in classes
		{deny("Read([\uff21-\uff23]x)"), "/bx", Deny},    // in classes of full width
		{deny("Read([!a]x)"), "/ax", Allow},              // a folded class stays negated
		{deny("Read([!a]x)"), "/Ax", Deny},               // but the exact spelling does match
		{deny("Read(?le)"), "/\ufb01le", Deny},           // one character, exactly
		{deny("Read(a/b)"), "/a\u2044b", Allow},          // no new separators
		{deny("Read(a/c)"), "/\u2100", Allow},            // likewise
		{deny("Read(secrets/**)"), "/SECRETS/k", Deny},   // directories
		{deny("Read(sub/x)"), "/\u200b/sub/x", Allow},    // an invisible segment stays one
		{deny("Read(//home/U/proj/a)"), "/a", Deny},      // above the workspace
		{rule(Ask, "Read(.env)", ownUser), "/.Env", Ask}, // ask folds too
		{rule(Allow, "Edit(Docs/**)", ownUser), "/docs/a", Ask},
		{rule(Allow, "Edit(caf\u00e9)", ownUser), "/cafe\u0301", Ask},
	} {
		p, _ := Compile(testConfig(c.rule))
		op := Read
		if c.rule.List == Allow {
			op = Edit
		}
		if d := p.Decide(op, []string{project + c.path}, noHead); d.Verdict != c.want {
			t.Errorf("%s %s on %q: %s, want %s", c.rule.List, c.rule.Text, c.path, d.Verdict, c.want)
		}
	}
}

func TestVolumesThatIgnoreCase(t *testing.T) {
	c := testConfig(rule(Allow, "Edit(Docs/**)", ownUser), rule(Allow, "Edit(~/.Zshrc)", ownUser), rule(Allow, "Edit(//srv/file)", ownUser),
		rule(Allow, "Edit(//srv/[A-C\uff21-\uff2a]?)", ownUser))
	c.CaseSensitive = false
	p, _ := Compile(c)
	for _, w := range []struct {
		op   Op
		path string
		want Verdict
	}{
		{Edit, project + "/docs/A", Allow},
		{Read, "/Home/U/PROJ/a", Allow},
		{Read, "/DEV/sda", Deny},
		{Edit, home + "/.zshrc", Allow},
		{Edit, "/srv/\ufb01le", Ask}, // compatibility forms are other files even there
		{Edit, "/srv/FILE", Allow},
		{Edit, "/srv/bX", Allow},
		{Edit, "/srv/fX", Ask}, // full width is another letter even there
	} {
		if d := p.Decide(w.op, []string{w.path}, noHead); d.Verdict != w.want {
			t.Errorf("%s of %s: %s by %s, want %s", w.op, w.path, d.Verdict, d.Reason, w.want)
		}
	}
}

func TestWindowsNames(t *testing.T) {
	c := Config{
		Workspace: []Dir{{Name: `C:\Users\u\proj`}}, Home: `C:\Users\u`, Mode: AcceptEdits, Windows: true,
		Rules: []RuleText{rule(Deny, "Read(//c/Windows/**)", ownUser), rule(Deny, "Read(.env)", ownUser), rule(Deny, "Read(~/.ssh/**)", ownUser)},
	}
	p, ws := Compile(c)
	if len(ws) > 0 {
		t.Error(ws)
	}
	for path, want := range map[string]Verdict{
		`C:\Users\u\proj\a`: Allow, `c:\users\U\proj\a`: Allow, `C:\Windows\x`: Deny, `C:\Users\u\proj\.ENV`: Deny,
		`C:\Users\u\.ssh\id`: Deny, `D:\x`: Ask, `proj\a`: Deny,
	} {
		if d := p.Decide(Read, []string{path}, noHead); d.Verdict != want {
			t.Errorf("%s: %s by %s, want %s", path, d.Verdict, d.Reason, want)
		}
	}
	if d := p.Decide(Read, []string{`D:\x y`}, noHead); d.PasteLine != "Read(//D:/x y)" {
		t.Errorf("line %q", d.PasteLine)
	}
	var asked []string
	p.Decide(Write, []string{`C:\Users\u\proj\hooks\x`}, func(name string) bool { asked = append(asked, name); return false })
	if want := []string{`C:\Users\u\proj\HEAD`, `C:\Users\u\proj\objects`}; !slices.Equal(asked, want) {
		t.Errorf("looked for %q", asked)
	}
}

func TestLiteralDenies(t *testing.T) {
	c := testConfig(
		rule(Deny, "Read(.env)", ownUser), rule(Deny, "Edit(//srv/a)", ownUser), rule(Deny, "Read(./b)", ownUser),
		rule(Deny, "Read(*.pem)", ownUser), rule(Deny, "Read(**/c)", ownUser), rule(Deny, "Read(d/**)", ownUser),
		rule(Ask, "Read(e)", ownUser), rule(Allow, "Read(f)", ownUser), rule(Deny, `Read(sub/g\*)`, ownUser))
	c.Workspace = append(c.Workspace, Dir{Name: "/lib"})
	p, _ := Compile(c)
	paths := func(op Op) (all []string) {
		for _, l := range p.LiteralDenies(op) {
			all = append(all, l.Path)
			if l.Decision.Verdict != Deny || l.Decision.Quotable || l.Decision.Rule == "" {
				t.Errorf("%s: %+v", l.Path, l.Decision)
			}
		}
		slices.Sort(all)
		return all
	}
	reads := []string{project + "/.env", project + "/b", project + "/sub/g*", "/lib/.env", "/lib/b", "/lib/sub/g*"}
	slices.Sort(reads)
	if got := paths(Read); !slices.Equal(got, reads) {
		t.Errorf("read: %v, want %v", got, reads)
	}
	if got := paths(Write); !slices.Contains(got, "/srv/a") || len(got) != len(reads)+1 {
		t.Errorf("write: %v", got)
	}
	c = Config{Windows: true, Workspace: []Dir{{Name: `C:\proj`}}, Rules: []RuleText{rule(Deny, "Read(.env)", ownUser), rule(Deny, "Read(//c/other/k)", ownUser)}}
	p, _ = Compile(c)
	if got := paths(Read); !slices.Equal(got, []string{`C:\other\k`, `C:\proj\.env`}) {
		t.Errorf("Windows: %q", got)
	}
	if p.LiteralDenies(opCount) != nil {
		t.Error("an unknown operation has files")
	}
}

func TestAskedFor(t *testing.T) {
	c := testConfig(rule(Ask, "Read(.env)", ownUser))
	c.Mode = Plan
	p, _ := Compile(c)
	if !p.Asks(Read, namesOf("P/l P/.env")) || p.Asks(Read, namesOf("P/x")) || !p.Asks(Read, nil) {
		t.Error("AskedFor does not go by the ask rules")
	}
}

func TestPolicyAccessors(t *testing.T) {
	c := testConfig()
	c.Mode = DontAsk
	c.Workspace = append(c.Workspace, Dir{Name: "relative"})
	p, _ := Compile(c)
	if p.Mode() != DontAsk || !slices.Equal(p.Workspace(), []Dir{{Name: project, Real: project}}) {
		t.Errorf("%s, %v", p.Mode(), p.Workspace())
	}
	// Two equal keys do not compile: no two reasons share their words.
	_ = map[Reason]bool{
		ReasonBadName: true, ReasonDenyRule: true, ReasonBuiltin: true, ReasonState: true, ReasonPlan: true, ReasonGrant: true,
		ReasonBroken: true, ReasonAskRule: true, ReasonProtected: true, ReasonBypass: true, ReasonAllowRule: true, ReasonWorkspace: true,
		ReasonAcceptEdits: true, ReasonPlanFile: true, ReasonNull: true, ReasonSpent: true, ReasonMode: true,
	}
}

func TestModes(t *testing.T) {
	for word, want := range map[string]Mode{
		"acceptEdits": AcceptEdits, "default": Default, "plan": Plan, "dontAsk": DontAsk, "bypassPermissions": Bypass,
		"auto": Default, "manual": Default,
	} {
		if m, ok := ParseMode(word); m != want || !ok {
			t.Errorf("%s: %s, %v", word, m, ok)
		}
	}
	if m, ok := ParseMode("loose"); m != Default || ok {
		t.Errorf("unknown: %s, %v", m, ok)
	}
	for _, s := range []fmt.Stringer{Op(99), Mode(99), Verdict(99), Level(99)} {
		if s.String() != "unknown" {
			t.Errorf("%T: %s", s, s)
		}
	}
}
