package match

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
)

// Error: a pattern cannot be compiled.
type Error struct {
	Pattern string
	// At is the byte offset in Pattern where Part begins, -1 if it is not known.
	At   int
	Part string // the faulty part, as far as it is known
	// LookAround and BackReference: the pattern is valid in other engines; RE2 leaves this
	// construct out.
	LookAround, BackReference bool
	// TooLarge: the pattern is valid and takes too much memory.
	TooLarge bool
	// NeedsMultiline: the pattern is valid and can only match across lines.
	NeedsMultiline bool
	// Reason is a plain fact, such as "missing closing )".
	Reason string
}

func (e *Error) Error() string {
	return fmt.Sprintf("pattern %q: %s: %q", e.Pattern, e.Reason, e.Part)
}

// newError says what the standard package has against a pattern.
func newError(pattern string, err error) *Error {
	e := &Error{Pattern: pattern, At: -1, Reason: err.Error()}
	var s *syntax.Error
	if !errors.As(err, &s) {
		return e
	}
	e.Reason, e.Part = s.Code.String(), s.Expr
	e.TooLarge = s.Code == syntax.ErrLarge || s.Code == syntax.ErrInvalidRepeatSize || s.Code == syntax.ErrNestingDepth
	for _, look := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(s.Expr, look) {
			e.LookAround, e.Part = true, look
		}
	}
	if s.Code == syntax.ErrInvalidEscape && len(s.Expr) == 2 && (s.Expr[1] >= '1' && s.Expr[1] <= '9' || s.Expr[1] == 'k') {
		e.BackReference = true
	}
	if strings.HasPrefix(s.Expr, "(?P=") {
		e.BackReference, e.Part = true, "(?P="
	}
	if e.Part != "" {
		e.At = strings.Index(pattern, e.Part)
	}
	return e
}
