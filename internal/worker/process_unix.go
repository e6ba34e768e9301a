//go:build unix

package worker

import (
	"os"
	"syscall"
)

// apart keeps a worker out of what the terminal sends to the server, in a group of
// its own.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killAll ends a worker and what it has started: the one that was started may be a
// script around the one that works.
func killAll(p *os.Process) {
	syscall.Kill(-p.Pid, syscall.SIGKILL)
	p.Kill()
}
