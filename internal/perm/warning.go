package perm

import (
	"fmt"
	"strconv"
)

// WarningKind names a rule's fault.
type WarningKind uint8

// The kinds of warning.
const (
	noWarning      WarningKind = iota
	Malformed                  // no tool, no or no last parenthesis, text behind it, or nothing inside
	Negated                    // "!" has no meaning in rules
	UnknownTool                // no such tool; Nearest may say what was meant
	OtherTool                  // a tool that fsmcp does not have
	SearchTool                 // Glob and Grep in allow
	CountsAsEdit               // Write(...), NotebookEdit(...), MultiEdit(...) in deny and ask
	CountsAsRead               // Glob(...), Grep(...) in deny and ask
	IgnoredInAllow             // the same in allow
	BuiltinTool                // a bare name in Claude Code's file means its own tool
	GlobInAllow                // globs over tool names are for deny and ask
	MatchesNothing             // an unclosed bracket, an unknown class, a backslash at the end
	NoAnchor                   // nothing to start from: no home, no workspace, or managed "/path" allow
	Untrusted                  // allow rules of a project that is not trusted
	MistakenAnchor             // "/path" where "//path" was meant
	SeveralRules               // two rules in one text
	BlankAround                // blanks that are part of the pattern
	Quoted                     // quotes around the pattern
	FileURL                    // file://
	PrefixMark                 // :* at the end, as in rules for Bash
	BareHome                   // ~ without a slash
	OtherHome                  // ~user
	Variable                   // $NAME, ${NAME}
	Braces                     // {a,b}
	Bar                        // a|b
)

// String returns the fact, without advice.
func (k WarningKind) String() string { return wordOf(k, facts[:]) }

var facts = [...]string{
	Malformed:      "is not well formed",
	Negated:        "is ignored: a rule cannot be negated",
	UnknownTool:    "is ignored: no tool has this name",
	OtherTool:      "is ignored: fsmcp has no such tool",
	SearchTool:     "is ignored: Glob and Grep obey the rules of Read",
	CountsAsEdit:   "counts as an Edit rule",
	CountsAsRead:   "counts as a Read rule",
	IgnoredInAllow: "is ignored: only Read and Edit rules allow files",
	BuiltinTool:    "is not applied: in this file it means the built-in tool",
	GlobInAllow:    "is ignored: a glob over tool names can only deny or ask",
	MatchesNothing: "matches nothing",
	NoAnchor:       "is ignored: it has no directory to start from",
	Untrusted:      "is ignored: the project is not trusted",
	MistakenAnchor: "names nothing below the directory it starts from, but an existing absolute path",
	SeveralRules:   "is one rule: its pattern goes on to the last parenthesis",
	BlankAround:    "takes the blanks around the pattern for part of a name",
	Quoted:         "takes the quotes for part of a name",
	FileURL:        "takes file: for the name of a folder",
	PrefixMark:     "takes :* for part of a name",
	BareHome:       "takes ~ for a name in the workspace",
	OtherHome:      "takes ~ and the user for a name in the workspace",
	Variable:       "takes the variable for part of a name; a rule has the path itself",
	Braces:         "takes the braces for part of a name; a rule has one pattern",
	Bar:            "takes the bar for part of a name; a rule has one pattern",
}

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
