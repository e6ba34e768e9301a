package pdf

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// roomFor reports whether a file may grow to a size: no disk, quota or limit of the process
// forbids it. It reports true if that is unknown.
func roomFor(f *os.File, size int64) bool {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	return !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) && !errors.Is(err, unix.EFBIG)
}
