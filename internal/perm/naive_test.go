package perm

import (
	"math/rand/v2"
	"path"
	"strings"
	"testing"
)

// A naive model of docs/permissions.md. It takes one name and one rule after the other, and has
// no index, no masks and no anchored segments.

// naiveCovers reports whether a pattern's segments match a name's segments or those of a folder
// above it.
func naiveCovers(pattern, name []string) bool {
	switch {
	case len(pattern) == 0:
		return true
	case len(pattern) == 1 && pattern[0] == "**":
		return len(name) > 0
	case pattern[0] == "**":
		return naiveCovers(pattern[1:], name) || len(name) > 0 && naiveCovers(pattern, name[1:])
	case len(name) == 0:
		return false
	}
	ok, _ := path.Match(strings.ReplaceAll(pattern[0], "[!", "[^"), name[0])
	return ok && naiveCovers(pattern[1:], name[1:])
}

// naiveSegments are those of a name or pattern, without those that mean nothing.
func naiveSegments(name string) (out []string) {
	for segment := range strings.SplitSeq(name, "/") {
		switch {
		case segment == "" || segment == ".":
		case segment == ".." && len(out) > 0:
			out = out[:len(out)-1]
		case segment != "..":
			out = append(out, segment)
		}
	}
	return out
}

// naiveRule is a rule of a drawn configuration.
type naiveRule struct {
	list      List
	tool      string
	spec      string
	source    Source
	workspace []string
}

// matches reports whether the rule covers a name.
func (r naiveRule) matches(name string) bool {
	anchors, spec := r.workspace, r.spec
	if r.list == Allow {
		anchors = anchors[:1]
		if r.source.Level == Project {
			anchors = []string{r.source.Anchor}
		}
	}
	floats := false
	switch {
	case strings.HasPrefix(spec, "//"):
		anchors = []string{"/"}
	case strings.HasPrefix(spec, "~/"):
		anchors, spec = []string{home}, spec[2:]
	case strings.HasPrefix(spec, "/"):
		if r.source.Anchor != "" {
			anchors = []string{r.source.Anchor}
		}
		if r.list != Allow && r.source.Anchor == "" {
			anchors = r.workspace[:1]
		}
	default:
		bare, dotted := strings.CutPrefix(spec, "./")
		trimmed := strings.TrimSuffix(bare, "/")
		folder, deep := strings.CutSuffix(trimmed, "/**")
		switch {
		case !strings.Contains(trimmed, "/"):
			floats = r.list != Allow || !dotted
		case deep && !strings.Contains(folder, "/") && folder != "**":
			floats = r.list != Allow
		}
		spec = bare
		if strings.HasPrefix(spec, "..") {
			floats = false
		}
	}
	folders := strings.HasSuffix(spec, "/") && !strings.HasSuffix(spec, "**/")
	for _, anchor := range anchors {
		fixed := naiveSegments(anchor)
		pattern := naiveSegments(spec)
		for up := spec; strings.HasPrefix(up, "../"); up = up[3:] {
			fixed = fixed[:max(len(fixed)-1, 0)]
		}
		all := naiveSegments(name)
		if r.list != Allow { // in any case
			for _, list := range [][]string{fixed, pattern, all} {
				for i := range list {
					list[i] = strings.ToLower(list[i])
				}
			}
		}
		if len(all) < len(fixed) || strings.Join(all[:len(fixed)], "/") != strings.Join(fixed, "/") {
			continue
		}
		rest := all[len(fixed):]
		if folders { // something has to lie in the folder
			rest = rest[:max(len(rest)-1, 0)]
		}
		if floats {
			pattern = append([]string{"**"}, pattern...)
		}
		if naiveCovers(pattern, rest) {
			return true
		}
	}
	return false
}

// concerns reports whether the rule is consulted for an operation.
func (r naiveRule) concerns(op Op) bool {
	switch {
	case r.tool == "Read" && r.list == Deny:
		return true
	case r.tool == "Read":
		return op == Read
	}
	return op != Read || r.list == Allow
}

