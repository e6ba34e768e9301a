package fsys

import (
	"errors"
	"fmt"
)

var (
	// ErrLoop: more than 40 symbolic links lie on the way.
	ErrLoop = errors.New("too many symbolic links")
	// ErrNotDir: something on the way is used as a folder and is none.
	ErrNotDir = errors.New("not a directory")
	// ErrNotRegular: only regular files are opened.
	ErrNotRegular = errors.New("not a regular file")
	// ErrMoved says that the name no longer leads to the resolved object.
	ErrMoved = errors.New("the name leads elsewhere since it was resolved")
	// ErrUnstable: the file kept changing while it was read.
	ErrUnstable = errors.New("the file keeps changing while it is read")
)

// TooLargeError: the file is longer than the reader was allowed to take.
type TooLargeError struct {
	Size int64 // of the file, when it was looked at
	Max  int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("file of %d bytes exceeds the bound of %d", e.Size, e.Max)
}

// PathError is a path that was refused before the disk was asked. Reason is a
// plain fact that completes "the path ...".
type PathError struct {
	Raw    string // the path as it arrived
	Reason string
}

// rawShown bounds how much of a refused path an error repeats.
const rawShown = 300

func (e *PathError) Error() string {
	raw := e.Raw
	if len(raw) > rawShown {
		raw = raw[:rawShown] + "..."
	}
	return fmt.Sprintf("path %q %s", Printable(raw), e.Reason)
}
