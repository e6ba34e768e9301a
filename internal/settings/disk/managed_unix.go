//go:build unix

package disk

import (
	"io/fs"
	"syscall"
)

const doNotBlock = syscall.O_NONBLOCK

// onlyAdministratorsWrite reports whether a file belongs to root and only root may write to
// it.
func onlyAdministratorsWrite(_ string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 && info.Mode()&0o022 == 0
}
