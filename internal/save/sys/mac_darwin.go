package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// renameFlags swaps two names, or fails if the new one is taken. It is EINVAL on a volume
// that cannot: HFS+, SMB, exFAT.
func renameFlags(root *os.Root, from, to string, flags uint) error {
	how := uint32(unix.RENAME_SWAP)
	if flags == NoReplace {
		how = unix.RENAME_EXCL
	}
	err := inFolder(root, func(dir int) error { return unix.RenameatxNp(dir, from, dir, to, how) })
	if err == unix.ENOTSUP {
		return unix.EINVAL
	}
	return err
}

// keptFileFlags are the flags of a file that its owner sets and that a copy keeps. They are no
// flags of Linux that mean something else to the save path.
const keptFileFlags = unix.UF_NODUMP | unix.UF_OPAQUE | unix.UF_HIDDEN

// fileFlags returns those flags of a file, and those that forbid writing in the numbers of
// Linux.
func fileFlags(fd int) (uint32, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, err
	}
	flags := st.Flags & keptFileFlags
	if st.Flags&(unix.UF_IMMUTABLE|sfImmutable) != 0 {
		flags |= immutable
	}
	if st.Flags&(unix.UF_APPEND|sfAppend) != 0 {
		flags |= appendOnly
	}
	return flags, nil
}

// The flags that only root sets (source: sys/stat.h).
const (
	sfImmutable = 0x20000
	sfAppend    = 0x40000
)

func setFileFlags(fd int, flags uint32) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	return unix.Fchflags(fd, int(st.Flags&^keptFileFlags|flags&keptFileFlags))
}

// cloneACL has fclonefileat copy the access list (source: sys/clonefile.h).
const cloneACL = 0x4

// cloneFile makes a clone on APFS. On another volume, and where the folder lies on another
// one than the file (a file that is mounted alone), it is EOPNOTSUPP.
func cloneFile(from int, root *os.Root, name string) error {
	err := inFolder(root, func(dir int) error {
		return unix.Fclonefileat(from, dir, name, unix.CLONE_NOFOLLOW|cloneACL)
	})
	switch err {
	case unix.ENOTSUP, unix.EXDEV, unix.EINVAL, unix.ENOSYS:
		return unix.EOPNOTSUPP
	}
	return err
}

func watchWrites(fd int) (WriteWatch, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(queue)
	return newWatcher(fd, queue, func(fd int) error {
		event := unix.Kevent_t{Fflags: unix.NOTE_WRITE | unix.NOTE_EXTEND}
		unix.SetKevent(&event, fd, unix.EVFILT_VNODE, unix.EV_ADD|unix.EV_CLEAR)
		_, err := unix.Kevent(queue, []unix.Kevent_t{event}, nil, nil)
		return err
	}, func(queue int) bool {
		n, _ := unix.Kevent(queue, nil, make([]unix.Kevent_t, 1), &unix.Timespec{})
		return n > 0
	})
}

// renameBetween is renameFlags for two folders.
func renameBetween(a *os.Root, from string, b *os.Root, to string, flags uint) error {
	return inFolders(a, b, func(a, b int) error {
		if flags == 0 {
			return unix.Renameat(a, from, b, to)
		}
		err := unix.RenameatxNp(a, from, b, to, unix.RENAME_EXCL)
		if err == unix.ENOTSUP {
			return unix.EINVAL
		}
		return err
	})
}
