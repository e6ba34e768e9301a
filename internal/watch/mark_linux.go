package watch

import (
	"io/fs"
	"syscall"
)

// changeTime is when the file's content or attributes changed, in nanoseconds;
// unlike the time of modification nobody can set it.
func changeTime(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return 0
}
