package save

import (
	"errors"
	"fmt"
)

var (
	// ErrModified: another program changed the file since Begin. Its bytes are
	// in place.
	ErrModified = errors.New("the file was changed by another program meanwhile")
	// ErrExists: the name was free at Begin and is taken now.
	ErrExists = errors.New("a file of that name appeared meanwhile")
	// ErrVanished: the file, or the folder it was to go into, is gone.
	ErrVanished = errors.New("the file vanished meanwhile")
	// ErrReadOnly: the mode bits forbid writing, which binds root as well.
	ErrReadOnly = errors.New("the file is read-only by its mode")
	// ErrNoState: neither the state folder nor one in the temp directory can
	// be made, so writers could not be kept apart.
	ErrNoState = errors.New("no state folder can be made")
	// ErrReadBack: the file system returned other bytes than were written.
	ErrReadBack = errors.New("other bytes were read back than were written")

	errUsed    = errors.New("the transaction was used before")
	errSplices = errors.New("splices overlap, run backwards or lie outside the file")
	errShort   = errors.New("no bytes were written")
)

// The reasons of a BusyError.
const (
	busyOpen = "another program holds it open for writing"
	busyLock = "another write to it is going on"
)

// BusyError: the file could not be had within the time allowed.
type BusyError struct {
	Why string // a fact that completes "the file is busy: ..."
}

func (e *BusyError) Error() string { return "busy: " + e.Why }

// IOError is what the system refused. Changed is false when the old bytes are
// still in place (or the new name still free), true when they are not or cannot
// be told.
type IOError struct {
	Op      string // what was tried, one word
	Path    string // of the file that was to be written
	Err     error
	Changed bool
}

func (e *IOError) Error() string { return fmt.Sprintf("%s %s: %v", e.Op, e.Path, e.Err) }

// Unwrap gives the system's error number to errors.Is.
func (e *IOError) Unwrap() error { return e.Err }
