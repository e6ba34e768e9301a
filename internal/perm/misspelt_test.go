package perm

import (
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/conformance"
)

// TestMisspelt holds each notation against the rules that were likely meant, and
// those against what they have to match. The control: the rule as written does
// not match it.
func TestMisspelt(t *testing.T) {
	for _, c := range []struct {
		rule   string
		kind   WarningKind
		likely string // divided by " & "
		path   string // that the likely rules deny; P is the project
	}{
		{"Read( .env)", BlankAround, "Read(.env)", "P/.env"},
		{"Read(\t.env\t)", BlankAround, "Read(.env)", "P/.env"},
		{"Read(\u00a0.env)", BlankAround, "Read(.env)", "P/.env"},
		{"Read(.env\n)", BlankAround, "Read(.env)", "P/.env"},
		{`Read( .env\ )`, BlankAround, `Read(.env\ )`, "P/.env "},
		{`Read(".env")`, Quoted, "Read(.env)", "P/.env"},
		{`Read('secrets/**')`, Quoted, "Read(secrets/**)", "P/secrets/a"},
		{"Read(`.env`)", Quoted, "Read(.env)", "P/.env"},
		{"Edit(“.env”)", Quoted, "Edit(.env)", "P/.env"},
		{`Read( "$HOME/.ssh/**" )`, BlankAround, "Read(~/.ssh/**)", home + "/.ssh/id"},
		{"Read($HOME/.ssh/**)", Variable, "Read(~/.ssh/**)", home + "/.ssh/id"},
		{"Read(${HOME}/.ssh/**)", Variable, "Read(~/.ssh/**)", home + "/.ssh/id"},
		{"Read($HOME)", Variable, "Read(~/**)", home + "/a"},
		{"Edit(${workspaceFolder}/dist/**)", Variable, "Edit(./dist/**)", "P/dist/a"},
		{"Read($PWD/.env)", Variable, "Read(./.env)", "P/.env"},
		{"Read($CLAUDE_PROJECT_DIR/.env)", Variable, "Read(./.env)", "P/.env"},
		{"Read($XDG_CONFIG_HOME/gh/**)", Variable, "", ""},
		{"Read(//data/$USER/**)", Variable, "", ""},
		{"Read(a/x${NAME}.key)", Variable, "", ""},
		{"Read({.env,.envrc})", Braces, "Read(.env) & Read(.envrc)", "P/.env P/.envrc"},
		{"Edit(src/*.{ts,tsx})", Braces, "Edit(src/*.ts) & Edit(src/*.tsx)", "P/src/a.ts P/src/a.tsx"},
		{"Read({a, b}/{c,d})", Braces, "Read(a/c) & Read(a/d) & Read(b/c) & Read(b/d)", "P/a/c P/b/d"},
		{"Read(.env{,.local})", Braces, "Read(.env) & Read(.env.local)", "P/.env P/.env.local"},
		{"Read({a,{b,c}})", Braces, "Read(a) & Read(b) & Read(a) & Read(c)", "P/c"},
		{"Read(.env|.envrc)", Bar, "Read(.env) & Read(.envrc)", "P/.env P/.envrc"},
		{"Read(.env | .envrc)", Bar, "Read(.env) & Read(.envrc)", "P/.env P/.envrc"},
		{"Read(*.(pem|key))", Bar, "Read(*.pem) & Read(*.key)", "P/a.pem P/a.key"},
		{"Read(*.@(pem|key))", Bar, "Read(*.pem) & Read(*.key)", "P/a.pem P/a.key"},
		{"Read(.env), Edit(.envrc)", SeveralRules, "Read(.env) & Edit(.envrc)", "P/.env P/.envrc"},
		{"Read(.env) Read(.envrc)", SeveralRules, "Read(.env) & Read(.envrc)", "P/.env P/.envrc"},
		{"Read(a);Read(b);Edit(c)", SeveralRules, "Read(a) & Read(b) & Edit(c)", "P/a P/b P/c"},
		{"Read(a)\nWrite(b)", SeveralRules, "Read(a) & Write(b)", "P/a P/b"},
		{"Read(~)", BareHome, "Read(~/**)", home + "/a"},
		{"Read(~root/.ssh/**)", OtherHome, "Read(//root/.ssh/**)", "/root/.ssh/id"},
		{"Read(~ann/.ssh/**)", OtherHome, "Read(//home/ann/.ssh/**)", "/home/ann/.ssh/id"},
		{"Read(~u/.ssh/**)", OtherHome, "Read(~/.ssh/**)", home + "/.ssh/id"},
		{"Read(~ann)", OtherHome, "Read(//home/ann)", "/home/ann/a"},
		{"Read(file:///etc/shadow)", FileURL, "Read(//etc/shadow)", "/etc/shadow"},
		{"Read(FILE://localhost/etc/shadow)", FileURL, "Read(//etc/shadow)", "/etc/shadow"},
		{"Read(file://~/.ssh/**)", FileURL, "Read(~/.ssh/**)", home + "/.ssh/id"},
		{"Read(.env:*)", PrefixMark, "Read(.env*)", "P/.env P/.env.local"},
		{"Read(secrets/:*)", PrefixMark, "Read(secrets/**)", "P/secrets/a"},
		{"Edit(:*)", PrefixMark, "Edit(**)", "P/a"},
	} {
		denies := func(rules []string, path string) bool {
			var texts []RuleText
			for _, r := range rules {
				texts = append(texts, rule(Deny, r, ownUser))
			}
			p, _ := Compile(testConfig(texts...))
			return p.Decide(Write, []string{strings.Replace(path, "P/", project+"/", 1)}, noHead).Verdict == Deny
		}
		list := Deny
		if c.kind == BlankAround || c.kind == Quoted {
			list = Allow // in deny and ask they are dropped: TestMistypedRules
		}
		_, ws := Compile(testConfig(rule(list, c.rule, ownUser)))
		at := slices.IndexFunc(ws, func(w Warning) bool { return w.Kind == c.kind })
		if at < 0 {
			t.Errorf("%q: warnings %v", c.rule, ws)
			continue
		}
		if got := strings.Join(ws[at].Likely, " & "); got != c.likely {
			t.Errorf("%q: likely %q, want %q", c.rule, got, c.likely)
		}
		for path := range strings.SplitSeq(c.path, " P/") {
			if path = strings.TrimPrefix(path, "P/"); path != "" && path[0] != '/' {
				path = "P/" + path
			}
			if path != "" && (list == Deny && denies([]string{c.rule}, path) || !denies(ws[at].Likely, path)) {
				t.Errorf("%q on %s: denied already, or not by %q", c.rule, path, ws[at].Likely)
			}
		}
		for _, l := range ws[at].Likely {
			if _, ws := Compile(testConfig(rule(Deny, l, ownUser))); len(ws) > 0 && ws[0].Kind != CountsAsEdit {
				t.Errorf("%q: the likely rule %q is warned of: %s", c.rule, l, ws[0])
			}
		}
	}
}

