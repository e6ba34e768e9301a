package perm

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/perm/notation"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// slips returns the rules that one slip makes of a well-formed rule: in the tool's name,
// the parentheses, and blanks, quotes and other text around the parts. A slip within the
// pattern makes another pattern, which no program can tell from the right one.
func slips(tool, spec string) (all []string) {
	right := tool + "(" + spec + ")"
	open := len(tool)
	add := func(s string) {
		if s != right {
			all = append(all, s)
		}
	}
	flip := func(c byte) string {
		if s := string(c); s != strings.ToUpper(s) {
			return strings.ToUpper(s)
		}
		return strings.ToLower(string(c))
	}
	for i := range len(right) {
		add(right[:i] + flip(right[i]) + right[i+1:]) // in the pattern, too
	}
	add(strings.ToLower(tool) + right[open:])
	add(strings.ToUpper(tool) + right[open:])
	ends := []int{0, open, open + 1, len(right) - 1, len(right)}
	for _, at := range ends {
		for _, s := range []string{" ", "\t", "\u00a0", `"`, "'", "`", "“", "’"} {
			add(right[:at] + s + right[at:])
		}
	}
	for _, q := range []string{`""`, "''", "``"} {
		add(q[:1] + right + q[1:])
		add(tool + "(" + q[:1] + spec + q[1:] + ")")
		add(q[:1] + spec + q[1:])
		add(q[:1] + tool + q[1:] + "(" + spec + ")")
		add(tool + "( " + q[:1] + spec + q[1:] + " )")
	}
	for i := range open + 1 {
		add(right[:i] + right[i+1:])
		add(right[:i] + string(right[i+1]) + string(right[i]) + right[i+2:])
		for _, c := range "ax_" {
			add(right[:i] + string(c) + right[i:])
			if i < open {
				add(right[:i] + string(c) + right[i+1:])
			}
		}
	}
	add(strings.TrimSuffix(right, ")"))
	add(right[:len(right)-2] + ")" + right[len(right)-2:len(right)-1])
	for _, s := range []string{",", ";", ")", " # why", "x"} {
		add(right + s)
	}
	add(spec)
	return append(all, tool+": "+spec, tool+" "+spec, tool+"{"+spec+"}", tool+"["+spec+"]", tool+"（"+spec+"）")
}

