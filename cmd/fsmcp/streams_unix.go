//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// protocolOutput keeps standard output for the protocol alone: what a library
// prints goes to standard error from here on.
func protocolOutput(stdout *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(stdout.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := pointAt(2, 1); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "protocol"), nil
}
