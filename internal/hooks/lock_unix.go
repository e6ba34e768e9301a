//go:build unix

package hooks

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file for as long as it is open, unless somebody else has. An
// error says that there are no locks here.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}
