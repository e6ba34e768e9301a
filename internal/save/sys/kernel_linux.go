package sys

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Kernel is the real system. It repeats a call that a signal interrupts, but not one
// that must not be done twice by guess: Close, after which the descriptor is gone either
// way, Sync, whose error is told only once, and Link and Rename, which may have happened
// (an exchange done twice is undone).
type Kernel struct {
	withLeases
	byFolders
}

// withLeases are the calls of Sys that Linux does not need: CopyRange shares content where the
// file system can, access lists are among the attributes, and a lease keeps writers out.
type withLeases struct{}

func (withLeases) Clone(int, int, string) error  { return unix.EOPNOTSUPP }
func (withLeases) CopyACL(int, int) error        { return nil }
func (withLeases) Watch(int) (WriteWatch, error) { return nil, unix.EOPNOTSUPP }

func (Kernel) Forget(int, int) {}

func (Kernel) Offers() (exchange, inPlace bool) { return true, true }

func (Kernel) Openat(dir int, name string, flags int, mode uint32) (int, error) {
	return fsys.RetryEINTR2(func() (int, error) { return unix.Openat(dir, name, flags|unix.O_CLOEXEC|unix.O_NOCTTY, mode) })
}

func (Kernel) Close(fd int) error { return unix.Close(fd) }

func (Kernel) Names(fd int) ([]string, error) {
	again, err := Kernel{}.Openat(fd, ".", Folder, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(again), "")
	defer f.Close()
	return f.Readdirnames(-1)
}

func (Kernel) Fstat(fd int) (fsys.Stamp, error) { return fsys.Fstat(fd) }

func (Kernel) Fstatat(dir int, name string) (fsys.Stamp, error) { return fsys.Fstatat(dir, name) }

func (Kernel) Network(fd int) bool { return fsys.OnNetwork(fd) }

// AddOnly asks for the attribute that "chattr +a" sets. A kernel or file system
// that does not tell has none.
func (Kernel) AddOnly(dir int) bool {
	var st unix.Statx_t
	err := unix.Statx(dir, "", unix.AT_EMPTY_PATH, 0, &st)
	return err == nil && st.Attributes&unix.STATX_ATTR_APPEND != 0
}

func (Kernel) Pread(fd int, p []byte, off int64) (int, error) {
	return fsys.RetryEINTR2(func() (int, error) { return unix.Pread(fd, p, off) })
}

func (Kernel) Pwrite(fd int, p []byte, off int64) (int, error) {
	return fsys.RetryEINTR2(func() (int, error) { return unix.Pwrite(fd, p, off) })
}

// rangeStep bounds one copy_file_range, which cannot be interrupted.
const rangeStep = 64 << 20

func (Kernel) CopyRange(from int, fromOff int64, to int, toOff, n int64) (int64, error) {
	done, err := fsys.RetryEINTR2(func() (int, error) {
		return unix.CopyFileRange(from, &fromOff, to, &toOff, int(min(n, rangeStep)), 0)
	})
	return int64(done), err
}

func (Kernel) Truncate(fd int, size int64) error {
	return fsys.RetryEINTR(func() error { return unix.Ftruncate(fd, size) })
}

func (Kernel) Reserve(fd int, off, n int64) error {
	return fsys.RetryEINTR(func() error { return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, off, n) })
}

func (Kernel) Sync(fd int) error { return unix.Fsync(fd) }

func (Kernel) Chmod(fd int, mode uint32) error {
	return fsys.RetryEINTR(func() error { return unix.Fchmod(fd, mode) })
}

func (Kernel) Chown(fd int, uid, gid uint32) error {
	return fsys.RetryEINTR(func() error { return unix.Fchown(fd, int(uid), int(gid)) })
}

func (Kernel) Flags(fd int) (uint32, error) {
	return fsys.RetryEINTR2(func() (uint32, error) { return unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS) })
}

func (Kernel) SetFlags(fd int, flags uint32) error {
	return fsys.RetryEINTR(func() error { return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(flags)) })
}

func (Kernel) Listxattr(fd int) (names []string, err error) {
	list, err := grown(func(b []byte) (int, error) {
		return fsys.RetryEINTR2(func() (int, error) { return unix.Flistxattr(fd, b) })
	})
	for name := range strings.SplitSeq(string(list), "\x00") {
		if name != "" {
			names = append(names, name)
		}
	}
	return names, err
}

func (Kernel) Getxattr(fd int, name string) ([]byte, error) {
	return grown(func(b []byte) (int, error) {
		return fsys.RetryEINTR2(func() (int, error) { return unix.Fgetxattr(fd, name, b) })
	})
}

func (Kernel) Setxattr(fd int, name string, value []byte) error {
	return fsys.RetryEINTR(func() error {
		if value == nil {
			return unix.Fremovexattr(fd, name)
		}
		return unix.Fsetxattr(fd, name, value, 0)
	})
}

func (Kernel) Flock(fd int, how int) error {
	return fsys.RetryEINTR(func() error { return unix.Flock(fd, how) })
}

func (Kernel) SetLease(fd int, kind int) error {
	_, err := fsys.RetryEINTR2(func() (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, kind) })
	return err
}

func (Kernel) GetLease(fd int) (int, error) {
	return fsys.RetryEINTR2(func() (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0) })
}

func (Kernel) Link(dir int, from, to string, flags int) error {
	return unix.Linkat(dir, from, dir, to, flags)
}

func (Kernel) Rename(dir int, from, to string, flags uint) error {
	if flags == 0 { // older than the call with flags
		return unix.Renameat(dir, from, dir, to)
	}
	return unix.Renameat2(dir, from, dir, to, flags)
}

func (Kernel) Unlink(dir int, name string, flags int) error {
	return fsys.RetryEINTR(func() error { return unix.Unlinkat(dir, name, flags) })
}

func (Kernel) Mkdir(dir int, name string, mode uint32) error {
	return fsys.RetryEINTR(func() error { return unix.Mkdirat(dir, name, mode) })
}
