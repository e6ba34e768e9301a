//go:build unix

package fsys

import (
	"os"

	"golang.org/x/sys/unix"
)

const readFlags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY

// StampOf returns the stamp of an open file.
func StampOf(f *os.File) (Stamp, error) { return Fstat(int(f.Fd())) }

func stampFrom(st *unix.Stat_t) Stamp {
	return Stamp{
		Dev:   uint64(st.Dev), //nolint:unconvert // not so wide everywhere
		Ino:   st.Ino,
		Size:  st.Size,
		Mtime: st.Mtim.Nano(),
		Ctime: st.Ctim.Nano(),
		Mode:  uint32(st.Mode),
		Nlink: uint64(st.Nlink),
		UID:   st.Uid,
		GID:   st.Gid,
	}
}

func kindOf(s Stamp) Kind {
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return Regular
	case unix.S_IFDIR:
		return Directory
	}
	return Special
}

// Fstat returns the stamp of an open file.
func Fstat(fd int) (Stamp, error) {
	var st unix.Stat_t
	err := RetryEINTR(func() error { return unix.Fstat(fd, &st) })
	return stampFrom(&st), err
}

// Fstatat returns the stamp of a name in an open folder, of a link its own.
func Fstatat(dir int, name string) (Stamp, error) {
	var st unix.Stat_t
	err := RetryEINTR(func() error { return unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	return stampFrom(&st), err
}

// Lstat returns the stamp of an absolute name, of a link its own.
func Lstat(name string) (Stamp, error) { return Fstatat(unix.AT_FDCWD, name) }
