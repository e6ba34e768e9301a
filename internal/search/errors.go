package search

import (
	"fmt"

	"github.com/fsmcp/fsmcp/internal/search/match"
)

// PatternError: a pattern cannot be compiled.
type PatternError = match.Error

// GlobError: a pattern of file names cannot be parsed.
type GlobError struct{ Pattern string }

func (e *GlobError) Error() string { return fmt.Sprintf("glob %q cannot be parsed", e.Pattern) }

// TypeError: no file type has that name. Near are the names that look like it, best
// first.
type TypeError struct {
	Type string
	Near []string
}

func (e *TypeError) Error() string { return fmt.Sprintf("unknown type %q", e.Type) }
