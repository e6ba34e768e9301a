package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/settings"
)

// Settings checks the settings files: those that are broken, those that are there with
// their rules counted, the other sources of rules, and what the settings or rules were
// warned of. Of the rules it counts those in force.
func Settings(cfg settings.Config, inForce []perm.RuleText, warnings []string) (checks []Check) {
	broken := make(map[string]bool)
	var reported []string // the warnings that these checks repeat
	for _, b := range cfg.Broken {
		broken[b.Name] = true
		checks = append(checks, brokenFile(b))
		reported = append(reported, settings.BrokenWarning(b))
	}
	tally, order := rulesBySource(inForce)
	all, _ := rulesBySource(cfg.Rules)
	for _, src := range cfg.Found() {
		checks = append(checks, settingsFile(src, tally[src.Name], all[src.Name][perm.Allow], cfg.TrustProject))
		delete(tally, src.Name)
		reported = append(reported, src.Name+": "+src.Effect())
	}
	for _, name := range order {
		if t, left := tally[name]; left && !broken[name] {
			checks = append(checks, Check{Name: NameSettings, Status: OK, Detail: fmt.Sprintf("%s: %s", name, t)})
		}
	}
	if len(checks) == 0 {
		checks = append(checks, Check{Name: NameSettings, Status: OK, Detail: "no settings file is there, so the defaults hold"})
	}
	for _, w := range warnings {
		switch {
		case slices.Contains(reported, w):
		case slices.Contains(cfg.Misplaced(), w):
			checks = append(checks, Check{NameSettings, Fail, w, "Write the key as fsmcp knows it: what stands there does not hold."})
		default:
			checks = append(checks, Check{NameSettings, Warn, w, "Change that place if it is not meant so."})
		}
	}
	return append(checks, rules(cfg, inForce))
}

func brokenFile(b perm.BrokenFile) Check {
	remedy := fmt.Sprintf("Mend or remove %s.", b.Name)
	switch {
	case b.Line > 0:
		remedy = fmt.Sprintf("Mend line %d of %s.", b.Line, b.Name)
	case strings.HasPrefix(b.Why, "cannot be read"):
		remedy = fmt.Sprintf("Make %s a file that you may read (chmod u+r).", b.Name)
	}
	return Check{NameSettings, Fail, settings.BrokenWarning(b), remedy}
}

// tally counts rules by their lists.
type tally [perm.Allow + 1]int

func (t tally) String() string {
	var words []string
	for list, n := range t {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, perm.List(list)))
		}
	}
	if len(words) == 0 {
		return "no rules"
	}
	return strings.Join(words, ", ")
}

// rulesBySource counts the rules of each file, flag and variable; order has the sources,
// the nearest first.
func rulesBySource(rules []perm.RuleText) (all map[string]tally, order []string) {
	all = make(map[string]tally)
	for _, r := range rules {
		t, known := all[r.Source.Name]
		if !known {
			order = append(order, r.Source.Name)
		}
		t[r.List]++
		all[r.Source.Name] = t
	}
	return all, order
}

// settingsFile reports one file with its rules in force. allows counts its allow rules, in
// force or not.
func settingsFile(src settings.Found, t tally, allows int, trusted bool) Check {
	c := Check{Name: NameSettings, Status: OK, Detail: fmt.Sprintf("%s (%s): %s", src.Name, src.Level, t)}
	switch {
	case src.Foreign != "":
		c.Status, c.Remedy = Fail, src.Remedy
		c.Detail += "; " + src.Effect()
	case src.Ignored:
		c.Status, c.Detail = Skip, fmt.Sprintf("%s (%s) does not count", src.Name, src.Level)
	case src.Level.InProject() && !trusted && allows > 0:
		c.Detail += fmt.Sprintf("; its %s %s without effect unless fsmcp runs with --trust-project", count(allows, "allow rule"), phrase.Plural(allows, "is", "are"))
	}
	return c
}

// rules sums up which rules are in force.
func rules(cfg settings.Config, inForce []perm.RuleText) Check {
	var total tally
	for _, r := range inForce {
		total[r.List]++
	}
	detail := fmt.Sprintf("%s; where no rule decides: mode %s", total, cfg.Mode)
	if len(cfg.Broken) > 0 {
		return Check{NameRules, Warn, detail + "; these are not all: a settings file is broken", "Mend the settings file that is named above."}
	}
	return Check{Name: NameRules, Status: OK, Detail: detail}
}
