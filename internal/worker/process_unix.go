//go:build unix

package worker

import "syscall"

// apart keeps a worker out of what the terminal sends to the server.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
