package perm

import (
	"fmt"
	"strconv"
)

// WarningKind is a fault of a rule: the fact in words, without advice.
type WarningKind string

// The kinds of warning, those from SeveralRules on about a notation that rules do not have.
const (
	noWarning WarningKind = ""
	// Malformed: no tool, no or no last parenthesis, text behind it, or nothing inside.
	Malformed WarningKind = "is not well formed"
	// Negated: "!" has no meaning in rules.
	Negated WarningKind = "is ignored: a rule cannot be negated"
	// UnknownTool: no such tool; Nearest may say what was meant.
	UnknownTool WarningKind = "is ignored: no tool has this name"
	// OtherTool: a tool that fsmcp does not have.
	OtherTool WarningKind = "is ignored: fsmcp has no such tool"
	// SearchTool: Glob and Grep in allow.
	SearchTool WarningKind = "is ignored: Glob and Grep obey the rules of Read"
	// CountsAsEdit: Write(...), NotebookEdit(...), MultiEdit(...) in deny and ask.
	CountsAsEdit WarningKind = "counts as an Edit rule"
	// CountsAsRead: Glob(...), Grep(...) in deny and ask.
	CountsAsRead WarningKind = "counts as a Read rule"
	// IgnoredInAllow: the same in allow.
	IgnoredInAllow WarningKind = "is ignored: only Read and Edit rules allow files"
	// BuiltinTool: a bare name in Claude Code's file means its own tool.
	BuiltinTool WarningKind = "is not applied: in this file it means the built-in tool"
	// GlobInAllow: globs over tool names are for deny and ask.
	GlobInAllow WarningKind = "is ignored: a glob over tool names can only deny or ask"
	// MatchesNothing: an unclosed bracket, an unknown class, a backslash at the end.
	MatchesNothing WarningKind = "matches nothing"
	// NoAnchor: nothing to start from: no home, no workspace, or managed "/path" allow.
	NoAnchor WarningKind = "is ignored: it has no directory to start from"
	// Untrusted: allow rules of a project that is not trusted.
	Untrusted WarningKind = "is ignored: the project is not trusted"
	// MistakenAnchor: "/path" where "//path" was meant.
	MistakenAnchor WarningKind = "names nothing below the directory it starts from, but an existing absolute path"
	// SeveralRules: two rules in one text.
	SeveralRules WarningKind = "is one rule: its pattern goes on to the last parenthesis"
	// BlankAround: blanks that are part of the pattern.
	BlankAround WarningKind = "takes the blanks around the pattern for part of a name"
	// Quoted: quotes around the pattern.
	Quoted WarningKind = "takes the quotes for part of a name"
	// FileURL: file://.
	FileURL WarningKind = "takes file: for the name of a folder"
	// PrefixMark: :* at the end, as in rules for Bash.
	PrefixMark WarningKind = "takes :* for part of a name"
	// BareHome: ~ without a slash.
	BareHome WarningKind = "takes ~ for a name in the workspace"
	// OtherHome: ~user.
	OtherHome WarningKind = "takes ~ and the user for a name in the workspace"
	// Variable: $NAME, ${NAME}.
	Variable WarningKind = "takes the variable for part of a name; a rule has the path itself"
	// Braces: {a,b}.
	Braces WarningKind = "takes the braces for part of a name; a rule has one pattern"
	// Bar: a|b.
	Bar WarningKind = "takes the bar for part of a name; a rule has one pattern"
)

// counted reports whether many rules of the kind make one warning, since they
// all say the same.
func (k WarningKind) counted() bool {
	switch k {
	case CountsAsEdit, CountsAsRead, IgnoredInAllow, BuiltinTool, Untrusted, NoAnchor:
		return true
	}
	return false
}

// Warning describes a rule that does not mean what it seems to mean.
type Warning struct {
	Kind WarningKind
	Rule RuleText
	// Nearest is the known word nearest to an unknown tool name, or "".
	Nearest string
	// ReadAs is the well-formed rule that a malformed one counts as, or "".
	ReadAs string
	// Likely lists the rules that were likely meant, if the notation is at fault; empty if
	// only the user knows.
	Likely []string
	// Others counts further rules with the same fault; only kinds with the same text for
	// every rule are gathered.
	Others int

	windows bool // the system of the rule
}

// String returns the warning as one line: place, rule, fact.
func (w Warning) String() string {
	where := w.Rule.Source.Name
	if w.Rule.Source.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, w.Rule.Source.Line)
	}
	s := fmt.Sprintf("%s: %s rule %s %s", where, w.Rule.List, quoted(w.Rule.Text, w.windows), w.Kind)
	if w.Nearest != "" {
		s += fmt.Sprintf(" (nearest: %s)", w.Nearest)
	}
	if w.ReadAs != "" {
		s += fmt.Sprintf("; it is read as %q", w.ReadAs)
	}
	for i, rule := range w.Likely {
		s += [...]string{"; did you mean ", " and "}[min(i, 1)] + strconv.Quote(rule)
	}
	if len(w.Likely) > 0 {
		s += "?"
	}
	if w.Others > 0 {
		s += fmt.Sprintf(" (and %d more)", w.Others)
	}
	return s
}

// quoted quotes a rule as it is written. A rule of Windows is full of backslashes: they are
// not doubled.
func quoted(text string, windows bool) string {
	if windows && strconv.CanBackquote(text) {
		return `"` + text + `"`
	}
	return strconv.Quote(text)
}

// warnings collects Compile's warnings.
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
