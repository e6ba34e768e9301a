//go:build unix

package editor

import "syscall"

// ownSession keeps the signals of this process's terminal and group from the editor.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
