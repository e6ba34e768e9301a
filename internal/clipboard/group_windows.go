package clipboard

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// ownGroup keeps a console window from opening. PowerShell starts no other process.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW}
}
