//go:build unix

package worker

import (
	"os"

	"golang.org/x/sys/unix"
)

// ownOutput keeps standard output for frames alone: what a library prints goes
// to standard error from here on.
func ownOutput() (*os.File, error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := pointAt(2, 1); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), "frames"), nil
}
