package sys

import (
	"errors"
	"slices"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Is reports that err is one of the error numbers.
func Is(err error, numbers ...syscall.Errno) bool {
	var n syscall.Errno
	return errors.As(err, &n) && slices.Contains(numbers, n)
}

// IsOpen reports that a lease is refused since another program has the file open for writing:
// EAGAIN on Linux, ETXTBSY on Windows.
func IsOpen(err error) bool { return Is(err, syscall.EAGAIN, syscall.ETXTBSY) }

// Remove deletes a name, which must not fail for a passing reason: it is tried
// twice. A name that is gone already is as good.
func Remove(sys Sys, dir int, name string) error {
	err := sys.Unlink(dir, name, 0)
	if err != nil && !Is(err, syscall.ENOENT) {
		err = sys.Unlink(dir, name, 0)
	}
	if Is(err, syscall.ENOENT) {
		return nil
	}
	return err
}

// Stat tries twice, for the sake of what hangs on the answer.
func Stat(sys Sys, dir int, name string) (fsys.Stamp, error) {
	now, err := sys.Fstatat(dir, name)
	if err != nil && !Is(err, syscall.ENOENT) {
		return sys.Fstatat(dir, name)
	}
	return now, err
}

// Open opens a name and stamps the file. After an error nothing is open.
func Open(sys Sys, dir int, name string, how int) (fd int, now fsys.Stamp, err error) {
	if fd, err = sys.Openat(dir, name, how, 0); err != nil {
		return -1, now, err
	}
	if now, err = sys.Fstat(fd); err != nil {
		sys.Close(fd)
		return -1, now, err
	}
	return fd, now, nil
}

// SyncFolder syncs the names in a folder. It is opened anew: a descriptor that only marks a
// place cannot be synced.
func SyncFolder(sys Sys, dir int, name string) error {
	fd, err := sys.Openat(dir, name, Folder, 0)
	if err != nil {
		return err
	}
	defer sys.Close(fd)
	return sys.Sync(fd)
}

// LockedFile is a file that has just been created.
type LockedFile struct {
	FD      int
	Name    string
	Stamp   fsys.Stamp
	LockErr error // the file system has no locks
	Left    bool  // a file that was made before this one could not be removed
}

// CreateLocked creates a file in dir under a new name and locks it. A sweeper may
// remove the file before it is locked; then CreateLocked makes another.
func CreateLocked(sys Sys, dir int, mode uint32, newName func() (string, error)) (LockedFile, error) {
	left := false
	for {
		f := LockedFile{FD: -1, Left: left}
		name, err := newName()
		if err != nil {
			return f, err
		}
		if f.FD, err = sys.Openat(dir, name, Create, mode); err != nil {
			return f, err
		}
		f.Name = name
		f.LockErr = sys.Flock(f.FD, LockExclusive)
		f.Stamp, err = sys.Fstat(f.FD)
		if err == nil && f.Stamp.Nlink > 0 && !Is(f.LockErr, syscall.EWOULDBLOCK) {
			return f, nil
		}
		if Remove(sys, dir, f.Name) != nil {
			left = true
		}
		sys.Close(f.FD)
		if err != nil {
			return LockedFile{FD: -1, Left: left}, err
		}
	}
}
