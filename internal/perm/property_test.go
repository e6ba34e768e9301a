package perm

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
)

// The properties below hold for whatever a user may configure. Rules and names
// are drawn from few words, so that they meet.

func randomRule(rng *rand.Rand) RuleText {
	specs := []string{
		"a", "b", ".env", "*.env", "a/**", "./a", "/a", "/a/b", "~/a", "~/a/**", "//srv", "//srv/**/a", "//**/b", "a/b", "**", "*", "?", "[ab]",
		"[!a]/b", "a/*/b", "**/a/**", ".git/**", ".git", ".vscode", "/.git/config", "A", "//srv/a", "//home/u/proj/a", "b/", "**/b/", "a**/b", "..", "a*b*",
	}
	tools := []string{"Read", "Edit", "Write", "NotebookEdit", "MultiEdit", "Move", "Delete", "*", "*Edit", "mcp__fsmcp__Read"}
	sources := []Source{claudeProject, ownProject, claudeUser, ownUser, settingsFile, flagSource, managed}
	r := RuleText{List: List(rng.IntN(3)), Source: sources[rng.IntN(len(sources))]}
	r.Text = tools[rng.IntN(len(tools))]
	if rng.IntN(8) > 0 {
		r.Text += "(" + specs[rng.IntN(len(specs))] + ")"
	}
	return r
}

func randomNames(rng *rand.Rand) (names []string) {
	roots := []string{project, project, project, home, "/srv", "/data/proj", "", "/dev/null", "/proc"}
	for range 1 + rng.IntN(3) {
		n := roots[rng.IntN(len(roots))]
		for range rng.IntN(4) {
			n += "/" + []string{"a", "b", ".env", ".git", ".vscode", "A", "x.env", "config", "HEAD", "ab", "srv"}[rng.IntN(11)]
		}
		if n == "" {
			n = "/"
		}
		names = append(names, n)
	}
	return names
}

func randomConfig(rng *rand.Rand) Config {
	c := testConfig()
	for range rng.IntN(6) {
		c.Rules = append(c.Rules, randomRule(rng))
	}
	c.Workspace = []Dir{{Name: project, Real: "/data/proj"}}
	c.Mode = Mode(rng.IntN(5))
	c.TrustProject = rng.IntN(2) == 0
	c.CaseSensitive = rng.IntN(2) == 0
	if rng.IntN(8) == 0 {
		c.Broken = []BrokenFile{{Name: "x"}}
	}
	if rng.IntN(4) == 0 {
		c.PlanFile = project + "/a"
	}
	return c
}

// eachCase makes random cases. FSMCP_PERM_CASES sets how many, FSMCP_PERM_SEED
// where to start.
func eachCase(t *testing.T, cases int, check func(t *testing.T, rng *rand.Rand, c Config, op Op, names []string)) {
	rng := rand.New(rand.NewPCG(uint64(number(t, "FSMCP_PERM_SEED", 1)), 3))
	cases = number(t, "FSMCP_PERM_CASES", cases)
	for range cases {
		c, op, names := randomConfig(rng), Op(rng.IntN(int(opCount))), randomNames(rng)
		check(t, rng, c, op, names)
		if t.Failed() {
			t.Fatalf("config %+v, %s of %q", c, op, names)
		}
	}
	t.Logf("%d cases", cases)
}

func verdict(c Config, op Op, names []string) Verdict {
	p, _ := Compile(c)
	return p.Decide(op, names, noHead).Verdict
}

func TestAddingDenyOrAskNeverLoosens(t *testing.T) {
	eachCase(t, 3000, func(t *testing.T, rng *rand.Rand, c Config, op Op, names []string) {
		before := verdict(c, op, names)
		more := randomRule(rng)
		more.List = List(rng.IntN(2)) // deny or ask
		c.Rules = slices.Insert(slices.Clone(c.Rules), rng.IntN(len(c.Rules)+1), more)
		if after := verdict(c, op, names); after > before {
			t.Errorf("%s rule %s turned %s into %s", more.List, more.Text, before, after)
		}
	})
}

func TestAllowNeverBeatsDeny(t *testing.T) {
	eachCase(t, 3000, func(t *testing.T, rng *rand.Rand, c Config, op Op, names []string) {
		p, _ := Compile(c)
		before := p.Decide(op, names, noHead)
		more := randomRule(rng)
		more.List = Allow
		c.Rules = slices.Insert(slices.Clone(c.Rules), rng.IntN(len(c.Rules)+1), more)
		p, _ = Compile(c)
		after := p.Decide(op, names, noHead)
		if before.Reason == ReasonDenyRule && after.Verdict != Deny {
			t.Errorf("allow rule %s opened what %s denies", more.Text, before.Rule)
		}
		if before.Reason == ReasonAskRule && after.Verdict > before.Verdict {
			t.Errorf("allow rule %s opened what %s asks for", more.Text, before.Rule)
		}
	})
}

func TestLinkIsAsStrictAsItsStrictestName(t *testing.T) {
	eachCase(t, 3000, func(t *testing.T, rng *rand.Rand, c Config, op Op, names []string) {
		all := verdict(c, op, names)
		for _, n := range names {
			if one := verdict(c, op, []string{n}); one < all {
				t.Errorf("%q alone: %s, together: %s", n, one, all)
			}
		}
	})
}

func TestMoreNamesNeverLoosen(t *testing.T) {
	eachCase(t, 3000, func(t *testing.T, rng *rand.Rand, c Config, op Op, names []string) {
		if verdict(c, op, names) > verdict(c, op, names[:1]) {
			t.Error("the names a link leads to opened it")
		}
	})
}

func TestPasteLinesHelp(t *testing.T) {
	offered := 0
	eachCase(t, 3000, func(t *testing.T, rng *rand.Rand, c Config, op Op, names []string) {
		p, _ := Compile(c)
		d := p.Decide(op, names, noHead)
		if len(d.PasteLines) > 0 {
			offered++
		}
		tryLines(t, c, d, op, names)
	})
	if offered == 0 {
		t.Error("no line was ever offered")
	}
}

// TestRulesTogetherLikeApart compares the index of all rules with each rule in
// an index of its own.
func TestRulesTogetherLikeApart(t *testing.T) {
	eachCase(t, 300, func(t *testing.T, rng *rand.Rand, c Config, op Op, names []string) {
		for range 30 {
			c.Rules = append(c.Rules, randomRule(rng))
		}
		c.TrustProject = true
		p, _ := Compile(c)
		n, ok := p.name(names[0], op)
		if !ok {
			t.Fatal("not a name")
		}
		n.folded = glob.FoldStrict(n.exact)
		together := p.strict.find(new(walk), n.exact, n.folded, false, op, nil)
		together[Allow] = p.allow.find(new(walk), n.exact, n.same, false, op, nil)[Allow]
		apart := noHits()
		for i := range c.Rules {
			one := c
			one.Rules = c.Rules[i : i+1]
			p, _ := Compile(one)
			h := p.strict.find(new(walk), n.exact, n.folded, false, op, nil)
			h[Allow] = p.allow.find(new(walk), n.exact, n.same, false, op, nil)[Allow]
			for list := range h {
				if h[list] != none {
					apart[list] = min(apart[list], int32(i))
				}
			}
		}
		if together != apart {
			t.Errorf("together %v, apart %v", together, apart)
		}
	})
}

// FuzzDecide looks for panics, and for a name that decides otherwise than the
// laws say, in whatever stands in a rule.
func FuzzDecide(f *testing.F) {
	for _, s := range []string{"Read(.env)", "Edit(//**/[a-z]/**)", "*(a", "Write()", "!x", "Read([[:alpha:]-", `Edit(a\`, "Read(a**/b)", "Read(../..)"} {
		f.Add(s, project+"/a/.env", uint8(0))
	}
	f.Fuzz(func(t *testing.T, text, path string, bits uint8) {
		c := testConfig()
		c.CaseSensitive = bits&1 == 0
		op := Op(bits>>1) % opCount
		before := verdict(c, op, []string{path})
		for list := Deny; list <= Allow; list++ {
			for _, src := range []Source{ownUser, claudeUser, flagSource} {
				c.Rules = []RuleText{rule(list, text, src)}
				after := verdict(c, op, []string{path})
				if list != Allow && after > before || list == Allow && after < before {
					t.Errorf("%s rule %q turned %s into %s", list, text, before, after)
				}
			}
		}
		if strings.Count(glob.FoldStrict(path), "/") != strings.Count(path, "/") {
			t.Errorf("%q folds to another number of segments", path)
		}
	})
}
