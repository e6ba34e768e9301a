//go:build unix && (!linux || fsys_portable)

package save

import (
	"os"
	"syscall"
)

// private reports that a folder is this user's and nobody else may enter.
func private(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}
