//go:build !fsys_portable

package lock

import (
	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/save/disk"
)

// folderID is the identity of a folder by name.
func folderID(path string) (dev, ino uint64, err error) {
	s, err := disk.Kernel{}.Fstatat(unix.AT_FDCWD, path)
	return s.Dev, s.Ino, err
}
