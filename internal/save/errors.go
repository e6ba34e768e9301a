package save

import (
	"errors"

	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/statedir"
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
	// be used, so writers could not be kept apart. It comes as *NoStateError.
	ErrNoState = statedir.ErrNone
	// ErrReadBack: the file system returned other bytes than were written.
	ErrReadBack = errors.New("other bytes were read back than were written")

	errUsed    = errors.New("the transaction was used before")
	errSplices = errors.New("splices overlap, run backwards or lie outside the file")
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

// NoJournalError says that a file can be written in place only, and that without
// the state folder no journal can be kept for that. Nothing was changed.
type NoJournalError struct {
	Why   error // why the file cannot be replaced; nil: Options.KeepHardLinks
	State *StateError
}

func (e *NoJournalError) Error() string {
	return "no journal can be kept for a write in place: " + e.State.Error()
}

// Unwrap gives the reason to errors.Is.
func (e *NoJournalError) Unwrap() error { return e.State }

// IOError is an error of the system.
type IOError = disk.IOError

// StateError says why the state folder is not used.
type StateError = statedir.Error

// NoStateError says why neither folder can be used.
type NoStateError = statedir.NoneError
