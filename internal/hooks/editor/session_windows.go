package editor

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// ownSession keeps the signals of this process's console from the editor, and opens no
// console for an editor that is started by a batch file.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}
