package refusal

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// judgement is a decision that is not allow, with what its words need.
type judgement struct {
	access.Decision
	// settings is the user's own settings file, as a person writes its name.
	settings string
}

// name is the path as it is shown.
func (j judgement) name() string { return fsys.InSentence(j.Path.String()) }

// denied words a denial. All denials by one rule read the same apart from the path,
// whether or not the file exists.
func (j judgement) denied() *Refusal {
	switch j.Reason {
	case perm.ReasonPlan:
		more := ""
		if j.UntilRestart {
			more += " A settings file named a looser mode since, and a restart of fsmcp applies it."
		}
		if plan := j.Policy.PlanFile(); plan != "" {
			more += " The one file that may be written is the plan, " + fsys.InSentence(plan) + "."
		}
		return New(planMode, j.name(), more)
	case perm.ReasonBuiltin:
		return New(deniedBuiltin, j.name())
	case perm.ReasonState:
		return New(deniedState, j.name())
	}
	return New(deniedByRule, j.name(), j.because())
}

// ToolDenied refuses a search by a rule against the tool as a whole.
func ToolDenied(tool string, rule perm.RuleText) error {
	d := perm.Decision{Verdict: perm.Deny, Reason: perm.ReasonDenyRule, Rule: rule.Text, Source: rule.Source, Quotable: true, UntilRestart: rule.Source.UntilRestart}
	return New(deniedTool, tool, Because(access.Decision{Decision: d}))
}

// NeedsConsent words the refusal for a client that cannot ask, with what the user can
// do. settings is the user's settings file.
func NeedsConsent(e *access.ConsentError, settings string) *Refusal {
	j := judgement{e.Decision, settings}
	what := "Changing"
	if j.Op == perm.Read {
		what = "Reading"
	}
	because, name := j.because(), fsys.InSentence(j.Path.String())
	return New(needsConsent, what, name, because, j.remedy())
}

// UnusableRoots says which of the client's roots cannot be the workspace, for an answer where
// there is none.
func UnusableRoots(p *perm.Policy) string {
	roots := p.UnusableRoots()
	if len(roots) == 0 {
		return ""
	}
	return fmt.Sprintf(" The client's root %s names no folder of this machine.", phrase.QuoteAtMost(roots[0], 200))
}

// remedy tells the user what to do about a question that cannot be put.
func (j judgement) remedy() string {
	outside := j.Outside()
	switch {
	case len(j.Policy.Workspace()) == 0:
		return UnusableRoots(j.Policy) + ` The user can make the project's folder the workspace, by naming it in fsmcp's arguments in the client's configuration, as in "args": ["serve", ` + exampleFolder(runtime.GOOS) + `].` + j.ruleToAdd()
	case j.Reason == perm.ReasonAskRule:
		instead := "making this change"
		if j.Op == perm.Read {
			instead = "opening the file"
		}
		if j.UntilRestart {
			return fmt.Sprintf(" Only the user can go on: by restarting fsmcp, or by %s themselves.", instead)
		}
		return fmt.Sprintf(" Only the user can go on: by taking that rule out of %s, or by %s themselves.", where(j.Source), instead)
	case j.Reason == perm.ReasonMode && outside != "" && outside != j.Path.String():
		return fmt.Sprintf(" It leads to %s: the user can add the folder %s to the workspace (fsmcp serve --add-dir).", fsys.InSentence(outside), fsys.InSentence(fsys.DirOf(outside)))
	case j.Reason == perm.ReasonMode && outside != "":
		rule, others := j.ruleToAdd(), " The user"
		if rule != "" {
			others = " Or the user"
		}
		return rule + others + " can add the file's folder to the workspace: fsmcp serve --add-dir DIR."
	case j.Reason == perm.ReasonMode:
		return " The user can start fsmcp with --permission-mode acceptEdits." + j.ruleToAdd()
	case j.Reason == perm.ReasonBroken:
		return " The user has to mend that file."
	}
	return j.ruleToAdd()
}

// ruleToAdd is the one line that would allow the call, for the two places where the
// user can put it. It is empty for a name that a person could not copy.
func (j judgement) ruleToAdd() string {
	rule := j.PasteLine
	if rule == "" || phrase.Untagged(fsys.Printable(rule)) != rule {
		return ""
	}
	return fmt.Sprintf(" To allow it, the user can add %q to permissions.allow in %s, or start fsmcp with --allow %s.",
		rule, fsys.InSentence(j.settings), shellWord(rule, runtime.GOOS))
}

// exampleFolder is the name of a folder of a system as JSON has it.
func exampleFolder(system string) string {
	if system == "windows" {
		return `"C:\\your\\project"`
	}
	return `"/your/project"`
}

// shellWord quotes a rule for the shells of a system: cmd knows no single quotes, and no
// name on Windows has a double one.
func shellWord(rule, system string) string {
	if system == "windows" {
		return `"` + rule + `"`
	}
	return "'" + strings.ReplaceAll(rule, "'", `'\''`) + "'"
}

// Because names the rule or reason of a decision, and every broken settings file.
func Because(j access.Decision) string { return judgement{j, ""}.because() }

func (j judgement) because() string {
	decided := "Reason: " + j.reason()
	switch {
	case j.Rule != "" && (j.Quotable || j.Verdict == perm.Ask):
		decided = fmt.Sprintf("Rule: %s (%s)", phrase.Foreign(j.Rule), where(j.Source))
	case j.Rule != "":
		decided = "Rule: a rule on what this name leads to"
	}
	return decided + j.waiting() + j.brokenFiles()
}

// waiting says that the settings have changed since the decision was loaded.
func (j judgement) waiting() string {
	switch {
	case !j.UntilRestart:
		return ""
	case j.Source.UntilRestart:
		return "; that file has changed since, and a restart of fsmcp applies it"
	}
	return "; a settings file named a looser mode since, and a restart of fsmcp applies it"
}

// reason words a decision that no rule made.
func (j judgement) reason() string {
	if j.Reason != perm.ReasonProtected {
		return j.Why()
	}
	why := j.Why() + ", from which other programs take orders"
	if j.Policy.Mode() == perm.DontAsk {
		why += ", and mode dontAsk asks nobody"
	}
	return why
}

// brokenFiles names the settings files that keep everything closed, so that the user
// can mend them.
func (j judgement) brokenFiles() string {
	var b strings.Builder
	for _, f := range j.Broken {
		fmt.Fprintf(&b, "; the settings file %s %s", where(perm.Source{Name: f.Name, Line: f.Line}), phrase.Foreign(f.Why))
	}
	if len(j.Broken) > 0 {
		b.WriteString(": until it is mended nothing is written, and nothing outside the workspace is read")
	}
	return b.String()
}

func where(s perm.Source) string {
	if s.Line > 0 {
		return fmt.Sprintf("%s:%d", fsys.InSentence(s.Name), s.Line)
	}
	return fsys.InSentence(s.Name)
}
