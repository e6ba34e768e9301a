package sys

import (
	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// byFolders are the NameCalls of the Kernel.
type byFolders struct{}

func (byFolders) MoveName(fromDir int, from string, toDir int, to string, flags uint) error {
	if flags == 0 {
		return unix.Renameat(fromDir, from, toDir, to)
	}
	return unix.Renameat2(fromDir, from, toDir, to, flags)
}

func (byFolders) LinkName(fromDir int, from string, toDir int, to string) error {
	return unix.Linkat(fromDir, from, toDir, to, 0)
}

func (byFolders) Readlink(dir int, name string) (string, error) {
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		n, err := fsys.RetryEINTR2(func() (int, error) { return unix.Readlinkat(dir, name, buf) })
		if err != nil || n < size {
			return string(buf[:max(n, 0)]), err
		}
	}
}

func (byFolders) Symlink(text string, dir int, name string, uid, gid uint32) error {
	err := unix.Symlinkat(text, dir, name)
	if err == nil {
		unix.Fchownat(dir, name, int(uid), int(gid), unix.AT_SYMLINK_NOFOLLOW) // root alone may give files away
	}
	return err
}

func (byFolders) SetTimes(dir int, name string, mtime int64) error {
	at := unix.NsecToTimespec(mtime)
	return fsys.RetryEINTR(func() error {
		return unix.UtimesNanoAt(dir, name, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
	})
}
