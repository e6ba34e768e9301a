package fsys

import (
	"io/fs"
	"syscall"
)

// flagDataless is SF_DATALESS (source: sys/stat.h).
const flagDataless = 0x40000000

func awayBySystem(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Flags&flagDataless != 0
}
