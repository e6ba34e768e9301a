//go:build !fsys_portable

package save

import (
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// hooked is the real system with something done before each call: before may
// fail the call, kill the process, or let another program have its turn.
type hooked struct {
	base    sys.Sys // nil: the Kernel
	before  func(c call) error
	network bool // every file lies on a network
}

// hookTurn: the save path syncs its note on the side, the hooks want one call after
// the other.
var hookTurn sync.Mutex

func (h hooked) hook(c call) error {
	hookTurn.Lock()
	defer hookTurn.Unlock()
	return h.before(c)
}

// call is one system call; the rest of its arguments is of no interest.
type call struct {
	name  string
	flags int // of Openat, Rename, SetLease
	fd    int
}

func (h hooked) real() sys.Sys {
	if h.base == nil {
		return sys.Kernel{}
	}
	return h.base
}

func (h hooked) Adopt(t *fsys.Target, f *fsys.File) (dir, fd int, err error) {
	return h.real().Adopt(t, f)
}

func (h hooked) Forget(dir, fd int) { h.real().Forget(dir, fd) }

func (h hooked) Offers() (exchange, inPlace bool) { return h.real().Offers() }

func (h hooked) AddOnly(dir int) bool { return h.real().AddOnly(dir) }

func (h hooked) Network(fd int) bool { return h.network || h.real().Network(fd) }

func (h hooked) Openat(dir int, name string, flags int, mode uint32) (int, error) {
	if err := h.hook(call{"Openat", flags, dir}); err != nil {
		return -1, err
	}
	return h.real().Openat(dir, name, flags, mode)
}

// Close closes even if it reports a failure, as the system does.
func (h hooked) Close(fd int) error {
	failed := h.hook(call{"Close", 0, fd})
	if err := h.real().Close(fd); err != nil {
		return err
	}
	return failed
}

func (h hooked) Names(fd int) ([]string, error) {
	if err := h.hook(call{"Names", 0, fd}); err != nil {
		return nil, err
	}
	return h.real().Names(fd)
}

func (h hooked) Fstat(fd int) (fsys.Stamp, error) {
	if err := h.hook(call{"Fstat", 0, fd}); err != nil {
		return fsys.Stamp{}, err
	}
	return h.real().Fstat(fd)
}

func (h hooked) Fstatat(dir int, name string) (fsys.Stamp, error) {
	if err := h.hook(call{"Fstatat", 0, dir}); err != nil {
		return fsys.Stamp{}, err
	}
	return h.real().Fstatat(dir, name)
}

func (h hooked) Pread(fd int, p []byte, off int64) (int, error) {
	if err := h.hook(call{"Pread", 0, fd}); err != nil {
		return 0, err
	}
	return h.real().Pread(fd, p, off)
}

func (h hooked) Pwrite(fd int, p []byte, off int64) (int, error) {
	if err := h.hook(call{"Pwrite", 0, fd}); err != nil {
		return 0, err
	}
	return h.real().Pwrite(fd, p, off)
}

func (h hooked) CopyRange(from int, fromOff int64, to int, toOff, n int64) (int64, error) {
	if err := h.hook(call{"CopyRange", 0, from}); err != nil {
		return 0, err
	}
	return h.real().CopyRange(from, fromOff, to, toOff, n)
}

func (h hooked) Truncate(fd int, size int64) error {
	if err := h.hook(call{"Truncate", 0, fd}); err != nil {
		return err
	}
	return h.real().Truncate(fd, size)
}

func (h hooked) Reserve(fd int, off, n int64) error {
	if err := h.hook(call{"Reserve", 0, fd}); err != nil {
		return err
	}
	return h.real().Reserve(fd, off, n)
}

func (h hooked) Sync(fd int) error {
	if err := h.hook(call{"Sync", 0, fd}); err != nil {
		return err
	}
	return h.real().Sync(fd)
}

func (h hooked) Chmod(fd int, mode uint32) error {
	if err := h.hook(call{"Chmod", 0, fd}); err != nil {
		return err
	}
	return h.real().Chmod(fd, mode)
}

func (h hooked) Chown(fd int, uid, gid uint32) error {
	if err := h.hook(call{"Chown", 0, fd}); err != nil {
		return err
	}
	return h.real().Chown(fd, uid, gid)
}

func (h hooked) Flags(fd int) (uint32, error) {
	if err := h.hook(call{"Flags", 0, fd}); err != nil {
		return 0, err
	}
	return h.real().Flags(fd)
}

func (h hooked) SetFlags(fd int, flags uint32) error {
	if err := h.hook(call{"SetFlags", 0, fd}); err != nil {
		return err
	}
	return h.real().SetFlags(fd, flags)
}

func (h hooked) Listxattr(fd int) ([]string, error) {
	if err := h.hook(call{"Listxattr", 0, fd}); err != nil {
		return nil, err
	}
	return h.real().Listxattr(fd)
}

func (h hooked) Getxattr(fd int, name string) ([]byte, error) {
	if err := h.hook(call{"Getxattr", 0, fd}); err != nil {
		return nil, err
	}
	return h.real().Getxattr(fd, name)
}

func (h hooked) Setxattr(fd int, name string, value []byte) error {
	if err := h.hook(call{"Setxattr", 0, fd}); err != nil {
		return err
	}
	return h.real().Setxattr(fd, name, value)
}

func (h hooked) Clone(from, dir int, name string) error {
	if err := h.hook(call{"Clone", 0, from}); err != nil {
		return err
	}
	return h.real().Clone(from, dir, name)
}

func (h hooked) CopyACL(from, to int) error { return h.real().CopyACL(from, to) }

func (h hooked) Watch(fd int) (sys.WriteWatch, error) {
	if err := h.hook(call{"Watch", 0, fd}); err != nil {
		return nil, err
	}
	return h.real().Watch(fd)
}

func (h hooked) Flock(fd int, how int) error {
	if err := h.hook(call{"Flock", 0, fd}); err != nil {
		return err
	}
	return h.real().Flock(fd, how)
}

func (h hooked) SetLease(fd int, kind int) error {
	if err := h.hook(call{"SetLease", kind, fd}); err != nil {
		return err
	}
	return h.real().SetLease(fd, kind)
}

func (h hooked) GetLease(fd int) (int, error) {
	if err := h.hook(call{"GetLease", 0, fd}); err != nil {
		return 0, err
	}
	return h.real().GetLease(fd)
}

func (h hooked) Link(dir int, from, to string, flags int) error {
	if err := h.hook(call{"Link", flags, dir}); err != nil {
		return err
	}
	return h.real().Link(dir, from, to, flags)
}

func (h hooked) Rename(dir int, from, to string, flags uint) error {
	if err := h.hook(call{"Rename", int(flags), dir}); err != nil {
		return err
	}
	return h.real().Rename(dir, from, to, flags)
}

func (h hooked) Unlink(dir int, name string, flags int) error {
	if err := h.hook(call{"Unlink", 0, dir}); err != nil {
		return err
	}
	return h.real().Unlink(dir, name, flags)
}

func (h hooked) Mkdir(dir int, name string, mode uint32) error {
	if err := h.hook(call{"Mkdir", 0, dir}); err != nil {
		return err
	}
	return h.real().Mkdir(dir, name, mode)
}

func (h hooked) MoveName(fromDir int, from string, toDir int, to string, flags uint) error {
	if err := h.hook(call{"Rename", int(flags), fromDir}); err != nil {
		return err
	}
	return h.real().MoveName(fromDir, from, toDir, to, flags)
}

func (h hooked) LinkName(fromDir int, from string, toDir int, to string) error {
	if err := h.hook(call{"Link", 0, fromDir}); err != nil {
		return err
	}
	return h.real().LinkName(fromDir, from, toDir, to)
}

func (h hooked) Readlink(dir int, name string) (string, error) {
	if err := h.hook(call{"Readlink", 0, dir}); err != nil {
		return "", err
	}
	return h.real().Readlink(dir, name)
}

func (h hooked) Symlink(text string, dir int, name string, uid, gid uint32) error {
	if err := h.hook(call{"Symlink", 0, dir}); err != nil {
		return err
	}
	return h.real().Symlink(text, dir, name, uid, gid)
}

func (h hooked) SetTimes(dir int, name string, mtime int64) error {
	if err := h.hook(call{"SetTimes", 0, dir}); err != nil {
		return err
	}
	return h.real().SetTimes(dir, name, mtime)
}

// poorer fails what a lesser system does not have.
type poorer struct {
	noUnnamed, noExchange, noLease, busy, noProc bool
	noReplace                                    bool // a rename replaces nothing, as on FAT
	portable                                     bool // the calls of package os, as on Windows
	mac                                          bool // those that stand for macOS: see sys.Mac.As
	noClone, noWatch                             bool
}

// base returns the calls that are made unless before fails them.
func (p poorer) base() sys.Sys {
	if p.mac {
		return &sys.Portable{OpenParent: openParent, Mac: sys.Mac{As: "darwin"}}
	}
	if p.portable {
		return &sys.Portable{OpenParent: openParent}
	}
	return nil
}

// openParent opens the folder of a target of this system.
func openParent(t *fsys.Target) (*os.Root, error) {
	fd, err := t.ParentFD()
	if err != nil {
		return nil, err
	}
	return os.OpenRoot("/proc/self/fd/" + strconv.Itoa(fd))
}

func (p poorer) before(c call) error {
	switch {
	case p.noUnnamed && c.name == "Openat" && c.flags&unix.O_TMPFILE == unix.O_TMPFILE:
		return unix.EOPNOTSUPP
	case p.noExchange && c.name == "Rename" && c.flags == unix.RENAME_EXCHANGE, p.noExchange && !p.noReplace && c.name == "Rename" && c.flags != 0:
		return unix.EINVAL
	case p.noReplace && c.name == "Rename" && c.flags == 0:
		return unix.ENOSYS
	case p.busy && c.name == "Rename" && c.flags == unix.RENAME_EXCHANGE:
		return unix.EBUSY
	case p.noLease && c.name == "SetLease" && c.flags != unix.F_UNLCK:
		return unix.EINVAL
	case p.noClone && c.name == "Clone", p.noWatch && c.name == "Watch":
		return unix.EOPNOTSUPP
	case p.noProc && c.name == "Link" && c.flags != 0:
		return unix.ENOENT
	}
	return nil
}
