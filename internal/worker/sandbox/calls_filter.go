//go:build linux && (amd64 || arm64)

package sandbox

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What the filter answers.
const (
	pass    = unix.SECCOMP_RET_ALLOW
	kill    = unix.SECCOMP_RET_KILL_PROCESS
	forbid  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	unknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// Offsets in struct seccomp_data (source: linux/seccomp.h), on a machine that stores the
// low bytes first.
const (
	atNumber = 0
	atSystem = 4
	atFirst  = 16 // the low half of the first argument
)

// otherTable marks the calls of x32, which have a table of their own.
const otherTable = 1 << 30

// limitCalls sets the filter for all threads. It does nothing if the kernel cannot end a
// process by a filter (before 4.14).
func limitCalls() {
	action := uint32(kill)
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action))); errno != 0 {
		return
	}
	if unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil {
		return
	}
	list := filter(uint32(unix.Getpid()))
	program := unix.SockFprog{Len: uint16(len(list)), Filter: &list[0]}
	// Without SPEC_ALLOW a kernel before 5.16 makes all code of the process slower.
	for _, flags := range []uintptr{unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW, unix.SECCOMP_FILTER_FLAG_TSYNC} {
		if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program))); errno == 0 {
			return
		}
	}
}

// filter returns the filter for a process of that number. On a kernel of another system,
// as under an emulator, it allows everything.
func filter(pid uint32) (f []unix.SockFilter) {
	load := func(at uint32) { f = append(f, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}) }
	test := func(how uint16, k uint32, yes, no uint8) {
		f = append(f, unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, Jt: yes, Jf: no, K: k})
	}
	answer := func(what uint32) { f = append(f, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what}) }

	load(atSystem)
	test(unix.BPF_JEQ, system32, 0, 1) // the calls of 32-bit programs, which this one never makes
	answer(kill)
	test(unix.BPF_JEQ, system, 1, 0)
	answer(pass)
	load(atNumber)
	test(unix.BPF_JGE, otherTable, 0, 1)
	answer(unknown)
	for _, n := range append(fatal(), fatalHere()...) {
		test(unix.BPF_JEQ, n, 0, 1)
		answer(kill)
	}
	test(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4)
	load(atFirst)
	test(unix.BPF_JSET, unix.CLONE_THREAD, 1, 0)
	answer(kill) // a process
	answer(pass) // a thread
	for _, n := range ownProcess() {
		test(unix.BPF_JEQ, n, 0, 5)
		load(atFirst)
		test(unix.BPF_JEQ, 0, 2, 0)
		test(unix.BPF_JEQ, pid, 1, 0)
		answer(forbid)
		answer(pass)
	}
	for _, r := range ranges(append(allowed(), allowedHere()...)) {
		test(unix.BPF_JGE, r.first, 0, 2)
		test(unix.BPF_JGT, r.last, 1, 0)
		answer(pass)
	}
	answer(unknown)
	return f
}

// numbers are the system calls from first to last.
type numbers struct{ first, last uint32 }

// ranges returns the ranges that some system calls form.
func ranges(calls []uint32) (all []numbers) {
	slices.Sort(calls)
	for _, n := range calls {
		if last := len(all) - 1; last >= 0 && n <= all[last].last+1 {
			all[last].last = n
		} else {
			all = append(all, numbers{n, n})
		}
	}
	return all
}

// fatal returns the calls that end the process.
func fatal() []uint32 {
	return []uint32{
		unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_SOCKET, unix.SYS_PTRACE, unix.SYS_BPF,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	}
}

// ownProcess returns the calls that may name this process or 0 as their first argument,
// and no other.
func ownProcess() []uint32 { return []uint32{unix.SYS_KILL, unix.SYS_TGKILL, unix.SYS_PRLIMIT64} }

