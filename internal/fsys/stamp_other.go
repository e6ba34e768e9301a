//go:build unix && (!linux || fsys_portable)

package fsys

import (
	"os"

	"golang.org/x/sys/unix"
)

const readFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY

func stampOf(f *os.File) (Stamp, error) { return Fstat(int(f.Fd())) }
