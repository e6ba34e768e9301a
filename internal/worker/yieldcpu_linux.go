package worker

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// cpuSet are some of the machine's.
type cpuSet = unix.CPUSet

// allowedCPUs are those that this process may run on.
func allowedCPUs() (set cpuSet, ok bool) {
	return set, unix.SchedGetaffinity(os.Getpid(), &set) == nil
}

// otherCPUs are those without the one that the caller runs on. ok: there are any.
func otherCPUs() (set cpuSet, ok bool) {
	set, ok = allowedCPUs()
	var here uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&here)), 0, 0); errno != 0 {
		return set, false
	}
	set.Clear(int(here))
	return set, ok && set.Count() > 0
}

// runOn says where all threads of a worker run; those to come take it over.
func (w *process) runOn(set cpuSet) {
	select {
	case <-w.gone:
		return
	default:
	}
	for range 2 { // a thread that was being made may be none of those seen
		for _, id := range threads(w.cmd.Process.Pid) {
			unix.SchedSetaffinity(id, &set)
		}
	}
}
