package sandbox

import (
	"errors"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Enter restricts all threads of this process for good, as far as the kernel can, and
// returns what holds. A second call changes nothing.
func Enter() State {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := State{ABI: abi()}
	if s.ABI > 0 && !filesLimited() {
		s.Cgo = errors.Is(limitFiles(s.ABI), unix.ENOTSUP)
	}
	s.Files = filesLimited()
	if !callsLimited() {
		limitCalls()
	}
	s.Calls = callsLimited()
	return s
}

// abi returns the version of the kernel's Landlock, and 0 if it has none or turned it off.
func abi() int {
	n, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// filesLimited reports whether the root folder, which no decoder may read, cannot be read.
func filesLimited() bool {
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return err == unix.EACCES
}

// callsLimited reports whether a call that every kernel knows, and that changes nothing, is
// unknown.
func callsLimited() bool { return unix.Unshare(0) == unix.ENOSYS }

const (
	readFile = unix.LANDLOCK_ACCESS_FS_READ_FILE
	readAll  = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
)

// handled returns the rights that a ruleset takes away, as far as a Landlock of that
// version knows them (source: kernel.org, "Landlock: unprivileged access control").
func handled(abi int) unix.LandlockRulesetAttr {
	a := unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1}
	if abi >= 2 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 {
		a.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 5 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		a.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	return a
}

// limitFiles lets all threads read what readable names, and open nothing else. The error
// is ENOTSUP in a program with C code.
func limitFiles(abi int) error {
	rights := handled(abi)
	made, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&rights)), unsafe.Sizeof(rights), 0)
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(made))
	for _, path := range readable() {
		if allow(int(made), path, readAll) == unix.EINVAL { // it is no folder
			allow(int(made), path, readFile)
		}
	}
	allow(int(made), "/dev/null", readFile|unix.LANDLOCK_ACCESS_FS_WRITE_FILE|rights.Handled_access_fs&unix.LANDLOCK_ACCESS_FS_TRUNCATE)
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, made, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// allow adds a rule for a file, or for a folder and all below it. What is not there needs
// none.
func allow(ruleset int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
