package worker

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cpuSet is a set of processors.
type cpuSet = unix.CPUSet

// allowedCPUs returns the processors that this process may run on.
func allowedCPUs() (set cpuSet, ok bool) {
	return set, unix.SchedGetaffinity(os.Getpid(), &set) == nil
}

// otherCPUs returns those processors without the one that the caller runs on; ok is false
// if none remains.
func otherCPUs() (set cpuSet, ok bool) {
	set, ok = allowedCPUs()
	var here uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&here)), 0, 0); errno != 0 {
		return set, false
	}
	set.Clear(int(here))
	return set, ok && set.Count() > 0
}

// runOn sets the processors of all threads of a worker; new threads inherit them.
func (w *process) runOn(set cpuSet) {
	select {
	case <-w.gone:
		return
	default:
	}
	for range 2 { // a thread that is being made may be missing from the list
		for _, id := range threads(w.cmd.Process.Pid) {
			unix.SchedSetaffinity(id, &set)
		}
	}
}
