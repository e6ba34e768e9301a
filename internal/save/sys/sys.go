package sys

import (
	"io"
	"os"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Sys is the system calls of the save path, one method each, so that tests can
// make any of them fail. Errors are error numbers (syscall.Errno). Files and folders are
// numbers, too: descriptors of the Kernel, or what Portable gives out.
type Sys interface {
	// Adopt returns the numbers of the folder that a target holds open, the deepest that
	// exists, and of its file; f may be nil. Both stay the caller's. Forget ends their use.
	Adopt(t *fsys.Target, f *fsys.File) (dir, fd int, err error)
	Forget(dir, fd int)

	Openat(dir int, name string, flags int, mode uint32) (int, error)
	Close(fd int) error
	Names(fd int) ([]string, error) // what a folder holds

	Fstat(fd int) (fsys.Stamp, error)
	Fstatat(dir int, name string) (fsys.Stamp, error) // of a link itself
	Network(fd int) bool
	AddOnly(dir int) bool // names can be put into the folder, but not taken away
	// Offers tells whether exchanging names is worth trying, and whether a file that cannot
	// be replaced may be written in place.
	Offers() (exchange, inPlace bool)

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
	Setxattr(fd int, name string, value []byte) error // nil removes the attribute

	// Clone makes a new file that shares the content of another one and has its metadata.
	// Where files cannot be cloned it is EOPNOTSUPP.
	Clone(from, dir int, name string) error
	CopyACL(from, to int) error // if it is not among the attributes
	// Watch notes from now on whether the file is written to; the caller closes the WriteWatch.
	Watch(fd int) (WriteWatch, error)

	Flock(fd int, how int) error
	SetLease(fd int, kind int) error
	GetLease(fd int) (int, error)

	Link(dir int, from, to string, flags int) error    // within one folder, or from an absolute name
	Rename(dir int, from, to string, flags uint) error // within one folder
	Unlink(dir int, name string, flags int) error
	Mkdir(dir int, name string, mode uint32) error

	NameCalls
}

// NameCalls are calls for the names of files and links in any two folders. Where a call with
// NoReplace is not offered it is EINVAL.
type NameCalls interface {
	MoveName(fromDir int, from string, toDir int, to string, flags uint) error
	LinkName(fromDir int, from string, toDir int, to string) error
	Readlink(dir int, name string) (string, error)
	Symlink(text string, dir int, name string, uid, gid uint32) error // the owner as far as it may be set
	SetTimes(dir int, name string, mtime int64) error                 // of the object itself, where links have times
}

// WriteWatch is an open file that is watched for writes.
type WriteWatch interface {
	io.ReaderAt
	io.Closer
	Changed() bool // whether a program has written to the file since Watch
	Size() (int64, error)
}

// CWD stands for the folder from which absolute names are opened.
const CWD = -100

// The ways to open a file or a folder.
const (
	Read      = os.O_RDONLY | noFollow | nonBlock
	ReadWrite = os.O_RDWR | nonBlock
	Create    = os.O_RDWR | os.O_CREATE | os.O_EXCL | noFollow // fails if the name is taken
	Lock      = os.O_RDWR | os.O_CREATE | noFollow
	Unnamed   = os.O_RDWR | unnamed // a file without a name in the folder
	Folder    = os.O_RDONLY | folder
	Place     = place | folder | noFollow // a folder, to reach names in it
	Itself    = place | noFollow          // what a name leads to, a link itself, to tell later what became of it
	NoFollow  = noFollow                  // added to one of these
	Alone     = alone                     // added to ReadWrite: on Windows no other program may have the file open for writing, or open it so
)

// The flags of Rename, Link and Unlink, and the kinds of locks and leases. The numbers are
// those of Linux (source: linux/fs.h, linux/fcntl.h).
const (
	NoReplace = 1 // Rename fails if the new name is taken
	Exchange  = 2 // Rename swaps both names

	FollowLink   = 0x400 // Link follows the old name
	RemoveFolder = 0x200 // Unlink removes an empty folder

	LockShared    = 1 | 4 // Flock, without waiting
	LockExclusive = 2 | 4
	Unlock        = 8

	ReadLease  = 0
	WriteLease = 1
	NoLease    = 2
)

// The bits of a stamp's mode.
const (
	PermBits  = 0o7777
	SetIDBits = 0o6000

	kindBits    = 0o170000
	regularBits = 0o100000
	linkBits    = 0o120000
	folderBits  = 0o040000
)

// IsRegular reports whether a stamp is of a regular file.
func IsRegular(s fsys.Stamp) bool { return s.Mode&kindBits == regularBits }

// IsLink reports whether a stamp is of a symbolic link.
func IsLink(s fsys.Stamp) bool { return s.Mode&kindBits == linkBits }

// IsFolder reports whether a stamp is of a folder.
func IsFolder(s fsys.Stamp) bool { return s.Mode&kindBits == folderBits }
