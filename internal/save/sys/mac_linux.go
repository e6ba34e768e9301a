package sys

import (
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// These stand for the calls of macOS in tests; see Mac.As.

func renameFlags(root *os.Root, from, to string, flags uint) error {
	return inFolder(root, func(dir int) error { return unix.Renameat2(dir, from, dir, to, flags) })
}

func fileFlags(fd int) (uint32, error) { return Kernel{}.Flags(fd) }

func setFileFlags(fd int, flags uint32) error { return Kernel{}.SetFlags(fd, flags) }

// copyACL has nothing to do: access lists are among the attributes.
func copyACL(int, int) error { return nil }

// cloneFile makes a clone that has all the metadata that the system lets it copy, as one of
// APFS has.
func cloneFile(from int, root *os.Root, name string) error {
	to, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer to.Close()
	if err := cloneInto(int(to.Fd()), from); err != nil {
		root.Remove(name)
		return unix.EOPNOTSUPP
	}
	return nil
}

// cloneInto makes a new file a clone of another one, or on a file system without clones a
// copy, so that what follows is tested there too.
func cloneInto(to, from int) error {
	if unix.IoctlFileClone(to, from) != nil {
		for off := int64(0); ; {
			n, err := Kernel{}.CopyRange(from, off, to, off, rangeStep)
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
			off += n
		}
	}
	names, err := Kernel{}.Listxattr(from)
	for _, name := range names {
		if value, none := (Kernel{}).Getxattr(from, name); none == nil && err == nil {
			err = setAttr(to, name, value)
		}
	}
	var st unix.Stat_t
	if err == nil {
		err = unix.Fstat(from, &st)
	}
	if err == nil {
		err = unix.Fchmod(to, st.Mode&0o777)
	}
	return err
}

func watchWrites(fd int) (WriteWatch, error) {
	queue, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return newWatcher(fd, queue, func(fd int) error {
		_, err := unix.InotifyAddWatch(queue, "/proc/self/fd/"+strconv.Itoa(fd), unix.IN_MODIFY)
		return err
	}, anyWrite)
}

// anyWrite reports whether the queue of inotify has the event of a write. It has others, too: that
// the watch has ended, once the last name of the file is gone (in a volume that folds names, if the
// kernel forgets another spelling of it).
func anyWrite(queue int) bool {
	buf := make([]byte, 4096)
	n, _ := unix.Read(queue, buf)
	for at := 0; at+unix.SizeofInotifyEvent <= n; {
		event := (*unix.InotifyEvent)(unsafe.Pointer(&buf[at]))
		if event.Mask&(unix.IN_MODIFY|unix.IN_Q_OVERFLOW) != 0 {
			return true
		}
		at += unix.SizeofInotifyEvent + int(event.Len)
	}
	return false
}

// renameBetween and linkBetween are renames and links between two folders.
func renameBetween(a *os.Root, from string, b *os.Root, to string, flags uint) error {
	return inFolders(a, b, func(a, b int) error { return Kernel{}.MoveName(a, from, b, to, flags) })
}
