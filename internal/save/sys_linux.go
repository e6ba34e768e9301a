//go:build !fsys_portable

package save

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// system holds the system calls of a Saver: those of tests, or the real ones, which repeat
// an interrupted call.
func system(o Sys) Sys {
	if o == nil {
		o = kernel{}
	}
	return patient{o}
}

// kernel is the real system.
type kernel struct{}

func (kernel) Openat(dir int, name string, flags int, mode uint32) (int, error) {
	return unix.Openat(dir, name, flags|unix.O_CLOEXEC|unix.O_NOCTTY, mode)
}

func (kernel) Close(fd int) error { return unix.Close(fd) }

func (kernel) Names(fd int) ([]string, error) {
	again, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(again), "")
	defer f.Close()
	return f.Readdirnames(-1)
}

func (kernel) Fstat(fd int) (fsys.Stamp, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return stampOf(&st), err
}

func (kernel) Fstatat(dir int, name string) (fsys.Stamp, error) {
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

func (kernel) Network(fd int) bool { return fsys.OnNetwork(fd) }

// AddOnly asks for the attribute that "chattr +a" sets. A kernel or file system
// that does not tell has none.
func (kernel) AddOnly(dir int) bool {
	var st unix.Statx_t
	err := unix.Statx(dir, "", unix.AT_EMPTY_PATH, 0, &st)
	return err == nil && st.Attributes&unix.STATX_ATTR_APPEND != 0
}

func (kernel) Pread(fd int, p []byte, off int64) (int, error)  { return unix.Pread(fd, p, off) }
func (kernel) Pwrite(fd int, p []byte, off int64) (int, error) { return unix.Pwrite(fd, p, off) }

// rangeStep bounds one copy_file_range, which cannot be interrupted.
const rangeStep = 64 << 20

func (kernel) CopyRange(from int, fromOff int64, to int, toOff, n int64) (int64, error) {
	done, err := unix.CopyFileRange(from, &fromOff, to, &toOff, int(min(n, rangeStep)), 0)
	return int64(done), err
}

func (kernel) Truncate(fd int, size int64) error { return unix.Ftruncate(fd, size) }

func (kernel) Reserve(fd int, off, n int64) error {
	return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, off, n)
}

func (kernel) Sync(fd int) error { return unix.Fsync(fd) }

func (kernel) Chmod(fd int, mode uint32) error     { return unix.Fchmod(fd, mode) }
func (kernel) Chown(fd int, uid, gid uint32) error { return unix.Fchown(fd, int(uid), int(gid)) }

func (kernel) Listxattr(fd int) ([]string, error) {
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

func (kernel) Getxattr(fd int, name string) ([]byte, error) {
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

func (kernel) Setxattr(fd int, name string, value []byte) error {
	return unix.Fsetxattr(fd, name, value, 0)
}

func (kernel) Removexattr(fd int, name string) error { return unix.Fremovexattr(fd, name) }

func (kernel) Flock(fd int, how int) error { return unix.Flock(fd, how) }

func (kernel) SetLease(fd int, kind int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, kind)
	return err
}

func (kernel) GetLease(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0) }

func (kernel) Link(fromDir int, from string, toDir int, to string, flags int) error {
	return unix.Linkat(fromDir, from, toDir, to, flags)
}

func (kernel) Rename(dir int, from, to string, flags uint) error {
	if flags == 0 { // older than the call with flags
		return unix.Renameat(dir, from, dir, to)
	}
	return unix.Renameat2(dir, from, dir, to, flags)
}

func (kernel) Unlink(dir int, name string, flags int) error { return unix.Unlinkat(dir, name, flags) }

func (kernel) Mkdir(dir int, name string, mode uint32) error { return unix.Mkdirat(dir, name, mode) }
