package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm"
)

// Bounds of the permission rules of one project file; a file beyond them counts as broken.
// A project may come from another person, and each rule is compared with each name of each
// file. Within these bounds a decision takes milliseconds at most.
const (
	maxRules     = 2000
	maxRuleBytes = 1024
	// maxRuleParts bounds the slashes and wildcards of all rules together; the cost of
	// matching grows with them.
	maxRuleParts = 16 << 10
)

// overfull returns an error if a project's file has too many or too long rules, else nil.
// concerns reports whether a rule is about files; Claude Code keeps rules for commands of
// any length in the same lists.
func (l Layer) overfull(concerns func(rule string) bool) *perm.BrokenFile {
	if !l.File.Level.InProject() {
		return nil
	}
	count, parts := 0, 0
	for _, r := range l.Rules {
		if concerns != nil && !concerns(r.Text) {
			continue
		}
		count++
		for _, part := range []string{"/", "*", "?", "["} {
			parts += strings.Count(r.Text, part)
		}
		why := ""
		switch {
		case len(r.Text) > maxRuleBytes:
			why = fmt.Sprintf("has a permission rule of more than %d bytes", maxRuleBytes)
		case count > maxRules:
			why = fmt.Sprintf("has more than %d permission rules", maxRules)
		case parts > maxRuleParts:
			why = fmt.Sprintf("has permission rules with more than %d slashes and wildcards together", maxRuleParts)
		default:
			continue
		}
		return &perm.BrokenFile{Name: l.File.Name, Line: r.Source.Line, Why: why}
	}
	return nil
}

// mistyped returns an error if a deny or ask rule of the file cannot be understood, else
// nil. fault judges one rule.
func (l Layer) mistyped(fault func(perm.RuleText) string) *perm.BrokenFile {
	if fault == nil {
		return nil
	}
	for _, r := range l.Rules {
		if why := fault(r); why != "" {
			return &perm.BrokenFile{Name: l.File.Name, Line: r.Source.Line, Why: why}
		}
	}
	return nil
}

// prohibitions returns the deny and ask rules.
func prohibitions(rules []perm.RuleText) []perm.RuleText {
	return slices.DeleteFunc(slices.Clone(rules), func(r perm.RuleText) bool { return r.List == perm.Allow })
}
