package sandbox

import "golang.org/x/sys/unix"

const (
	system   = unix.AUDIT_ARCH_X86_64
	system32 = unix.AUDIT_ARCH_I386
)

// fatalHere adds to fatal what only this system has.
func fatalHere() []uint32 { return []uint32{unix.SYS_FORK, unix.SYS_VFORK} }

// allowedHere adds to allowed what only this system has.
func allowedHere() []uint32 {
	return []uint32{
		unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_READLINK, unix.SYS_GETDENTS,
		unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_CHMOD, unix.SYS_DUP2, unix.SYS_PIPE,
		unix.SYS_POLL, unix.SYS_SELECT, unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_WAIT, unix.SYS_EVENTFD, unix.SYS_SIGNALFD,
		unix.SYS_TIME, unix.SYS_ALARM, unix.SYS_PAUSE, unix.SYS_GETPGRP, unix.SYS_ARCH_PRCTL,
	}
}
