//go:build unix

package clipboard

import (
	"os/exec"
	"syscall"
)

// ownGroup has a command begin a group of processes, which is killed as one.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
