package worker

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// pipeSize is how much a pipe to or from a worker holds, in bytes: a picture goes
// through it in a few pieces, not in sixty, at each of which one waits for the
// other to get its turn.
const pipeSize = 1 << 20

// widen makes a pipe hold more, where that is allowed.
func widen(pipe any) {
	if p, ok := pipe.(syscall.Conn); ok {
		if raw, err := p.SyscallConn(); err == nil {
			raw.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
		}
	}
}
