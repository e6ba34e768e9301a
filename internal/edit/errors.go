package edit

import (
	"errors"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/span"
)

// ErrSame: there is nothing to change. Old and new are equal, or the text
// already reads as the edit would leave it.
var ErrSame = errors.New("old and new text are equal")

// A StrippedToSameError is a change that consists of nothing but trailing white
// space, which was stripped.
type StrippedToSameError struct {
	// What was stripped and where in the new text: "white space at the end of line 2".
	What string
}

func (e *StrippedToSameError) Error() string {
	return "nothing left to change after stripping " + e.What
}

// An AmbiguousError is old text found in several places.
type AmbiguousError struct {
	Count  int         // of all places, overlapping ones included
	Places []span.Span // the first ten
	Lines  []int       // 1-based, those that the first ten begin in
	Cols   []int       // of those in their lines, 1-based, in code points
	InLine bool        // they are those that start Within, where there is more than one
}

func (e *AmbiguousError) Error() string { return fmt.Sprintf("%d matches", e.Count) }

// An OtherLineError is old text found, but not where the request wants it to start (Within).
type OtherLineError struct {
	Found *AmbiguousError // all places
}

func (e *OtherLineError) Error() string { return "no match starts there" }

// A StaleLineError is a line that was named by its number, of a text that has changed since, so
// that it is not known which line that is now.
type StaleLineError struct{ Line int }

func (e *StaleLineError) Error() string { return fmt.Sprintf("line %d has changed", e.Line) }

// A TooManyError is old text found in more places than one request replaces.
type TooManyError struct{ Count, Most int }

func (e *TooManyError) Error() string {
	return fmt.Sprintf("%d matches, at most %d are replaced", e.Count, e.Most)
}

// A NoMatchError is old text found nowhere under any rule.
type NoMatchError struct{}

func (e *NoMatchError) Error() string { return "old text not found" }
