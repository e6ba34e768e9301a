package worker

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// pipeSize is the size of a worker's pipes, in bytes. A picture passes in a few pieces
// instead of sixty; at each piece one side waits for the other.
const pipeSize = 1 << 20

// widen makes a pipe hold more, where that is allowed.
func widen(pipe any) {
	if p, ok := pipe.(syscall.Conn); ok {
		if raw, err := p.SyscallConn(); err == nil {
			raw.Control(func(fd uintptr) { unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize) })
		}
	}
}
