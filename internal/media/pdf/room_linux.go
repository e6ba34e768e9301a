package pdf

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// roomFor tells whether a file may grow that large: neither the disk nor a quota nor
// a limit of the process forbids it. What cannot be told is taken for room.
func roomFor(f *os.File, size int64) bool {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	return !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) && !errors.Is(err, unix.EFBIG)
}
