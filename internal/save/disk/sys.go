package disk

import "github.com/fsmcp/fsmcp/internal/fsys"

// Sys is the system calls of the save path, one method each, so that tests can
// make any of them fail. Errors are error numbers. It is used on Linux alone.
type Sys interface {
	Openat(dir int, name string, flags int, mode uint32) (int, error)
	Close(fd int) error
	Dup(fd, over int) error         // over is the same open file as fd afterwards
	Names(fd int) ([]string, error) // what a folder holds

	Fstat(fd int) (fsys.Stamp, error)
	Fstatat(dir int, name string) (fsys.Stamp, error) // of a link itself
	Network(fd int) bool
	AddOnly(dir int) bool // names can be put into the folder, but not taken away

	Pread(fd int, p []byte, off int64) (int, error)
	Pwrite(fd int, p []byte, off int64) (int, error)
	CopyRange(from int, fromOff int64, to int, toOff, n int64) (int64, error)
	Truncate(fd int, size int64) error
	Reserve(fd int, off, n int64) error // room on disk, without changing the size
	Sync(fd int) error

	Chmod(fd int, mode uint32) error
	Chown(fd int, uid, gid uint32) error
	Flags(fd int) (uint32, error) // of the inode, as chattr shows them
	SetFlags(fd int, flags uint32) error
	Listxattr(fd int) ([]string, error)
	Getxattr(fd int, name string) ([]byte, error)
	Setxattr(fd int, name string, value []byte) error
	Removexattr(fd int, name string) error

	Flock(fd int, how int) error
	SetLease(fd int, kind int) error
	GetLease(fd int) (int, error)

	Link(fromDir int, from string, toDir int, to string, flags int) error
	Rename(dir int, from, to string, flags uint) error // within one folder
	Unlink(dir int, name string, flags int) error
	Mkdir(dir int, name string, mode uint32) error
}
