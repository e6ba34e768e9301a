package perm

import (
	"strings"
	"testing"
)

// TestRuleParsing decides on one file under one rule, for the spellings that
// the conformance table leaves out.
func TestRuleParsing(t *testing.T) {
	const mayRead, mustAsk, refused = Allow, Ask, Deny
	for _, c := range []struct {
		name string
		rule RuleText
		op   Op
		path string
		want Verdict
	}{
		{"blanks around", rule(Deny, " Read(.env) ", ownUser), Read, project + "/.env", refused},
		{"spec ends at the last parenthesis", rule(Deny, "Read(a(1).txt)", ownUser), Read, project + "/a(1).txt", refused},
		{"deny without its last parenthesis still denies", rule(Deny, "Read(.env", ownUser), Read, project + "/.env", refused},
		{"deny with text behind still denies", rule(Deny, "Read(.env) # x", ownUser), Read, project + "/.env", refused},
		{"allow without its last parenthesis does not allow", rule(Allow, "Read(//srv/a", ownUser), Read, "/srv/a", mustAsk},
		{"allow with text behind does not allow", rule(Allow, "Read(//srv/a) x", ownUser), Read, "/srv/a", mustAsk},
		{"empty specification denies all", rule(Deny, "Read()", ownUser), Read, project + "/x", refused},
		{"empty specification in Claude's file is its own tool", rule(Deny, "Read()", claudeUser), Read, project + "/x", mayRead},
		{"empty specification allows nothing", rule(Allow, "Read()", ownUser), Read, "/srv/a", mustAsk},
		{"negation has no meaning", rule(Deny, "Read(!.env)", ownUser), Read, project + "/.env", mayRead},
		{"an escaped ! is a character", rule(Deny, `Read(\!x)`, ownUser), Read, project + "/!x", refused},
		{"a hash is no comment", rule(Deny, "Read(#x)", ownUser), Read, project + "/#x", refused},
		{"a slip in the tool's name", rule(Deny, "Raed(.env)", ownUser), Read, project + "/.env", refused},
		{"a slip in the tool's name allows nothing", rule(Allow, "Raed(//srv/a)", ownUser), Read, "/srv/a", mustAsk},
		{"trailing blanks go", rule(Deny, "Read(.env  )", ownUser), Read, project + "/.env", refused},
		{"an escaped blank stays", rule(Deny, `Read(.env\ )`, ownUser), Read, project + "/.env ", refused},

		{"MultiEdit spec denies edits", rule(Deny, "MultiEdit(x)", ownUser), Write, project + "/x", refused},
		{"NotebookEdit spec asks for edits", rule(Ask, "NotebookEdit(x)", ownUser), Edit, project + "/x", mustAsk},
		{"Glob spec denies reading", rule(Deny, "Glob(x)", ownUser), Read, project + "/x", refused},
		{"Grep spec denies reading in Claude's file", rule(Deny, "Grep(x)", claudeUser), Read, project + "/x", refused},
		{"Grep spec asks for reading", rule(Ask, "Grep(x)", ownUser), Read, project + "/x", mustAsk},
		{"Grep spec allows nothing", rule(Allow, "Grep(//srv/a)", ownUser), Read, "/srv/a", mustAsk},
		{"bare Grep leaves Read alone", rule(Deny, "Grep", ownUser), Read, project + "/x", mayRead},
		{"Read ask leaves Edit to its mode", rule(Ask, "Read(x)", ownUser), Read, project + "/x", mustAsk},

		{"Move spec covers the new name", rule(Deny, "Move(x)", ownUser), Move, project + "/x", refused},
		{"Move spec covers the old name", rule(Ask, "Move(x)", ownUser), MoveAway, project + "/x", mustAsk},
		{"Move spec leaves Edit alone", rule(Deny, "Move(x)", ownUser), Edit, project + "/x", mustAsk},
		{"Move spec leaves Delete alone", rule(Deny, "Move(x)", ownUser), Delete, project + "/x", mustAsk},
		{"Delete spec covers the old name of a Move", rule(Deny, "Delete(x)", claudeUser), MoveAway, project + "/x", refused},
		{"Delete spec leaves the new name alone", rule(Deny, "Delete(x)", ownUser), Move, project + "/x", mustAsk},
		{"bare Delete covers removals", rule(Deny, "Delete", ownUser), Delete, project + "/x", refused},
		{"bare Delete in Claude's file, which has no such tool", rule(Deny, "Delete", claudeUser), Delete, project + "/x", refused},
		{"Delete allows nothing", rule(Allow, "Delete(//srv/a)", ownUser), Delete, "/srv/a", mustAsk},
		{"Move allows nothing", rule(Allow, "Move", ownUser), Move, "/srv/a", mustAsk},
		{"bare Edit deny covers Delete", rule(Deny, "Edit", ownUser), Delete, project + "/x", refused},
		{"bare Edit deny covers Move", rule(Deny, "Edit", ownUser), Move, project + "/x", refused},
		{"bare Edit deny covers MultiEdit", rule(Deny, "Edit", ownUser), MultiEdit, project + "/x", refused},
		{"Edit allow covers Delete", rule(Allow, "Edit(//srv/a)", ownUser), Delete, "/srv/a", Allow},
		{"bare MultiEdit deny is MultiEdit alone", rule(Deny, "MultiEdit", ownUser), Edit, project + "/x", mustAsk},
		{"bare MultiEdit deny", rule(Deny, "MultiEdit", ownUser), MultiEdit, project + "/x", refused},
		{"bare Read deny stops Write", rule(Deny, "Read", ownUser), Write, project + "/x", refused},
		{"bare Read allow, anywhere", rule(Allow, "Read", ownUser), Read, "/srv/a", mayRead},
		{"bare Edit allow covers Write", rule(Allow, "Edit", ownUser), Write, "/srv/a", Allow},
		{"bare Edit allow grants Read", rule(Allow, "Edit", ownUser), Read, "/srv/a", Allow},
		{"bare Write allow is Write alone", rule(Allow, "Write", ownUser), Edit, "/srv/a", mustAsk},
		{"bare Read in Claude's file is its own tool", rule(Deny, "Read", claudeUser), Read, project + "/x", mayRead},
		{"Edit in Claude's file allows nothing here", rule(Allow, "Edit", claudeUser), Edit, "/srv/a", mustAsk},
		{"long name in Claude's file", rule(Deny, "mcp__fsmcp__Read", claudeUser), Read, project + "/x", refused},
		{"long name allows", rule(Allow, "mcp__fsmcp__Read", claudeUser), Read, "/srv/a", mayRead},
		{"all of ours in Claude's file", rule(Deny, "mcp__fsmcp__*", claudeUser), NotebookEdit, project + "/x", refused},
		{"the server's name alone", rule(Deny, "mcp__fsmcp", claudeUser), Read, project + "/x", refused},
		{"the server's name allows nothing", rule(Allow, "mcp__fsmcp", claudeUser), Read, "/srv/a", mustAsk},
		{"all of ours allow nothing", rule(Allow, "mcp__fsmcp__*", ownUser), Read, "/srv/a", mustAsk},
		{"* in Claude's file", rule(Deny, "*", claudeUser), Read, project + "/x", refused},
		{"glob over tools", rule(Deny, "*Edit", ownUser), NotebookEdit, project + "/x", refused},
		{"glob over tools meets long names in Claude's file", rule(Deny, "*Edit", claudeUser), NotebookEdit, project + "/x", refused},
		{"glob over tools does not meet its own tools there", rule(Deny, "[E]dit", claudeUser), Edit, project + "/x", mustAsk},
		{"glob over tools with files", rule(Deny, "*(.env)", claudeUser), Read, project + "/.env", refused},
		{"glob over tools with other files", rule(Deny, "*(.env)", ownUser), Read, project + "/x", mayRead},
		{"another server's tools", rule(Deny, "mcp__other__*", claudeUser), Read, project + "/x", mayRead},

		{"the root itself, deny", rule(Deny, "Read(//)", ownUser), Read, "/srv/a", refused},
		{"the root itself, allow", rule(Allow, "Read(//)", ownUser), Read, "/srv/a", mustAsk},
		{"the workspace itself, deny", rule(Deny, "Read(.)", ownUser), Read, project + "/a", refused},
		{"dot segments fall out", rule(Deny, "Read(./a/./b)", ownUser), Read, project + "/a/b", refused},
		{"parent segments lead up", rule(Deny, "Read(../other/**)", ownUser), Read, home + "/other/x", refused},
		{"no parent of a wildcard", rule(Deny, "Read(*/../x)", ownUser), Read, project + "/x", mayRead},
		{"directories only: below", rule(Deny, "Read(logs/)", ownUser), Read, project + "/a/logs/x", refused},
		{"directories only: a file", rule(Deny, "Read(logs/)", ownUser), Read, project + "/logs", mayRead},
		{"a whole tree with a slash at the end", rule(Deny, "Read(logs/**/)", ownUser), Read, project + "/a/logs/x", refused},
		{"a whole tree with a slash at the end, allow", rule(Allow, "Read(//srv/**/)", ownUser), Read, "/srv/x", mayRead},
		{"everything with a slash at the end", rule(Deny, "Read(**/)", ownUser), Read, project + "/x", refused},
		{"the folder above", rule(Deny, "Read(../**)", ownUser), Read, home + "/x", refused},
		{"directories only: known to be one", rule(Deny, "Read(logs/)", ownUser), Read, project + "/logs/", refused},
		{"a question mark is one character", rule(Deny, "Read(a?b)", ownUser), Read, project + "/aéb", refused},
		{"wildcard directory floats in deny", rule(Deny, "Read(sec*/**)", ownUser), Read, project + "/a/secrets/k", refused},
		{"wildcard directory stays in allow", rule(Allow, "Edit(sec*/**)", ownUser), Edit, project + "/a/secrets/k", mustAsk},
		{"./dir/** floats in deny", rule(Deny, "Read(./s/**)", ownUser), Read, project + "/a/s/k", refused},
		{"/dir/** does not float", rule(Deny, "Read(/s/**)", claudeProject), Read, project + "/a/s/k", mayRead},
		{"~/name does not float", rule(Deny, "Read(~/.env)", ownUser), Read, project + "/.env", mayRead},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, _ := Compile(testConfig(c.rule))
			if d := p.Decide(c.op, []string{c.path}, noHead); d.Verdict != c.want {
				t.Errorf("%s %q on %s of %s: %s by %s", c.rule.List, c.rule.Text, c.op, c.path, d.Verdict, d.Reason)
			}
		})
	}
}

