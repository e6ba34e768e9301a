//go:build unix

package main

import (
	"io/fs"
	"syscall"
)

// rootsOwn tells whether a file belongs to root and nobody else may write to it.
func rootsOwn(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Uid == 0 && info.Mode().Perm()&0o022 == 0
}
