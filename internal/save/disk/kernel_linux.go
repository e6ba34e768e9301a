//go:build !fsys_portable

package disk

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// system holds the system calls of a Saver: those of tests, or the real ones, which repeat
// an interrupted call.
func New(o Sys) Sys {
	if o == nil {
		o = Kernel{}
	}
	return retrying{o}
}

// Kernel is the real system.
type Kernel struct{}

func (Kernel) Openat(dir int, name string, flags int, mode uint32) (int, error) {
	return unix.Openat(dir, name, flags|unix.O_CLOEXEC|unix.O_NOCTTY, mode)
}

func (Kernel) Close(fd int) error { return unix.Close(fd) }

func (Kernel) Names(fd int) ([]string, error) {
	again, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(again), "")
	defer f.Close()
	return f.Readdirnames(-1)
}

func (Kernel) Fstat(fd int) (fsys.Stamp, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return stampOf(&st), err
}

func (Kernel) Fstatat(dir int, name string) (fsys.Stamp, error) {
	var st unix.Stat_t
	err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return stampOf(&st), err
}

func stampOf(st *unix.Stat_t) fsys.Stamp {
	return fsys.Stamp{
		Dev:   uint64(st.Dev), //nolint:unconvert // not so wide everywhere
		Ino:   st.Ino,
		Size:  st.Size,
		Mtime: st.Mtim.Nano(),
		Ctime: st.Ctim.Nano(),
		Mode:  st.Mode,
		Nlink: uint64(st.Nlink),
		UID:   st.Uid,
		GID:   st.Gid,
	}
}

func (Kernel) Network(fd int) bool { return fsys.OnNetwork(fd) }

// AddOnly asks for the attribute that "chattr +a" sets. A Kernel or file system
// that does not tell has none.
func (Kernel) AddOnly(dir int) bool {
	var st unix.Statx_t
	err := unix.Statx(dir, "", unix.AT_EMPTY_PATH, 0, &st)
	return err == nil && st.Attributes&unix.STATX_ATTR_APPEND != 0
}

func (Kernel) Pread(fd int, p []byte, off int64) (int, error)  { return unix.Pread(fd, p, off) }
func (Kernel) Pwrite(fd int, p []byte, off int64) (int, error) { return unix.Pwrite(fd, p, off) }

// rangeStep bounds one copy_file_range, which cannot be interrupted.
const rangeStep = 64 << 20

func (Kernel) CopyRange(from int, fromOff int64, to int, toOff, n int64) (int64, error) {
	done, err := unix.CopyFileRange(from, &fromOff, to, &toOff, int(min(n, rangeStep)), 0)
	return int64(done), err
}

func (Kernel) Truncate(fd int, size int64) error { return unix.Ftruncate(fd, size) }

func (Kernel) Reserve(fd int, off, n int64) error {
	return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, off, n)
}

func (Kernel) Sync(fd int) error { return unix.Fsync(fd) }

func (Kernel) Chmod(fd int, mode uint32) error     { return unix.Fchmod(fd, mode) }
func (Kernel) Chown(fd int, uid, gid uint32) error { return unix.Fchown(fd, int(uid), int(gid)) }

func (Kernel) Listxattr(fd int) ([]string, error) {
	var few [256]byte // which most files do not fill, and which is not on the heap
	n, err := unix.Flistxattr(fd, few[:])
	list := few[:max(n, 0)]
	if err == unix.ERANGE {
		list, err = grown(func(b []byte) (int, error) { return unix.Flistxattr(fd, b) })
	}
	var names []string
	for start, i := 0, 0; i < len(list); i++ {
		if list[i] == 0 {
			names = append(names, string(list[start:i]))
			start = i + 1
		}
	}
	return names, err
}

func (Kernel) Getxattr(fd int, name string) ([]byte, error) {
	return grown(func(b []byte) (int, error) { return unix.Fgetxattr(fd, name, b) })
}

// grown calls f with a larger buffer until what it wants to say fits.
func grown(f func([]byte) (int, error)) ([]byte, error) {
	for size := 256; ; size *= 4 {
		b := make([]byte, size)
		n, err := f(b)
		if err == unix.ERANGE && size < 1<<20 {
			continue
		}
		return b[:max(n, 0)], err
	}
}

func (Kernel) Setxattr(fd int, name string, value []byte) error {
	return unix.Fsetxattr(fd, name, value, 0)
}

func (Kernel) Removexattr(fd int, name string) error { return unix.Fremovexattr(fd, name) }

func (Kernel) Flock(fd int, how int) error { return unix.Flock(fd, how) }

func (Kernel) SetLease(fd int, kind int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, kind)
	return err
}

func (Kernel) GetLease(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0) }

func (Kernel) Link(fromDir int, from string, toDir int, to string, flags int) error {
	return unix.Linkat(fromDir, from, toDir, to, flags)
}

func (Kernel) Rename(dir int, from, to string, flags uint) error {
	if flags == 0 { // older than the call with flags
		return unix.Renameat(dir, from, dir, to)
	}
	return unix.Renameat2(dir, from, dir, to, flags)
}

func (Kernel) Unlink(dir int, name string, flags int) error { return unix.Unlinkat(dir, name, flags) }

func (Kernel) Mkdir(dir int, name string, mode uint32) error { return unix.Mkdirat(dir, name, mode) }
