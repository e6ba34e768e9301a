//go:build unix

package filelock

import (
	"golang.org/x/sys/unix"
)

// Try locks a file unless another open file has the lock, which is no error. On a file
// system without locks the error is ErrNone.
func Try(f Descriptor) (got bool, err error) {
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
		case nil:
			return true, nil
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return false, nil
		case unix.ENOLCK, unix.EOPNOTSUPP, unix.ENOSYS:
			return false, ErrNone
		default:
			if err == unix.ENOTSUP { // the same number as EOPNOTSUPP, but not on macOS
				return false, ErrNone
			}
			return false, err
		}
	}
}

// Unlock lets others have the file.
func Unlock(f Descriptor) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }
