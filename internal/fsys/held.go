package fsys

import (
	"cmp"
	"errors"
	"syscall"
	"time"
)

// HeldError: another program has the file open and does not share it.
type HeldError struct{ Program string } // "" if it is not known

func (e *HeldError) Error() string {
	return cmp.Or(e.Program, "another program") + " holds it open and does not share it"
}

// errSharing is the number of Windows for a file that another program holds (source:
// winerror.h).
const errSharing = syscall.Errno(32)

// heldTimeout is the time that a program gets to let go of a file; a virus scanner holds one
// for half a second. heldStep is the time between two tries.
const (
	heldTimeout = 2 * time.Second
	heldStep    = 10 * time.Millisecond
)

// openHeld opens a file, and waits on Windows if another program holds it.
func openHeld(windows bool, name string, open func() (*File, error)) (*File, error) {
	for end := time.Now().Add(heldTimeout); ; time.Sleep(heldStep) {
		f, err := open()
		if !windows || !errors.Is(err, errSharing) {
			return f, err
		}
		if time.Now().After(end) {
			return nil, &HeldError{Program: Holder(name)}
		}
	}
}
