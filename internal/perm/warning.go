package perm

import "fmt"

// WarningKind says what is the matter with a rule.
type WarningKind uint8

// The kinds of warning.
const (
	noWarning      WarningKind = iota
	Malformed                  // no tool, no or no last parenthesis, text behind it, or nothing inside
	Negated                    // "!" has no meaning in rules
	UnknownTool                // no such tool; Nearest may say what was meant
	OtherTool                  // a tool that fsmcp does not have
	CountsAsEdit               // Write(...), NotebookEdit(...), MultiEdit(...) in deny and ask
	IgnoredInAllow             // the same in allow
	BuiltinTool                // a bare name in Claude Code's file means its own tool
	GlobInAllow                // globs over tool names are for deny and ask
	MatchesNothing             // an unclosed bracket, an unknown class, a backslash at the end
	NoAnchor                   // nothing to start from: no home, no workspace, or managed "/path" allow
	Untrusted                  // allow rules of a project that is not trusted
	MistakenAnchor             // "/path" where "//path" was meant
)

// String returns the fact, without advice.
func (k WarningKind) String() string {
	switch k {
	case Malformed:
		return "is not well formed"
	case Negated:
		return "is ignored: a rule cannot be negated"
	case UnknownTool:
		return "is ignored: no tool has this name"
	case OtherTool:
		return "is ignored: fsmcp has no such tool"
	case CountsAsEdit:
		return "counts as an Edit rule"
	case IgnoredInAllow:
		return "is ignored: only Read and Edit rules allow files"
	case BuiltinTool:
		return "is not applied: in this file it means the built-in tool"
	case GlobInAllow:
		return "is ignored: a glob over tool names can only deny or ask"
	case MatchesNothing:
		return "matches nothing"
	case NoAnchor:
		return "is ignored: it has no directory to start from"
	case Untrusted:
		return "is ignored: the project is not trusted"
	case MistakenAnchor:
		return "names nothing below the directory it starts from, but an existing absolute path"
	}
	return ""
}

// counted reports whether many rules of the kind make one warning, since they
// all say the same.
func (k WarningKind) counted() bool {
	switch k {
	case CountsAsEdit, IgnoredInAllow, BuiltinTool, Untrusted, NoAnchor:
		return true
	}
	return false
}

// Warning tells of a rule that does not say what it seems to say.
type Warning struct {
	Kind WarningKind
	Rule RuleText
	// Nearest is the known word nearest to an unknown tool name, or "".
	Nearest string
	// Others counts further rules of which the same is true; only the kinds
	// that say the same of every rule are gathered so.
	Others int
}

// String returns the warning as one line: place, rule, fact.
func (w Warning) String() string {
	where := w.Rule.Source.Name
	if w.Rule.Source.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, w.Rule.Source.Line)
	}
	s := fmt.Sprintf("%s: %s rule %q %s", where, w.Rule.List, w.Rule.Text, w.Kind)
	if w.Nearest != "" {
		s += fmt.Sprintf(" (nearest: %s)", w.Nearest)
	}
	if w.Others > 0 {
		s += fmt.Sprintf(" (and %d more)", w.Others)
	}
	return s
}

// warnings gathers what Compile has to say.
type warnings []Warning

func (ws *warnings) add(w Warning) {
	if w.Kind == noWarning {
		return
	}
	if w.Kind.counted() {
		for i := range *ws {
			old := &(*ws)[i]
			if old.Kind == w.Kind && (w.Kind != Untrusted || old.Rule.Source.Name == w.Rule.Source.Name) {
				old.Others++
				return
			}
		}
	}
	*ws = append(*ws, w)
}
