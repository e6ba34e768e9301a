//go:build linux || darwin

package sys

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

func listAttrs(fd int, b []byte) (int, error) {
	return fsys.RetryEINTR2(func() (int, error) { return unix.Flistxattr(fd, b) })
}

func getAttr(fd int, name string, b []byte) (int, error) {
	return fsys.RetryEINTR2(func() (int, error) { return unix.Fgetxattr(fd, name, b) })
}

func setAttr(fd int, name string, value []byte) error {
	return fsys.RetryEINTR(func() error {
		if value == nil {
			return unix.Fremovexattr(fd, name)
		}
		return unix.Fsetxattr(fd, name, value, 0)
	})
}

// watcher is a file that is watched through a queue of the system, and a descriptor for it
// that outlives the caller's.
type watcher struct {
	*os.File
	queue   int
	changed func(queue int) bool
}

// newWatcher watches a file. begin adds it, by its own descriptor, to the queue.
func newWatcher(fd, queue int, begin func(fd int) error, changed func(queue int) bool) (WriteWatch, error) {
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		if err = begin(own); err != nil {
			unix.Close(own)
		}
	}
	if err != nil {
		unix.Close(queue)
		return nil, err
	}
	return &watcher{os.NewFile(uintptr(own), ""), queue, changed}, nil
}

func (w *watcher) Changed() bool { return w.changed(w.queue) }

func (w *watcher) Size() (int64, error) {
	info, err := w.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (w *watcher) Close() error {
	unix.Close(w.queue)
	return w.File.Close()
}

// inFolder calls f with the descriptor of a folder.
func inFolder(root *os.Root, f func(dir int) error) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return f(int(dir.Fd()))
}

// setLinkTime sets the time of a link itself.
func setLinkTime(root *os.Root, name string, mtime int64) error {
	at := unix.NsecToTimespec(mtime)
	return inFolder(root, func(dir int) error {
		return unix.UtimesNanoAt(dir, name, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW)
	})
}

// linkBetween gives a file a further name in another folder.
func linkBetween(a *os.Root, from string, b *os.Root, to string) error {
	return inFolders(a, b, func(a, b int) error { return unix.Linkat(a, from, b, to, 0) })
}

// inFolders calls f with the descriptors of two folders.
func inFolders(a, b *os.Root, f func(a, b int) error) error {
	return inFolder(a, func(a int) error {
		return inFolder(b, func(b int) error { return f(a, b) })
	})
}
