//go:build unix

package procgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// job is nothing: a group has the number of its first process.
type job struct{}

func gather(*os.Process, Limits) (job, error) { return job{}, nil }

func (job) close() {}

func prepare(cmd *exec.Cmd) error {
	cmd.SysProcAttr = ownGroup()
	return nil
}

// StartAlone starts a command that may outlive this process, and gets none of the signals of
// its terminal and group.
func StartAlone(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

// RenewTime gives the group its Limits.Time anew, on Windows.
func (g *Group) RenewTime() {}

// Kill ends all of the group at once.
func (g *Group) Kill() { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) }
