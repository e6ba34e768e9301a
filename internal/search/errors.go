package search

import (
	"github.com/fsmcp/fsmcp/internal/search/filter"
	"github.com/fsmcp/fsmcp/internal/search/match"
)

// PatternError: a pattern cannot be compiled.
type PatternError = match.Error

// GlobError: a pattern of file names cannot be parsed.
type GlobError = filter.GlobError

// TypeError: no file type has that name.
type TypeError = filter.TypeError
