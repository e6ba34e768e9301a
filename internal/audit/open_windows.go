package audit

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// keepOpen is false: a rename cannot replace an old file that is open, not even one that
// shares deletion (source: MoveFileExW; seen under Wine).
const keepOpen = false

// isHeld reports whether another program has the file open in a way that does not allow
// what was tried.
func isHeld(err error) bool {
	var rename *os.LinkError // a name to replace that is open: access denied
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) ||
		errors.As(err, &rename) && errors.Is(err, windows.ERROR_ACCESS_DENIED)
}
