package statedir

import (
	"errors"
	"fmt"
)

// ErrNone: neither the state folder nor one in the temp directory can be used.
var ErrNone = errors.New("no state folder can be used")

// Error says why the state folder is not used.
type Error struct {
	Dir string // "" where none is known
	Err error  // an *owndir.Error where others may have written it
}

func (e *Error) Error() string {
	if e.Dir == "" {
		return "fsmcp's state folder is not used: the environment names no place for it"
	}
	return fmt.Sprintf("fsmcp's state folder %s is not used: %v", e.Dir, e.Err)
}

// Unwrap gives the reason to errors.Is.
func (e *Error) Unwrap() error { return e.Err }

// NoneError says why neither folder can be used.
type NoneError struct {
	State *Error
	Temp  error  // why the folder in the temp directory is not used either
	Dir   string // that folder
}

func (e *NoneError) Error() string {
	return fmt.Sprintf("%v: %v; %s is not used either: %v", ErrNone, e.State, e.Dir, e.Temp)
}

// Unwrap gives ErrNone and both reasons to errors.Is.
func (e *NoneError) Unwrap() []error { return []error{ErrNone, e.State, e.Temp} }
