//go:build !linux || fsys_portable

package lock

import "github.com/fsmcp/fsmcp/internal/save/disk"

// folderID is the identity of a folder by name.
func folderID(path string) (dev, ino uint64, err error) {
	s, err := disk.StampOf(path)
	return s.Dev, s.Ino, err
}
