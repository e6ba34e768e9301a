package procgroup

import "syscall"

// ownGroup starts a group of processes, whose first one ends with this process, even if
// that is killed. The kernel sends the signal when the thread that started it ends. Go's
// threads last as long as the process, since no goroutine is locked to one here.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
