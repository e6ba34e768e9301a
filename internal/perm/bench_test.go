package perm

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
)

// manyRules mixes the shapes that people write, n of them.
func manyRules(n int) (rules []RuleText) {
	shapes := []string{
		"secret-%d.txt", "*.ext%d", "dir%d/**", "//srv/data%d/**", "~/private%d/*.key", "/gen%d/*/out",
		"**/build%d/**", "conf%d-*/[a-z]*.json", "tmp-?%d", "*%d*/x",
	}
	lists := []List{Deny, Ask, Allow}
	for i := range n {
		spec := fmt.Sprintf(shapes[i%len(shapes)], i)
		tool := []string{"Read", "Edit"}[i/3%2]
		rules = append(rules, rule(lists[i%3], tool+"("+spec+")", ownUser))
	}
	return rules
}

// wildRules are the worst shape: every rule has to be held against every segment.
func wildRules(n int) (rules []RuleText) {
	for i := range n {
		rules = append(rules, rule(Deny, fmt.Sprintf("Read(*w%dx*)", i), ownUser))
	}
	return rules
}

const deepPath = project + "/internal/server/handlers/v2/users/profile_handler.go" // ten segments with the anchor

func BenchmarkDecide(b *testing.B) {
	for _, c := range []struct {
		name  string
		rules []RuleText
		op    Op
		names []string
	}{
		{"NoRulesRead", nil, Read, []string{deepPath}},
		{"NoRulesWrite", nil, Write, []string{deepPath}},
		{"NoRulesAsk", nil, Read, []string{"/srv/a/b/c/d/e/f/g/h/i"}},
		{"TenRules", manyRules(10), Edit, []string{deepPath}},
		{"ThousandRulesRead", manyRules(1000), Read, []string{deepPath}},
		{"ThousandRulesEdit", manyRules(1000), Edit, []string{deepPath}},
		{"ThousandRulesLink", manyRules(1000), Edit, []string{deepPath, project + "/other/place/of/the/same/file.go"}},
		{"ThousandRulesUpperCase", manyRules(1000), Edit, []string{strings.ToUpper(deepPath)}},
		{"ThousandRulesUnicode", manyRules(1000), Edit, []string{deepPath + "\u00e9"}},
		{"ThousandWildcards", wildRules(1000), Read, []string{deepPath}},
		{"ThousandProtected", admittingRules(1000), Write, []string{project + "/a/b/c/d/.vscode/e/tasks.json"}},
	} {
		config := testConfig(c.rules...)
		config.Mode = AcceptEdits
		p, _ := Compile(config)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Decide(c.op, c.names, noHead)
			}
		})
	}
}

func admittingRules(n int) (rules []RuleText) {
	for i := range n {
		rules = append(rules, rule(Allow, fmt.Sprintf("Edit(**/.vscode/x%d/**)", i), ownUser))
	}
	return rules
}

func BenchmarkCompile(b *testing.B) {
	c := testConfig(manyRules(1000)...)
	b.ReportAllocs()
	for b.Loop() {
		Compile(c)
	}
}

// TestHostileInput gives long names to patterns that make a careless matcher
// take forever. The bound is loose: it is missed by orders of magnitude or not at all,
// and judged by the fastest of several tries, as the machine may hold up some.
func TestHostileInput(t *testing.T) {
	long := strings.Repeat("a", 4000)
	deepest := strings.Repeat("/a", 2000)
	for _, c := range []struct{ rule, path string }{
		{"Read(" + strings.Repeat("*a", 1500) + "b)", project + "/" + long},
		{"Read(" + strings.Repeat("*", 3000) + "b)", project + "/" + long},
		{"Read(" + strings.Repeat("a*?", 500) + "b)", project + "/" + long},
		{"Read(//" + strings.Repeat("**/a/", 400) + "b)", deepest},
		{"Read(//" + strings.Repeat("**/*/", 400) + "b)", deepest},
		{"Read(//" + strings.Repeat("*/", 1500) + "b)", deepest},
		{"Read(" + strings.Repeat("[", 2000) + ")", project + "/" + long},
		{"Read(" + strings.Repeat("[!a-z]", 500) + "*)", project + "/" + long},
		{"Read(" + strings.Repeat("a**/", 1000) + "b)", deepest},
		{strings.Repeat("*R", 1000), project + "/a"},
		{"Read(" + strings.Repeat("\u200b", 2000) + "*)", project + "/" + strings.Repeat("\u200b", 1300)},
		{strings.Repeat("Raed", 2000), project + "/a"},
	} {
		best := time.Hour
		for n := 0; n < 10 && best > time.Second; n++ {
			start := time.Now()
			p, _ := Compile(testConfig(rule(Deny, c.rule, ownUser)))
			p.Decide(Read, []string{c.path}, noHead)
			best = min(best, time.Since(start))
		}
		if best > time.Second {
			t.Errorf("%.40s…: %v at best", c.rule, best)
		} else {
			t.Logf("%.40s…: %v", c.rule, best)
		}
	}
}

