package search

import "fmt"

// PatternError: a pattern cannot be compiled.
type PatternError struct {
	Pattern string
	// At is the byte offset in Pattern where Part begins, -1 where it is not known.
	At   int
	Part string // the faulty part, as far as it is known
	// Unsupported is LookAround or BackReference where the pattern is valid in other
	// engines, else NotUnsupported.
	Unsupported Unsupported
	// TooLarge: the pattern is valid and takes too much memory.
	TooLarge bool
	// Reason is a plain fact, such as "missing closing )".
	Reason string
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("pattern %q: %s: %q", e.Pattern, e.Reason, e.Part)
}

// Unsupported names a construct of other engines that RE2 leaves out.
type Unsupported uint8

// The constructs.
const (
	NotUnsupported Unsupported = iota
	LookAround
	BackReference
)

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
