package audit

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// keepOpen is false: a rename cannot replace an old file that is open, not even one that
// shares deletion (source: MoveFileExW; seen under Wine).
const keepOpen = false

// openFile opens the file so that another process may rename it meanwhile. os.OpenFile does
// not share deletion.
func openFile(name string) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	const access = windows.FILE_GENERIC_WRITE | windows.FILE_READ_ATTRIBUTES
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(path, access, share, nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// isHeld reports whether another program has the file open in a way that does not allow
// what was tried.
func isHeld(err error) bool {
	var rename *os.LinkError // a name to replace that is open: access denied
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
		errors.As(err, &rename) && errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