// naiveVerdict decides as docs/permissions.md says.
func naiveVerdict(c Config, rules []naiveRule, op Op, names []string) Verdict {
	within := func(name string) bool {
		for _, d := range c.Workspace {
			if name == d.Name || strings.HasPrefix(name, d.Name+"/") {
				return true
			}
		}
		return false
	}
	found := func(list List, name string) bool {
		for _, r := range rules {
			if r.list == list && r.concerns(op) && r.matches(name) {
				return true
			}
		}
		return false
	}
	denied, asked, allowed, inside := false, false, true, true
	for _, name := range names {
		denied, asked = denied || found(Deny, name), asked || found(Ask, name)
		allowed, inside = allowed && found(Allow, name), inside && within(name)
	}
	question := Ask
	if c.Mode == DontAsk {
		question = Deny
	}
	switch {
	case denied:
		return Deny
	case c.Mode == Plan && op != Read:
		return Deny
	case asked:
		return question
	case c.Mode == Bypass, allowed:
		return Allow
	case inside && (op == Read || c.Mode == AcceptEdits):
		return Allow
	}
	return question
}

// TestDecideIsNaive compares decisions with the naive model. The control arm changes one rule.
func TestDecideIsNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(uint64(number(t, "FSMCP_PERM_SEED", 1)), 47))
	cases := number(t, "FSMCP_PERM_CASES", 5_000)
	segments := []string{"a", "b", "A", "ab", "x.a", ".env", "lib", "*", "?", "a*", "*.a", "[ab]", "[!a]b", "**", "home", "u", "proj"}
	names := []string{"a", "b", "A", "B", "ab", "aB", "x.a", ".env", ".ENV", "lib", "c"}
	roots := []string{project, project, project, project + "-evil", project + "/lib", home, home + "/conf", "/srv", "", "/lib"}
	draw := func(from []string, least, most int) string {
		var out []string
		for range least + rng.IntN(most-least+1) {
			out = append(out, from[rng.IntN(len(from))])
		}
		return strings.Join(out, "/")
	}
	userAt := Source{Name: home + "/conf/settings.json", Level: User, Anchor: home + "/conf"}
	var verdicts [Allow + 1]int
	control := 0
	for range cases {
		c := testConfig()
		c.Workspace = append(c.Workspace, Dir{Name: "/srv/lib", Real: "/srv/lib"})
		c.Mode = []Mode{Default, AcceptEdits, Plan, DontAsk, Bypass}[rng.IntN(5)]
		dirs := []string{project, "/srv/lib"}
		var rules []naiveRule
		for range 1 + rng.IntN(4) {
			r := naiveRule{list: List(rng.IntN(3)), tool: []string{"Read", "Edit"}[rng.IntN(2)], workspace: dirs}
			r.source = []Source{userAt, ownProject, settingsFile, flagSource}[rng.IntN(4)]
			r.spec = []string{"", "", "", "./", "/", "~/", "//", "../"}[rng.IntN(8)] + draw(segments, 1, 4) + []string{"", "", "", "/", "/**"}[rng.IntN(5)]
			if rng.IntN(4) == 0 {
				r.spec = "//" + strings.TrimPrefix(roots[rng.IntN(len(roots))], "/") + "/" + draw(segments, 1, 2)
			}
			for strings.Contains(r.spec, "**/**") {
				r.spec = strings.ReplaceAll(r.spec, "**/**", "**")
			}
			rules = append(rules, r)
			c.Rules = append(c.Rules, rule(r.list, r.tool+"("+r.spec+")", r.source))
		}
		op := []Op{Read, Edit, Write}[rng.IntN(3)]
		var all []string
		for range 1 + rng.IntN(2) {
			all = append(all, roots[rng.IntN(len(roots))]+"/"+draw(names, 1, 4))
		}
		p, _ := Compile(c)
		got, want := p.Decide(op, all, noHead).Verdict, naiveVerdict(c, rules, op, all)
		verdicts[want]++
		if got != want {
			t.Errorf("%s of %q in mode %v by %+v: %s, want %s", op, all, c.Mode, c.Rules, got, want)
			return
		}
		if len(rules) > 0 {
			rules[0].list = Deny
			rules[0].spec = "//" + strings.TrimPrefix(all[0], "/")
			if p.Decide(op, all, noHead).Verdict != naiveVerdict(c, rules, op, all) {
				control++
			}
		}
	}
	t.Logf("verdicts %v; control: %d differ", verdicts, control)
	if control < cases/100 {
		t.Error("the comparison does not see another rule")
	}
}
