//go:build unix

package worker

import (
	"os"
	"syscall"
)

// apart starts a worker in its own process group, so that the terminal's signals to the
// server do not reach it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// killAll kills a worker and what it started: the command may be a script around the
// decoder.
func killAll(p *os.Process) {
	syscall.Kill(-p.Pid, syscall.SIGKILL)
	p.Kill()
}
