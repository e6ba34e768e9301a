package hooks

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockByte is locked for the whole file: locks are binding here, so it lies where
// nobody reads.
const lockByte = 0x7fffffff

// tryLock locks a file for as long as it is open, unless somebody else has. An
// error says that there are no locks here.
func tryLock(f *os.File) (bool, error) {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockByte})
	if err == windows.ERROR_LOCK_VIOLATION {
		return false, nil
	}
	return err == nil, err
}