// hostileRules are the most that a project's file may bring, in shapes that cost
// the most to match.
func hostileRules(shape string) (rules []RuleText) {
	parts := 0
	for i := 0; len(rules) < 2000; i++ {
		spec := strings.ReplaceAll(shape, "%d", strconv.Itoa(i))
		for _, part := range []string{"/", "*", "?", "["} {
			parts += strings.Count(spec, part)
		}
		if parts > 16<<10 || len(spec) > 1000 {
			break
		}
		rules = append(rules, rule(Deny, "Read("+spec+")", claudeProject))
	}
	return rules
}

// TestWorkIsBounded: no rules and no name take more than a look-up may cost, and
// where it is given up, the file is denied. What people have costs next to nothing.
func TestWorkIsBounded(t *testing.T) {
	long := project + strings.Repeat("/"+strings.Repeat("a", 250), 15)
	deepest := project + strings.Repeat("/ae", 1300)
	for _, c := range []struct {
		shape, name string
		spent       bool
	}{
		{"*%d*", deepPath, false},
		{"*" + strings.Repeat("[a-z]", 7) + "[Q%d]", deepPath, false},
		{"*" + strings.Repeat("[a-z]", 7) + "[Q%d]", long, true},
		{"*" + strings.Repeat("[a-z]", 190) + "[Q%d]", long, true},
		{"**/[!%d]*/x", deepPath, false},
		{"**/[!%d]*/x", deepest, true},
		{"**/[!%d]*/" + strings.Repeat("**/[!q]*/", 100) + "x", deepPath, false},
		{"**/[!%d]*/" + strings.Repeat("**/[!q]*/", 100) + "x", deepest, true},
		{"%d" + strings.Repeat("a**/", 240) + "x", deepest, false},
	} {
		rules := hostileRules(c.shape)
		p, _ := Compile(testConfig(rules...))
		w := new(walk)
		p.strict.find(w, c.name, glob.FoldStrict(c.name), false, Read, nil)
		if w.spent() != c.spent || !c.spent && w.left < maxWork/2 {
			t.Errorf("%d rules %.30s on %.60s: spent %v, %d of %d left", len(rules), c.shape, c.name, w.spent(), w.left, maxWork)
		}
		d := p.Decide(Read, []string{c.name}, noHead)
		if got := d.Verdict == Deny && d.Reason == ReasonSpent; got != c.spent {
			t.Errorf("%.30s on %.60s: %s by %s", c.shape, c.name, d.Verdict, d.Reason)
		}
	}
	for n, rules := range map[int][]RuleText{1000: wildRules(1000), 10_000: manyRules(10_000)} {
		p, _ := Compile(testConfig(rules...))
		w := new(walk)
		p.strict.find(w, deepPath, deepPath, false, Read, nil)
		if w.left < maxWork*9/10 {
			t.Errorf("%d rules: %d of %d left", n, w.left, maxWork)
		}
	}
}

// What was not looked at may deny or ask, and never allows.
func TestSpentIsStrict(t *testing.T) {
	name := project + strings.Repeat("/ae", 1300)
	for _, list := range []List{Deny, Ask, Allow} {
		for mode := AcceptEdits; mode <= Bypass; mode++ {
			rules := hostileRules("**/[!%d]*/x")
			for i := range rules {
				rules[i].List, rules[i].Text, rules[i].Source = list, strings.Replace(rules[i].Text, "Read(", "Edit(", 1), ownUser
			}
			// A match that comes before the look-up is given up decides as ever.
			rules = append(rules, rule(Deny, "Edit(/ae/denied)", claudeProject))
			c := testConfig(rules...)
			c.Mode = mode
			p, _ := Compile(c)
			d := p.Decide(Edit, []string{name}, noHead)
			if spent := d.Verdict == Deny && d.Reason == ReasonSpent; spent != (list != Allow) {
				t.Errorf("%s rules in %s: %s by %s", list, mode, d.Verdict, d.Reason)
			}
			if d.Reason == ReasonAllowRule {
				t.Errorf("allowed by %s", d.Rule)
			}
			if asks := p.Asks(Edit, []string{name}); asks != (list != Allow) {
				t.Errorf("%s rules: asked for %v", list, asks)
			}
			if d := p.Decide(Edit, []string{project + "/ae/denied"}, noHead); d.Reason != ReasonDenyRule {
				t.Errorf("%s by %s", d.Verdict, d.Reason)
			}
		}
	}
}