func TestAnchors(t *testing.T) {
	const lib = "/home/u/lib"
	inLib := Source{Name: lib + "/.fsmcp/settings.json", Level: Project, Anchor: lib}
	for _, c := range []struct {
		name string
		rule RuleText
		op   Op
		path string
		want Verdict
	}{
		{"relative deny in every workspace directory", rule(Deny, "Read(a/b)", ownUser), Read, lib + "/a/b", Deny},
		{"bare deny in every workspace directory", rule(Deny, "Read(.env)", inLib), Read, project + "/.env", Deny},
		{"relative allow of the user: the first", rule(Allow, "Edit(a/b)", ownUser), Edit, project + "/a/b", Allow},
		{"relative allow of the user: not the second", rule(Allow, "Edit(a/b)", ownUser), Edit, lib + "/a/b", Ask},
		{"relative allow of a project: its own", rule(Allow, "Edit(a/b)", inLib), Edit, lib + "/a/b", Allow},
		{"relative allow of a project: not the first", rule(Allow, "Edit(a/b)", inLib), Edit, project + "/a/b", Ask},
		{"/path of a project: its own", rule(Deny, "Read(/a)", inLib), Read, lib + "/a", Deny},
		{"/path of a project: not another", rule(Deny, "Read(/a)", inLib), Read, project + "/a", Allow},
		{"/path of a flag: the first", rule(Deny, "Read(/a)", flagSource), Read, project + "/a", Deny},
		{"/path of a flag: not the second", rule(Deny, "Read(/a)", flagSource), Read, lib + "/a", Allow},
		{"/path of managed deny: every one", rule(Deny, "Read(/a)", managed), Read, lib + "/a", Deny},
		{"/path of managed allow: none", rule(Allow, "Edit(/a)", managed), Edit, project + "/a", Ask},
		{"//path of managed allow", rule(Allow, "Edit(//srv/a)", managed), Edit, "/srv/a", Allow},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := testConfig(c.rule)
			config.Workspace = append(config.Workspace, Dir{Name: lib, Real: lib})
			p, _ := Compile(config)
			if d := p.Decide(c.op, []string{c.path}, noHead); d.Verdict != c.want {
				t.Errorf("%s by %s, want %s", d.Verdict, d.Reason, c.want)
			}
		})
	}
}

