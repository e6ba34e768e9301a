//go:build unix

package audit

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock locks a file unless another process has.
func lock(f *os.File) (bool, error) {
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
	case nil, unix.ENOLCK, unix.EOPNOTSUPP, unix.ENOSYS: // without locks each line is one write at the end
		return true, nil
	case unix.EWOULDBLOCK, unix.EINTR:
		return false, nil
	default:
		return false, err
	}
}

func release(f *os.File) { unix.Flock(int(f.Fd()), unix.LOCK_UN) }