// TestSlipsNeverOpen: a deny or ask rule with a slip decides at least as strictly as the
// right one, or is reported: in Claude Code's files by a warning, in fsmcp's own and in
// flags by Fault, which closes.
func TestSlipsNeverOpen(t *testing.T) {
	specs := map[string][]string{
		".env":               {project + "/.env", project + "/a/.env"},
		"./secrets/**":       {project + "/secrets/k", project + "/a/secrets/k"},
		"secrets/**/":        {project + "/secrets/k", project + "/a/secrets/k"},
		"~/.ssh/**":          {home + "/.ssh/id"},
		"//etc/**":           {"/etc/shadow"},
		"*.pem":              {project + "/a.pem", project + "/c/a.pem"},
		"My Notes/a(1).md":   {project + "/My Notes/a(1).md"},
		`odd\ `:              {project + "/odd "},
		"[.]env":             {project + "/.env"},
		"app/(auth)/[[]x].t": {project + "/app/(auth)/[x].t"},
	}
	compile := func(list List, text string, src Source) (*Policy, bool) {
		p, ws := Compile(testConfig(rule(list, text, src)))
		return p, len(ws) > 0
	}
	// silent reports where a rule is looser than the right one and nothing says so.
	silent := func(list List, right *Policy, text string, src Source, paths []string) string {
		if !src.Claude && fault(rule(list, text, src)) != "" {
			return ""
		}
		p, warned := compile(list, text, src)
		if src.Claude && warned {
			return ""
		}
		for _, path := range paths {
			for op := Read; op < opCount; op++ {
				want, got := right.Decide(op, []string{path}, noHead).Verdict, p.Decide(op, []string{path}, noHead).Verdict
				if got > want {
					return fmt.Sprintf("%s of %s: %s, not %s", op, path, got, want)
				}
			}
		}
		return ""
	}
	tried, strict := 0, 0
	for _, src := range []Source{claudeUser, ownUser, flagSource} {
		for _, tool := range []string{"Read", "Edit", "Write", "Glob", "Grep", "NotebookEdit", "Move", "Delete"} {
			for spec, paths := range specs {
				right := tool + "(" + spec + ")"
				for _, list := range []List{Deny, Ask} {
					policy, _ := compile(list, right, src)
					if why := fault(rule(list, right, src)); why != "" {
						t.Errorf("the right rule %s %q %s", list, right, why)
					}
					for _, s := range slips(tool, spec) {
						tried++
						if open := silent(list, policy, s, src, paths); open != "" {
							t.Errorf("%s rule %q in %s: %s", list, s, src.Name, open)
						}
						if src.Claude && list == Deny {
							if p, _ := compile(list, s, src); p.Decide(Write, paths[:1], noHead).Verdict == Deny {
								strict++
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d slips; in Claude Code's files %d deny as meant", tried, strict)
	// The control: a slip within the pattern is found to be open.
	right, _ := compile(Deny, "Read(.env)", ownUser)
	if silent(Deny, right, "Read(.enw)", ownUser, specs[".env"]) == "" || silent(Deny, right, "Read(.enw)", claudeUser, specs[".env"]) == "" {
		t.Error("the test sees no difference")
	}
}

// TestMistypedRules: what a mistyped rule of Claude Code's file counts as, and whether the
// same rule closes in fsmcp's own.
func TestMistypedRules(t *testing.T) {
	for _, c := range []struct {
		text, counts string // "" for a rule that is left alone
		closes       bool
	}{
		{"Read(.env)", "Read(.env)", false},
		{" Read (.env) ", "Read (.env)", false},
		{"read(.env)", "Read(.env)", true},
		{"READ(.env)", "Read(.env)", true},
		{"Raed(.env)", "Read(.env)", true},
		{"Reads(.env)", "Read(.env)", true},
		{"Read( .env)", "Read(.env)", true},
		{`Read(".env)`, "Read(.env)", true},
		{`"Read(.env)"`, "Read(.env)", true},
		{"Read(.env", "Read(.env)", true},
		{"Read.env)", "Read(.env)", true},
		{"Read(.env) # x", "Read(.env)", true},
		{".env", "Read(.env)", true},
		{"mcp__FSMCP__Read(.env)", "mcp__fsmcp__Read(.env)", true},
		{"Mcp__Fsmcp__*", "mcp__fsmcp__*", true},
		{`".env"`, "Read(.env)", true},
		{"~/.ssh/**", "Read(~/.ssh/**)", true},
		{"secrets", "Read(secrets)", true},
		{"app/(auth)/k", "Read(app/(auth)/k)", true},
		{"(.env)", "Read(.env)", true},
		{"Read（.env）", "Read(.env)", true},
		{"Read（1）.txt", "Read(1)", true}, // text behind the parenthesis
		{"Read .env", "Read(.env)", true},
		{"read: .env", "Read(.env)", true},
		{"Read[.env]", "Read(.env)", true},
		{"Read(报告（1）.pdf)", "Read(报告（1）.pdf)", false},
		{"Readme.md", "Read(Readme.md)", true},
		{"Deny Read(.env)", "Read(.env)", true},
		{"Update(.env)", "Edit(.env)", true},
		{"create(.env)", "Edit(.env)", true},
		{"Search(.env)", "Read(.env)", true},
		{"View(.env)", "Read(.env)", true},
		{"LS(.env)", "Read(.env)", true},
		{"wirte(.env)", "Edit(.env)", true},
		{"gerp(.env)", "Read(.env)", true},
		{"mcp__fsmcp__raed(.env)", "mcp__fsmcp__Read(.env)", true},
		// The built-in tool, there.
		{"Read", "", false}, {"raed", "", true}, {"Read()", "", true}, {"Read( )", "", true}, {"Update", "", true}, {"Grep", "", false},
		// Other tools.
		{"Bash(rm -rf", "", false}, {`bash("rm)`, "", false}, {"WebFetch(domain:x", "", false}, {"mcp__git__push", "", false}, {"LS", "", false}, {"Web*", "", false},
		// A tool that only a later Claude Code may have. Nothing but a mistake in fsmcp's own.
		{"Monitor(.env)", "", true}, {"Monitor", "", true},
	} {
		_, ws := Compile(testConfig(rule(Deny, c.text, claudeUser)))
		p, _ := Compile(testConfig(rule(Deny, c.text, claudeUser)))
		got := ""
		if len(p.InForce()) > 0 {
			got = strings.TrimSpace(c.text)
		}
		if len(ws) > 0 && ws[0].ReadAs != "" {
			got = ws[0].ReadAs
		}
		if got != c.counts {
			t.Errorf("%q counts as %q, want %q (%v)", c.text, got, c.counts, ws)
		}
		if why := fault(rule(Deny, c.text, claudeUser)); why != "" {
			t.Errorf("%q closes in Claude Code's file: %s", c.text, why)
		}
		for _, src := range []Source{ownUser, flagSource} {
			if why := fault(rule(Deny, c.text, src)); (why != "") != c.closes {
				t.Errorf("%q in %s: %q", c.text, src.Name, why)
			}
		}
		if why := fault(rule(Allow, c.text, ownUser)); why != "" {
			t.Errorf("%q closes as an allow rule: %s", c.text, why)
		}
	}
}

func TestFaultWords(t *testing.T) {
	for _, c := range []struct{ text, likely string }{
		{`".env"`, `; did you mean "Read(.env)"?`},
		{"raed(.env)", `; did you mean "Read(.env)"?`},
		{"Read()", `; did you mean "Read"?`},
		{"Monitor", `; did you mean "Read(Monitor)"?`},
		{"Read(a[b)", `; did you mean "Read(a\\[b)"?`},
		{`Read(a\)`, `; did you mean "Read(a)"?`},
		{"Read(*/../x)", ""},
	} {
		want := fmt.Sprintf("has the deny rule %q, which cannot be understood%s", c.text, c.likely)
		if got := fault(rule(Deny, c.text, ownUser)); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	// In Claude Code's files too, a file tool's pattern that matches nothing closes.
	for text, closes := range map[string]bool{"Read(a[b)": true, "edit(*/../x)": true, "Bash(a[b)": false, "Monitor(a[b)": false, "We[b": false} {
		if why := fault(rule(Deny, text, claudeUser)); (why != "") != closes {
			t.Errorf("%q: %q", text, why)
		}
	}
}

// TestNoRuleIsSilent: whatever its text, a deny rule in fsmcp's own file is in force, closes,
// or is one of those that are left alone with a warning: of other tools, and negated ones. In
// Claude Code's file it is in force, closes, is warned of, or has another tool's name.
func TestNoRuleIsSilent(t *testing.T) {
	pieces := []string{"Read", "Edit", "read", "Raed", "Bash", "Web", "mcp__x__y", "mcp__fsmcp__", "(", ")", "()", ".env", "/", "//", "~", "**", "*", "?", "[", "]", "!", " ", "\"", "'", `\`, "..", "é", "（", "\u200b", "x", ":"}
	rng := rand.New(rand.NewPCG(1, 23))
	kinds := map[string]int{}
	for range shortrun.Count(t, 20_000, 3000, "rules") {
		text := ""
		for range 1 + rng.IntN(6) {
			text += pieces[rng.IntN(len(pieces))]
		}
		for _, src := range []Source{ownUser, claudeUser} {
			r := rule(Deny, text, src)
			p, ws := Compile(testConfig(r))
			word := unquoted(splitRule(wideParentheses.Replace(text)).tool)
			switch foreign := isForeignTool(canonicalForeign(word)) || strings.ContainsAny(word, wildcards) || word != "" && namesTool(word); {
			case len(p.InForce()) == 1:
				kinds["in force"]++
			case fault(r) != "":
				kinds["closes"]++
			case len(ws) == 1 && (ws[0].Kind == Negated || ws[0].Kind == OtherTool || ws[0].Kind == MatchesNothing && foreign):
				kinds["left alone"]++
			case src.Claude && (len(ws) == 1 || foreign):
				kinds["of Claude Code"]++
			default:
				t.Errorf("%q in %s: %v", text, src.Name, ws)
			}
		}
	}
	t.Log(kinds)
	if len(kinds) != 4 {
		t.Errorf("only %v were met", kinds)
	}
}

// fault returns why a source with the rule counts as broken, on Linux.
func fault(r RuleText) string { return Fault(r, notation.Convention{}) }
