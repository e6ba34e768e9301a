package hooks

import "syscall"

// ownGroup begins a group of processes, whose first one ends with this process, also
// where that is killed. The kernel sends it when the thread that started it ends, and
// Go's threads last as long as the process, since none is locked to a goroutine here.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
