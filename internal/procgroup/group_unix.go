//go:build unix

package procgroup

import (
	"os/exec"
	"syscall"
)

// Group is a command with all that it starts.
type Group struct{ cmd *exec.Cmd }

// New has a command that is not started yet begin a group of processes.
func New(cmd *exec.Cmd) *Group {
	cmd.SysProcAttr = ownGroup()
	return &Group{cmd}
}

// Gather is called once the command was started.
func (g *Group) Gather() {}

// Kill ends all of the group at once.
func (g *Group) Kill() { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) }

// Close leaves alone what still runs.
func (g *Group) Close() {}