// TestRealRulesAreNotMisspelt: no warning of rules that people have, nor of those
// of the conformance table.
func TestRealRulesAreNotMisspelt(t *testing.T) {
	texts := strings.Split(`Read(.env)
Read(./.env)
Read(./.env.*)
Read(.env )
Read(./secrets/**)
Read(~/.ssh/**)
Read(~/)
Read(~/.aws/credentials)
Read(//etc/**)
Read(//c/Users/u/**)
Read(//C:/Users/u/**)
Read(**/*.pem)
Edit(**/*.[jt]s)
Edit(src/routes/$types.d.ts)
Edit(app/routes/$postId.edit.tsx)
Edit(Outer$Inner.class)
Read($RECYCLE.BIN)
Edit(\$HOME/x)
Edit({{cookiecutter.project_slug}}/**)
Edit({{cookiecutter.a}}, b.md)
Edit(api/{id}/route.ts)
Edit(\{a,b\})
Edit([{,}]a)
Edit([a|b])
Edit(a\|b)
Edit(app/(auth)/login/**)
Edit(app/@modal/(.)photo/[id]/page.tsx)
Edit(app/[...slug]/page.tsx)
Read(a(1)b(2).txt)
Read(Read(1).txt)
Read(*~)
Read(#*#)
Read(.~lock.*#)
Read(~$*.docx)
Read(~notes.md)
Read(Smith, John.md)
Read(My Notes/**)
Read(it's here.md)
Read(file.txt)
Read(file:x)
Read(a:b)
Edit(notes/2024:*.md)
Edit(*)
Edit(//**)
Read(\ x)
Read
Edit
Bash(npm run test:*)
Bash(git commit -m "$MSG" | cat)
WebFetch(domain:example.com)
mcp__github__push
mcp__fsmcp__Read`, "\n")
	rows, err := conformance.Rows()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		for _, r := range row.Rules {
			texts = append(texts, r.Text)
		}
	}
	notations := []WarningKind{SeveralRules, BlankAround, Quoted, FileURL, PrefixMark, BareHome, OtherHome, Variable, Braces, Bar}
	for _, text := range texts {
		for _, list := range []List{Deny, Ask, Allow} {
			_, ws := Compile(testConfig(rule(list, text, claudeProject)))
			for _, w := range ws {
				if slices.Contains(notations, w.Kind) || w.ReadAs != "" {
					t.Errorf("%s rule %q: %s", list, text, w)
				}
			}
		}
	}
}

func TestMisspeltWords(t *testing.T) {
	for text, want := range map[string]string{
		"Read({a,b})":  `deny rule "Read({a,b})" takes the braces for part of a name; a rule has one pattern; did you mean "Read(a)" and "Read(b)"?`,
		"Read($X/key)": `deny rule "Read($X/key)" takes the variable for part of a name; a rule has the path itself`,
	} {
		_, ws := Compile(testConfig(rule(Deny, text, flagSource)))
		if len(ws) != 1 || ws[0].String() != flagSource.Name+": "+want {
			t.Errorf("%v\nwant %s", ws, want)
		}
	}
}

// A rule that is long or repeats a notation without end takes no time.
func TestMisspeltIsBounded(t *testing.T) {
	for _, text := range []string{
		"Read(" + strings.Repeat("{a,b}", 200) + ")", "Read(" + strings.Repeat("{", 500) + "a,b" + strings.Repeat("}", 500) + ")",
		"Read(" + strings.Repeat("a|", 500) + ")", "Read(" + strings.Repeat("{a,b}", 100_000) + ")", strings.Repeat("Read(a),", 120),
	} {
		if _, likely := misspelt(text, home); len(likely) > maxLikely {
			t.Errorf("%d rules for %.40s", len(likely), text)
		}
	}
}
