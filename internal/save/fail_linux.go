//go:build !fsys_portable

package save

import (
	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/save/disk"
)

// refusal is an error that forbids replacing the file, but perhaps not writing it.
type refusal struct{ IOError }

func (x *Txn) refuse(op string, err error) error {
	if disk.Is(err, unix.EACCES, unix.EPERM, unix.EROFS, unix.EBUSY, unix.EXDEV) && x.folderLives() {
		return &refusal{IOError{Op: op, Path: x.path, Err: err}}
	}
	return x.failIfThere(op, err)
}

// failIfThere tells an error from the consequence of the folder being gone: into a
// deleted one nothing can be put, and not every file system says so plainly.
func (x *Txn) failIfThere(op string, err error) error {
	if disk.Is(err, unix.ENOENT) || disk.Is(err, unix.EPERM) && !x.folderLives() {
		return ErrVanished
	}
	return x.fail(op, err)
}

// folderLives: a folder that cannot be asked is tried once more, by name.
func (x *Txn) folderLives() bool {
	now, err := x.s.sys.Fstat(x.dir)
	return err != nil || now.Nlink > 0
}
