// Package filelock locks whole files among processes, and never waits.
//
// Its one risk is two processes that both believe they have a file. It promises that one
// caller at a time has a file, from Try until Unlock, the file's Close or the end of its
// process. A process that opened the file twice counts as two. A lock does not stop reads
// and writes. On a file system without locks Try returns ErrNone, and the caller decides.
package filelock

import "errors"

// Descriptor is an open file, of package os or of another.
type Descriptor interface{ Fd() uintptr }

// ErrNone: the file system has no locks.
var ErrNone = errors.New("the file system has no locks")
