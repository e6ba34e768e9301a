package filelock

import (
	"golang.org/x/sys/windows"
)

// place is the byte that stands for the whole file. Locks are mandatory on Windows, so it
// is beyond every read.
func place() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 0x7fffffff} }

// Try locks a file unless another open file has the lock, which is no error.
func Try(f Descriptor) (got bool, err error) {
	const how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err = windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, place())
	if err == windows.ERROR_LOCK_VIOLATION {
		return false, nil
	}
	return err == nil, err
}

// Unlock lets others have the file.
func Unlock(f Descriptor) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, place())
}