// allowed returns the calls that succeed as without a filter: more than the decoders make
// today, so that the next version of a library works. Landlock decides on files.
// clone3 is not among them: the filter cannot see its flags, and libraries call clone if
// it is unknown.
func allowed() []uint32 {
	return []uint32{
		// Files.
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_FSTAT, unix.SYS_LSEEK, unix.SYS_PREAD64, unix.SYS_PWRITE64,
		unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREADV, unix.SYS_PWRITEV, unix.SYS_PREADV2, unix.SYS_PWRITEV2,
		unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_NEWFSTATAT, unix.SYS_STATX, unix.SYS_STATFS, unix.SYS_FSTATFS,
		unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT, unix.SYS_GETDENTS64, unix.SYS_GETCWD, unix.SYS_CHDIR, unix.SYS_FCHDIR,
		unix.SYS_FCNTL, unix.SYS_FLOCK, unix.SYS_IOCTL, unix.SYS_DUP, unix.SYS_DUP3, unix.SYS_PIPE2, unix.SYS_CLOSE_RANGE,
		unix.SYS_GETSOCKNAME, unix.SYS_GETPEERNAME, unix.SYS_GETSOCKOPT, // by which libraries ask what a descriptor is
		unix.SYS_SENDFILE, unix.SYS_COPY_FILE_RANGE, unix.SYS_SPLICE, unix.SYS_FADVISE64, unix.SYS_READAHEAD,
		unix.SYS_FALLOCATE, unix.SYS_FTRUNCATE, unix.SYS_TRUNCATE, unix.SYS_FSYNC, unix.SYS_FDATASYNC,
		unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_MKDIRAT, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_UTIMENSAT, unix.SYS_UMASK,
		unix.SYS_MEMFD_CREATE,
		// Memory.
		unix.SYS_MMAP, unix.SYS_MPROTECT, unix.SYS_MUNMAP, unix.SYS_BRK, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_MREMAP, unix.SYS_MSYNC,
		unix.SYS_MLOCK, unix.SYS_MLOCK2, unix.SYS_MUNLOCK, unix.SYS_PKEY_ALLOC, unix.SYS_PKEY_FREE, unix.SYS_PKEY_MPROTECT,
		unix.SYS_MEMBARRIER, unix.SYS_GET_MEMPOLICY, unix.SYS_SET_MEMPOLICY, unix.SYS_MBIND,
		// Threads.
		unix.SYS_FUTEX, unix.SYS_FUTEX_WAITV, unix.SYS_FUTEX_WAKE, unix.SYS_FUTEX_WAIT, unix.SYS_FUTEX_REQUEUE,
		unix.SYS_SET_ROBUST_LIST, unix.SYS_GET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_SET_TID_ADDRESS, unix.SYS_GETTID, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
		unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_GETATTR, unix.SYS_SCHED_SETATTR,
		unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_GETSCHEDULER, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_GET_PRIORITY_MAX, unix.SYS_SCHED_GET_PRIORITY_MIN,
		unix.SYS_GETPRIORITY, unix.SYS_SETPRIORITY, unix.SYS_GETCPU,
		// Signals and timers.
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_RT_SIGPENDING, unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_RT_SIGSUSPEND,
		unix.SYS_SIGALTSTACK, unix.SYS_SIGNALFD4, unix.SYS_RESTART_SYSCALL, unix.SYS_GETITIMER, unix.SYS_SETITIMER,
		unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_GETTIME, unix.SYS_TIMER_GETOVERRUN, unix.SYS_TIMER_DELETE,
		unix.SYS_TIMERFD_CREATE, unix.SYS_TIMERFD_SETTIME, unix.SYS_TIMERFD_GETTIME,
		unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY, unix.SYS_TIMES,
		unix.SYS_PPOLL, unix.SYS_PSELECT6, unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_EVENTFD2,
		// The process itself.
		unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETGROUPS,
		unix.SYS_GETRESUID, unix.SYS_GETRESGID, unix.SYS_GETPGID, unix.SYS_GETSID, unix.SYS_CAPGET,
		unix.SYS_GETRUSAGE, unix.SYS_GETRLIMIT, unix.SYS_SETRLIMIT, unix.SYS_UNAME, unix.SYS_SYSINFO, unix.SYS_PRCTL, unix.SYS_WAIT4, unix.SYS_WAITID, unix.SYS_GETRANDOM,
	}
}
