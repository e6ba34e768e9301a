package save

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
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
	// ErrLocked: a flag of the file forbids writing (macOS: uchg or uappnd).
	ErrLocked = sys.ErrLocked
	// ErrNoState: neither the state folder nor one in the temp directory can
	// be used, so writers could not be kept apart. It comes as *NoStateError.
	ErrNoState = errors.New("no state folder can be used")
	// ErrReadBack: the file system returned other bytes than were written.
	ErrReadBack = errors.New("other bytes were read back than were written")

	errUsed    = errors.New("the transaction was used before")
	errSplices = errors.New("splices overlap, run backwards or lie outside the file")
)

// The reasons of a BusyError.
const (
	busyOpen     = "another program holds it open for writing"
	busyShared   = "another program holds it open without sharing deletion"
	busyUnshared = "another program holds it open for writing, or without sharing that"
	busyLock     = "another write to it is going on"
)

// busy returns a *BusyError that names the program that holds the file open, if the system
// tells.
func (p *place) busy(how string) error {
	if program := fsys.Holder(p.path); program != "" {
		how = program + strings.TrimPrefix(how, "another program")
	}
	return &BusyError{Why: how}
}

// BusyError: the file could not be had within the time allowed.
type BusyError struct {
	Why string // a fact that completes "the file is busy: ..."
}

func (e *BusyError) Error() string { return "busy: " + e.Why }

// NoJournalError says that a file can be written in place only, or replaced by two renames
// only, and that without the state folder no journal can be kept for that. Nothing was changed.
type NoJournalError struct {
	Renames bool  // by two renames
	Why     error // why the file cannot be replaced in one step; nil: Options.KeepHardLinks
	State   *StateError
}

func (e *NoJournalError) Error() string {
	how := "a write in place"
	if e.Renames {
		how = "two renames"
	}
	return "no journal can be kept for " + how + ": " + e.State.Error()
}

// Unwrap gives the reason to errors.Is.
func (e *NoJournalError) Unwrap() error { return e.State }

// IOError is an error of the system.
type IOError = sys.IOError

// StateError says why the state folder is not used.
type StateError struct {
	Dir string // "" if none is known
	Err error  // an *owndir.Error if others may have written it
}

func (e *StateError) Error() string {
	if e.Dir == "" {
		return "fsmcp's state folder is not used: the environment names no place for it"
	}
	return fmt.Sprintf("fsmcp's state folder %s is not used: %s", e.Dir, unended(e.Err))
}

// unended returns the words of an error without a full stop, which those of Windows end with.
func unended(err error) string { return strings.TrimSuffix(err.Error(), ".") }

// Unwrap gives the reason to errors.Is.
func (e *StateError) Unwrap() error { return e.Err }

// NoStateError says why neither folder can be used.
type NoStateError struct {
	State *StateError
	Temp  error  // why the folder in the temp directory is not used either
	Dir   string // that folder
}

func (e *NoStateError) Error() string {
	return fmt.Sprintf("%v: %v; %s is not used either: %s", ErrNoState, e.State, e.Dir, unended(e.Temp))
}

// Unwrap gives ErrNoState and both reasons to errors.Is.
func (e *NoStateError) Unwrap() []error { return []error{ErrNoState, e.State, e.Temp} }
