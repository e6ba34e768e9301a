package refusal

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// Negative refuses a number below 0.
func Negative(argument string, n int) error {
	return refuse(SlugBadArgument, "%s must be 0 or more, not %d.", argument, n)
}

// EmptyPattern refuses a search for nothing.
func EmptyPattern() error { return refuse(SlugBadArgument, "pattern is empty.") }

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
	return refuse(SlugDenied, "%s is denied by your permission settings.\n%s", tool, Because(access.Judgement{Decision: d}))
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

// NeverSearched refuses a start below a .git folder or one of fsmcp's own.
func NeverSearched() error {
	return refuse(SlugBadArgument, "Folders named .git and fsmcp's own folders are never searched. Name another folder with path.")
}

// SearchLate refuses a search whose call was given up.
func SearchLate() error {
	return refuse(SlugBusy, "The search was given up: other searches took the time. Make the same call again later, or narrow it.")
}

// Pattern holds the facts on a pattern that cannot be compiled.
type Pattern struct {
	Text                      string
	At                        int // the byte where the faulty part begins; -1: unknown
	Part, Reason              string
	LookAround, BackReference bool
	TooLarge                  bool
	// NeedsMultiline: it can only match across lines.
	NeedsMultiline bool
}

// BadPattern refuses a pattern that cannot be compiled, with the place.
func BadPattern(p Pattern) error {
	where := ""
	if p.At >= 0 && p.At <= len(p.Text) {
		where = fmt.Sprintf(" at character %d", utf8.RuneCountInString(p.Text[:p.At])+1)
	}
	if p.Part != "" {
		where += ": " + phrase.QuoteAtMost(p.Part, 80)
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

// BadGlob refuses a pattern of file names.
func BadGlob(argument, pattern string) error {
	return refuse(SlugBadArgument, "%s %s cannot be parsed: a bracket or brace is not closed, or the backslash at its end escapes nothing. Patterns look like *.go or src/**/*.{ts,tsx}.", argument, phrase.Quote(pattern))
}

// UnknownType refuses a file type that there is not. near are those that look like it.
func UnknownType(name string, near []string) error {
	hint := ""
	if len(near) > 0 {
		hint = " Did you mean " + strings.Join(near, ", ") + "?"
	}
	return refuse(SlugBadArgument, "There is no file type %s.%s Or name the files with glob, such as *.%s.", phrase.Quote(name), hint, fsys.InSentence(strings.TrimLeft(phrase.Head(name, 20), ".*")))
}
