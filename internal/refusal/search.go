package refusal

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/search"
)

// Negative refuses a number below 0.
func Negative(argument string, n int) error {
	return refuse(SlugBadArgument, "%s must be 0 or more, not %d.", argument, n)
}

// EmptyPattern refuses a search for nothing.
var EmptyPattern = refuse(SlugBadArgument, "pattern is empty.")

// OnlyAFolder refuses a pattern that names a folder and nothing to find in it.
func OnlyAFolder(pattern string) error {
	return refuse(SlugBadArgument, "pattern %s names only a folder. Name what to find in it, such as %s.", phrase.Quote(pattern), phrase.Quote(strings.TrimRight(pattern, "/")+"/*"))
}

// BadOutputMode refuses an unknown output_mode.
func BadOutputMode(mode string, known ...string) error {
	return refuse(SlugBadArgument, "output_mode must be %s, not %s.", strings.Join(known, ", "), phrase.Quote(mode))
}

// ToolDenied refuses a search by a rule against the tool as a whole.
func ToolDenied(tool string, rule perm.RuleText) error {
	d := perm.Decision{Verdict: perm.Deny, Reason: perm.ReasonDenyRule, Rule: rule.Text, Source: rule.Source, Quotable: true, UntilRestart: rule.Source.UntilRestart}
	return refuse(SlugDenied, "%s is denied by your permission settings.\n%s", tool, Because(access.Decision{Decision: d}))
}

// NoStart refuses a search without a path where there is no workspace to search.
func NoStart(tool string) error {
	return refuse(SlugDenied, "There is no workspace directory that %s may search. Name a folder with path, or ask the user to start fsmcp with one.", tool)
}

// BadStart refuses a path that cannot be one.
func BadStart(path, reason string) error {
	return refuse(SlugBadArgument, "path %s cannot be used: it %s. Give the absolute path of a folder or a file.", phrase.Quote(path), reason)
}

// NotAFolder refuses to search for names below a file. name has been made fit for a sentence.
func NotAFolder(name string) error {
	return refuse(SlugBadArgument, "%s is not a folder. Name the folder to search with path.", name)
}

// Search words an error of package search; any other error stays as it is. late says that
// the call was given up.
func Search(tool string, err error, late bool) error {
	var pattern *search.PatternError
	var glob *search.GlobError
	var kind *search.TypeError
	switch {
	case errors.As(err, &pattern):
		return badPattern(pattern)
	case errors.As(err, &glob):
		argument := "glob"
		if tool == "Glob" {
			argument = "pattern"
		}
		return refuse(SlugBadArgument, "%s %s cannot be parsed: a bracket or brace is not closed, or the backslash at its end escapes nothing. Patterns look like *.go or src/**/*.{ts,tsx}.", argument, phrase.Quote(glob.Pattern))
	case errors.As(err, &kind):
		hint := " Name"
		if len(kind.Near) > 0 {
			hint = " Did you mean " + strings.Join(kind.Near, ", ") + "? Or name"
		}
		return refuse(SlugBadArgument, "There is no file type %s.%s the files with glob, such as *.%s.", phrase.Quote(kind.Type), hint, fsys.InSentence(strings.TrimLeft(phrase.Head(kind.Type, 20), ".*")))
	case errors.Is(err, search.ErrNeverSearched):
		return refuse(SlugBadArgument, "Folders named .git and fsmcp's own folders are never searched. Name another folder with path.")
	case errors.Is(err, search.ErrNoFolder):
		return NotAFolder("The path")
	case late:
		return refuse(SlugBusy, "The search was given up: other searches took the time. Make the same call again later, or narrow it.")
	}
	return err
}

// badPattern refuses a pattern that cannot be compiled, with the place.
func badPattern(p *search.PatternError) error {
	where := ""
	if p.At >= 0 && p.At <= len(p.Pattern) {
		where = fmt.Sprintf(" at character %d", utf8.RuneCountInString(p.Pattern[:p.At])+1)
	}
	if p.Part != "" {
		where += ": " + Argument(p.Part)
	}
	switch {
	case p.LookAround:
		return refuse(SlugBadArgument, "pattern cannot be used%s. Look-around, (?=…), (?!…), (?<=…) and (?<!…), is not supported: the syntax is RE2. Search for the text itself, with context lines where it needs them.", where)
	case p.BackReference:
		return refuse(SlugBadArgument, "pattern cannot be used%s. Back-references such as \\1 are not supported: the syntax is RE2. Search for the text itself.", where)
	case p.TooLarge:
		return refuse(SlugBadArgument, "pattern takes too much memory%s. Use smaller repeat counts.", where)
	case p.NeedsMultiline:
		return refuse(SlugBadArgument, "pattern holds a line break, and without multiline=true a match lies within one line. Set multiline=true.")
	}
	return refuse(SlugBadArgument, "pattern cannot be compiled: %s%s. To search for the characters themselves, put a backslash before each of . ( ) [ ] { } + * ? ^ $ | and \\.", phrase.Foreign(p.Reason), where)
}