// A bare rule for a tool that searches turns the tool off.
func TestSearchDenied(t *testing.T) {
	for _, c := range []struct {
		rule       RuleText
		glob, grep bool
	}{
		{rule(Deny, "Grep", ownUser), false, true},
		{rule(Ask, "Glob", ownUser), true, false},
		{rule(Deny, "G*", ownUser), true, true},
		{rule(Deny, "*", ownUser), true, true},
		{rule(Deny, "mcp__fsmcp__Grep", claudeUser), false, true},
		{rule(Deny, "mcp__fsmcp__G*", claudeUser), true, true},
		{rule(Deny, "Grep", claudeUser), false, false},
		{rule(Allow, "Grep", ownUser), false, false},
		{rule(Deny, "Grep(a)", ownUser), false, false},
		{rule(Deny, "Read(a)", ownUser), false, false},
	} {
		p, _ := Compile(testConfig(c.rule))
		_, glob := p.SearchDenied("Glob")
		by, grep := p.SearchDenied("Grep")
		if glob != c.glob || grep != c.grep || grep && by.Text != c.rule.Text {
			t.Errorf("%s %q: Glob %t, Grep %t by %q", c.rule.List, c.rule.Text, glob, grep, by.Text)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		rules   []RuleText
		want    WarningKind
		nearest string
	}{
		{[]RuleText{rule(Allow, "Raed(.env)", claudeUser)}, UnknownTool, "Read"},
		{[]RuleText{rule(Allow, "read", ownUser)}, UnknownTool, "Read"},
		{[]RuleText{rule(Deny, "NootebokEdti", ownUser)}, UnknownTool, "NotebookEdit"},
		{[]RuleText{rule(Deny, "Zzz", ownUser)}, UnknownTool, ""},
		{[]RuleText{rule(Deny, "Zzz", claudeUser)}, noWarning, ""},
		{[]RuleText{rule(Allow, "Bash(npm run test:*)", claudeUser)}, noWarning, ""},
		{[]RuleText{rule(Allow, "Bash(npm run test:*)", ownUser)}, OtherTool, ""},
		{[]RuleText{rule(Deny, "mcp__github__push", claudeUser)}, noWarning, ""},
		{[]RuleText{rule(Deny, "MultiEdit", ownUser)}, noWarning, ""},
		{[]RuleText{rule(Deny, "Move(a)", ownUser)}, noWarning, ""},
		{[]RuleText{rule(Ask, "Delete", claudeUser)}, noWarning, ""},
		{[]RuleText{rule(Allow, "Move(a)", ownUser), rule(Allow, "Delete", claudeUser)}, IgnoredInAllow, ""},
		{[]RuleText{rule(Deny, "Delte(a)", claudeUser)}, Malformed, ""},
		{[]RuleText{rule(Deny, "Write(a)", ownUser), rule(Ask, "MultiEdit(b)", ownUser)}, CountsAsEdit, ""},
		{[]RuleText{rule(Deny, "Grep(a)", ownUser), rule(Ask, "mcp__fsmcp__Glob(b)", ownUser)}, CountsAsRead, ""},
		{[]RuleText{rule(Deny, "Grep", ownUser)}, noWarning, ""},
		{[]RuleText{rule(Deny, "Grep", claudeUser)}, noWarning, ""},
		{[]RuleText{rule(Allow, "mcp__fsmcp__Grep", claudeUser)}, noWarning, ""},
		{[]RuleText{rule(Allow, "Grep", ownUser)}, SearchTool, ""},
		{[]RuleText{rule(Allow, "mcp__fsmcp__Glob(a)", ownUser)}, SearchTool, ""},
		{[]RuleText{rule(Allow, "Write(a)", ownUser), rule(Allow, "NotebookEdit(b)", ownUser)}, IgnoredInAllow, ""},
		{[]RuleText{rule(Deny, "Read", claudeUser), rule(Deny, "Edit", claudeUser)}, BuiltinTool, ""},
		{[]RuleText{rule(Allow, "*", ownUser)}, GlobInAllow, ""},
		{[]RuleText{rule(Deny, "Read(!x)", ownUser)}, Negated, ""},
		{[]RuleText{rule(Deny, "!Read(x)", ownUser)}, Negated, ""},
		{[]RuleText{rule(Deny, "Read(a[)", ownUser)}, MatchesNothing, ""},
		{[]RuleText{rule(Deny, "Read(*/../x)", ownUser)}, MatchesNothing, ""},
		{[]RuleText{rule(Deny, "Read(x", ownUser)}, Malformed, ""},
		{[]RuleText{rule(Deny, "(x)", ownUser)}, Malformed, ""},
		{[]RuleText{rule(Deny, "", ownUser)}, Malformed, ""},
		{[]RuleText{rule(Allow, "Edit(/a)", managed)}, NoAnchor, ""},
		{[]RuleText{rule(Deny, "Read(.env)", ownUser)}, noWarning, ""},
	} {
		_, ws := Compile(testConfig(c.rules...))
		if c.want == noWarning {
			if len(ws) != 0 {
				t.Errorf("%q: warned %q", c.rules[0].Text, ws[0])
			}
			continue
		}
		if len(ws) != 1 || ws[0].Kind != c.want || ws[0].Nearest != c.nearest || ws[0].Others != len(c.rules)-1 {
			t.Errorf("%q: warnings %+v, want one that it %s, nearest %q", c.rules[0].Text, ws, c.want, c.nearest)
		}
	}
}

func TestWarningWords(t *testing.T) {
	for list, fact := range []string{Deny: `deny rule "Raed(.env)" is not well formed; it is read as "Read(.env)"`, Allow: `allow rule "Raed(.env)" is ignored: no tool has this name (nearest: Read)`} {
		if fact == "" {
			continue
		}
		r := rule(List(list), "Raed(.env)", ownUser)
		r.Source.Line = 7
		_, ws := Compile(testConfig(r))
		if want := ownUser.Name + ":7: " + fact; len(ws) != 1 || ws[0].String() != want {
			t.Errorf("%v\nwant %s", ws, want)
		}
	}
}

func TestUntrustedProject(t *testing.T) {
	c := testConfig(
		rule(Allow, "Edit(**)", ownProject), rule(Allow, "Read", ownProject), rule(Allow, "Edit(**)", claudeProject),
		rule(Deny, "Read(.env)", claudeProject), rule(Ask, "Edit(x)", ownProject))
	c.TrustProject = false
	p, ws := Compile(c)
	if len(ws) != 2 || ws[0].Kind != Untrusted || ws[0].Others != 1 {
		t.Errorf("warnings %v, want one for each file", ws)
	}
	for path, want := range map[string]Verdict{"/a": Ask, "/.env": Deny, "/x": Ask} {
		if d := p.Decide(Edit, []string{project + path}, noHead); d.Verdict != want {
			t.Errorf("%s: %s, want %s", path, d.Verdict, want)
		}
	}
}

func TestMistakenAnchors(t *testing.T) {
	p, _ := Compile(testConfig(
		rule(Deny, "Read(/home/u/proj/.env)", claudeProject),
		rule(Deny, "Read(/docs/**)", claudeProject),
		rule(Deny, "Read(/etc/*.conf)", claudeProject),
		rule(Deny, "Read(/nowhere)", claudeProject)))
	there := map[string]bool{"/home/u/proj/.env": true, project + "/docs": true, "/docs": true, "/etc": true}
	ws := p.MistakenAnchors(func(name string) bool { return there[name] })
	var got []string
	for _, w := range ws {
		got = append(got, w.Rule.Text)
	}
	if strings.Join(got, " ") != "Read(/home/u/proj/.env) Read(/etc/*.conf)" {
		t.Errorf("warned of %v", got)
	}
}
