package sys

import "golang.org/x/sys/unix"

const (
	noFollow = unix.O_NOFOLLOW
	nonBlock = unix.O_NONBLOCK
	folder   = unix.O_DIRECTORY
	place    = unix.O_PATH
	unnamed  = unix.O_TMPFILE
	alone    = 0
)
