//go:build unix

package procgroup

import (
	"os"
	"syscall"
)

// job is nothing: a group has the number of its first process.
type job struct{}

func gather(*os.Process) job { return job{} }

func (job) close() {}

// Kill ends all of the group at once.
func (g *Group) Kill() { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) }
