//go:build unix

package worker

import (
	"os"

	"golang.org/x/sys/unix"
)

// KeepOutput keeps standard output for one protocol alone, under a name for errors: what a
// library prints goes to standard error from here on.
func KeepOutput(stdout *os.File, name string) (*os.File, error) {
	fd, err := unix.FcntlInt(stdout.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := pointAt(2, 1); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}
