//go:build unix && !linux

package procgroup

import "syscall"

// ownGroup begins a group of processes.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
