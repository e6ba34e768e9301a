//go:build !windows

package audit

import (
	"os"
	"syscall"
)

// keepOpen says that the file stays open between two lines.
const keepOpen = true

func openFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
}

// isHeld reports false: an open file can be opened and renamed.
func isHeld(error) bool { return false }
