package filelock

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Open opens a lock file, and makes it if it is missing. Discard works while it is open, as it
// does on other systems: os.OpenFile does not share deletion.
func Open(name string) (*os.File, error) {
	return openShared(name, windows.GENERIC_READ|windows.GENERIC_WRITE)
}

// OpenAppend opens a file that processes append to, and makes it if it is missing. Each of them
// may rename it meanwhile.
func OpenAppend(name string) (*os.File, error) {
	return openShared(name, windows.FILE_GENERIC_WRITE|windows.FILE_READ_ATTRIBUTES)
}

func openShared(name string, access uint32) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(path, access, share, nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// Discard removes a file that Open opened, while processes have it open. The file is renamed
// first: its own name stays taken until the last of them closes it.
func Discard(name string) error {
	gone := name + ".gone"
	if err := os.Remove(gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(name, gone); err != nil {
		return err
	}
	return os.Remove(gone)
}
