//go:build unix

package hooks

import (
	"os/exec"
	"syscall"
)

// group is a command with all that it starts.
type group struct{ cmd *exec.Cmd }

// newGroup has a command that is not started yet begin a group of processes.
func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = ownGroup()
	return &group{cmd}
}

// gather is called once the command was started.
func (g *group) gather() {}

// kill ends all of the group at once.
func (g *group) kill() { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) }

func (g *group) close() {}
