//go:build unix

package history

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file for as long as it is open, unless somebody else has.
func tryLock(f *os.File) (bool, error) {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch err {
		case nil:
			return true, nil
		case unix.EWOULDBLOCK:
			return false, nil
		case unix.EINTR:
			continue
		case unix.ENOLCK, unix.EOPNOTSUPP, unix.ENOSYS:
			return true, nil // no locks here: its youth has to protect it
		}
		return false, err
	}
}
