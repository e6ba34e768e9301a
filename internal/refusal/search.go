package refusal

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/search"
)

// Search words an error of package search; any other error stays as it is. late says that
// the call was given up.
func Search(tool string, err error, late bool) error {
	var pattern *search.PatternError
	var glob *search.GlobError
	var kind *search.TypeError
	switch {
	case errors.As(err, &pattern):
		return ofPattern(pattern)
	case errors.As(err, &glob):
		argument := "glob"
		if tool == "Glob" {
			argument = "pattern"
		}
		return New(badGlob, argument, glob.Pattern)
	case errors.As(err, &kind):
		hint := " Name"
		if len(kind.Near) > 0 {
			hint = " Did you mean " + strings.Join(kind.Near, ", ") + "? Or name"
		}
		return New(unknownType, kind.Type, hint, fsys.InSentence(strings.TrimLeft(phrase.Head(kind.Type, 20), ".*")))
	case errors.Is(err, search.ErrNeverSearched):
		return New(neverSearched)
	case errors.Is(err, search.ErrNoFolder):
		return New(NotAFolder, "The path")
	case late:
		return New(lateSearch)
	}
	return err
}

// ofPattern refuses a pattern that cannot be compiled, with the place.
func ofPattern(p *search.PatternError) error {
	where := ""
	if p.At >= 0 && p.At <= len(p.Pattern) {
		where = fmt.Sprintf(" at character %d", utf8.RuneCountInString(p.Pattern[:p.At])+1)
	}
	if p.Part != "" {
		where += ": " + phrase.QuoteAtMost(p.Part, 80)
	}
	switch {
	case p.LookAround:
		return New(patternLookAround, where)
	case p.BackReference:
		return New(patternBackReference, where)
	case p.TooLarge:
		return New(patternTooLarge, where)
	case p.NeedsMultiline:
		return New(patternNeedsMultiline)
	}
	return New(badPattern, phrase.Foreign(p.Reason), where)
}

// WithGrep is whether the caller has Grep, for the sentences that name it.
type WithGrep bool

// String names the tool to search with.
func (has WithGrep) String() string {
	if has {
		return " with Grep"
	}
	return ""
}
