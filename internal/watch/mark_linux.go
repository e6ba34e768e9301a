package watch

import (
	"io/fs"
	"syscall"
)

// changeTime returns the time of the last change of the file's content or attributes, in
// nanoseconds. Unlike the time of modification no program can set it.
func changeTime(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano()
	}
	return 0
}
