package sys

import (
	"errors"
	"fmt"
)

var (
	// ErrShort: a write or a read gave no bytes.
	ErrShort = errors.New("no bytes were written")
	// ErrEnded: a file that is copied ends sooner than it did.
	ErrEnded = errors.New("the file ends sooner than it did")
	// ErrOwner: Setxattr has set all but the owner, which this user may not give away.
	ErrOwner = errors.New("the file's owner cannot be kept")
	// ErrLocked: a flag of the file forbids to write it.
	ErrLocked = errors.New("the file has the flag uchg or uappnd, which forbids changes")
)

// IOError is an error of the system. Changed is false if the old bytes are still in place
// (or the new name still free), and true if they are not or it is unknown. Mixed is true if
// the file may hold parts of both: writing in place failed, and so did going back. Missing is
// true if nothing has the file's name.
type IOError struct {
	Op      string // what was tried, one word
	Path    string // of the file that was to be written
	Err     error
	Changed bool
	Mixed   bool
	Missing bool
}

func (e *IOError) Error() string { return fmt.Sprintf("%s %s: %v", e.Op, e.Path, e.Err) }

// Unwrap gives the system's error number to errors.Is.
func (e *IOError) Unwrap() error { return e.Err }
