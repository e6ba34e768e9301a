//go:build !unix

package worker

import (
	"os"
	"syscall"
)

func apart() *syscall.SysProcAttr { return nil }

// killAll ends a worker.
func killAll(p *os.Process) { p.Kill() }
