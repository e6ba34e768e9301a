package sys

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/filelock"
	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Portable is the system as package os shows it: no leases, no unnamed files, no attributes
// besides mode and owner; an exchange, clones and attributes on macOS alone. It reaches folders through
// os.Root, so no link leads out of them. It is safe for concurrent use.
type Portable struct {
	// OpenParent opens the folder of a target, the deepest that exists.
	OpenParent func(*fsys.Target) (*os.Root, error)
	Mac
}

// handles are open files and folders by number.
type handles struct {
	mu   sync.Mutex
	last int
	all  map[int]any // *os.Root, *os.File, or a *fsys.File of the caller
}

func (h *handles) add(object any) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = make(map[int]any)
	}
	h.last++
	h.all[h.last] = object
	return h.last
}

func (h *handles) get(fd int) any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[fd]
}

func (h *handles) remove(fd int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, fd)
}

// in calls f with an open folder and a name in it. An absolute name, with CWD, is one in the
// folder above it.
func (h *handles) in(dir int, name string, f func(root *os.Root, name string) error) error {
	root, ok := h.get(dir).(*os.Root)
	if dir == CWD {
		above, err := openFolder(filepath.Dir(name))
		if err != nil {
			return err
		}
		defer above.Close()
		root, name = above, filepath.Base(name)
		if name == string(filepath.Separator) {
			name = "."
		}
	} else if !ok {
		return syscall.EBADF
	}
	return number(f(root, name))
}

// with calls f with an open file, or with a folder opened anew.
func (h *handles) with(fd int, f func(*os.File) error) error {
	switch object := h.get(fd).(type) {
	case *os.File:
		return number(f(object))
	case *os.Root:
		dir, err := object.Open(".")
		if err != nil {
			return number(err)
		}
		defer dir.Close()
		return number(f(dir))
	}
	return syscall.EBADF
}

// Adopt implements Sys. On macOS a file with the flag uchg or uappnd is ErrLocked.
func (p *Portable) Adopt(t *fsys.Target, f *fsys.File) (dir, fd int, err error) {
	if f != nil && p.onMac() {
		if flags, err := fileFlags(int(f.Fd())); err == nil && flags&(immutable|appendOnly) != 0 {
			return -1, -1, ErrLocked
		}
	}
	root, err := p.OpenParent(t)
	if err != nil {
		return -1, -1, err
	}
	if fd = -1; f != nil {
		fd = p.open.add(f)
	}
	return p.open.add(root), fd, nil
}

// Forget implements Sys.
func (p *Portable) Forget(dir, fd int) {
	p.Close(dir)
	p.open.remove(fd)
}

// Openat implements Sys.
func (p *Portable) Openat(dir int, name string, flags int, mode uint32) (fd int, err error) {
	if flags&Unnamed == Unnamed {
		return -1, syscall.EOPNOTSUPP
	}
	if dir == CWD && strings.HasPrefix(name, "/proc/") {
		return -1, syscall.ENOENT // the numbers there are not those of Portable
	}
	err = p.open.in(dir, name, func(root *os.Root, name string) error {
		info, err := root.Lstat(name)
		if err == nil && flags&noFollow != 0 && flags&os.O_EXCL == 0 && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
			if flags&folder != 0 {
				return syscall.ENOTDIR
			}
			return syscall.ELOOP
		}
		var opened any
		switch {
		case flags&folder == 0:
			opened, err = root.OpenFile(name, osFlags(flags), fs.FileMode(mode))
		case dir == CWD: // the last step may be a link, as to the state folder
			opened, err = openFolder(filepath.Join(root.Name(), name))
		default:
			if info, err := root.Stat(name); err == nil && !info.IsDir() {
				return syscall.ENOTDIR
			}
			opened, err = root.OpenRoot(name)
		}
		if err == nil {
			fd = p.open.add(opened)
		}
		return err
	})
	if err != nil {
		return -1, err
	}
	return fd, nil
}

// osFlags returns those of the flags that package os knows.
func osFlags(flags int) int {
	how := flags & (os.O_RDWR | os.O_CREATE | os.O_EXCL)
	if flags&nonBlock != 0 && runtime.GOOS != "windows" {
		how |= syscall.O_NONBLOCK
	}
	return how
}

// openFolder opens a folder by its name. (os.OpenRoot blocks on a pipe, and has no error
// number for a file.)
func openFolder(path string) (*os.Root, error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, syscall.ENOTDIR
	}
	root, err := os.OpenRoot(path)
	return root, number(err)
}

// Close implements Sys.
func (p *Portable) Close(fd int) error {
	object, ok := p.open.get(fd).(io.Closer)
	if !ok {
		return syscall.EBADF
	}
	p.open.remove(fd)
	return number(object.Close())
}

// Names implements Sys.
func (p *Portable) Names(fd int) (names []string, err error) {
	err = p.open.with(fd, func(f *os.File) (err error) {
		names, err = f.Readdirnames(-1)
		return err
	})
	return names, err
}

// Fstat implements Sys.
func (p *Portable) Fstat(fd int) (s fsys.Stamp, err error) {
	if old, ok := p.open.get(fd).(*fsys.File); ok {
		s, err = old.Stamp()
		return s, number(err)
	}
	err = p.open.with(fd, func(f *os.File) (err error) {
		s, err = fsys.StampOf(f)
		return err
	})
	return s, err
}

// Fstatat implements Sys.
func (p *Portable) Fstatat(dir int, name string) (s fsys.Stamp, err error) {
	err = p.open.in(dir, name, func(root *os.Root, name string) error {
		if _, err := root.Lstat(name); err != nil {
			return err
		}
		s, err = fsys.Lstat(filepath.Join(root.Name(), name))
		return err
	})
	return s, err
}

// Network cannot tell, and says no.
func (p *Portable) Network(int) bool { return false }

// AddOnly cannot tell, and says no.
func (p *Portable) AddOnly(int) bool { return false }

// Offers implements Sys.
func (p *Portable) Offers() (exchange, inPlace bool) { return p.onMac(), p.onMac() }

// Pread implements Sys.
func (p *Portable) Pread(fd int, b []byte, off int64) (n int, err error) {
	r, ok := p.open.get(fd).(io.ReaderAt)
	if !ok {
		return 0, syscall.EBADF
	}
	n, err = r.ReadAt(b, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, number(err)
}

// Pwrite implements Sys.
func (p *Portable) Pwrite(fd int, b []byte, off int64) (n int, err error) {
	err = p.open.with(fd, func(f *os.File) (err error) {
		n, err = f.WriteAt(b, off)
		return err
	})
	return n, err
}

// CopyRange is not offered.
func (p *Portable) CopyRange(int, int64, int, int64, int64) (int64, error) {
	return 0, syscall.EOPNOTSUPP
}

// Truncate implements Sys.
func (p *Portable) Truncate(fd int, size int64) error {
	return p.open.with(fd, func(f *os.File) error { return f.Truncate(size) })
}

// Reserve is not offered.
func (p *Portable) Reserve(int, int64, int64) error { return syscall.EOPNOTSUPP }

// Sync implements Sys.
func (p *Portable) Sync(fd int) error {
	return p.open.with(fd, (*os.File).Sync)
}

// Chmod implements Sys.
func (p *Portable) Chmod(fd int, mode uint32) error {
	to := fs.FileMode(mode & 0o777)
	for bit, is := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if mode&bit != 0 {
			to |= is
		}
	}
	return p.open.with(fd, func(f *os.File) error { return f.Chmod(to) })
}

// Chown implements Sys.
func (p *Portable) Chown(fd int, uid, gid uint32) error {
	return p.open.with(fd, func(f *os.File) error { return f.Chown(int(uid), int(gid)) })
}

// SetLease is not offered.
func (p *Portable) SetLease(int, int) error { return syscall.EINVAL }

// GetLease is not offered.
func (p *Portable) GetLease(int) (int, error) { return 0, syscall.EINVAL }

// Flock implements Sys; every lock is exclusive.
func (p *Portable) Flock(fd int, how int) error {
	f, ok := p.open.get(fd).(filelock.Descriptor)
	if !ok {
		return syscall.EBADF
	}
	if how == Unlock {
		return number(filelock.Unlock(f))
	}
	got, err := filelock.Try(f)
	switch {
	case errors.Is(err, filelock.ErrNone):
		return syscall.ENOLCK
	case err == nil && !got:
		return syscall.EWOULDBLOCK
	}
	return number(err)
}

// Link implements Sys within one folder; an open file gets no further name.
func (p *Portable) Link(dir int, from, to string, flags int) error {
	if flags != 0 {
		return syscall.EOPNOTSUPP
	}
	return p.open.in(dir, from, func(root *os.Root, from string) error { return root.Link(from, to) })
}

// Rename implements Sys.
func (p *Portable) Rename(dir int, from, to string, flags uint) error {
	return p.open.in(dir, from, func(root *os.Root, from string) error {
		switch {
		case flags == 0:
			return root.Rename(from, to)
		case p.onMac():
			return renameFlags(root, from, to, flags)
		}
		return syscall.EINVAL
	})
}

// Unlink implements Sys.
func (p *Portable) Unlink(dir int, name string, flags int) error {
	return p.open.in(dir, name, func(root *os.Root, name string) error {
		info, err := root.Lstat(name)
		if err == nil && info.IsDir() && flags != RemoveFolder {
			return syscall.EISDIR
		}
		return root.Remove(name)
	})
}

// Mkdir implements Sys.
func (p *Portable) Mkdir(dir int, name string, mode uint32) error {
	return p.open.in(dir, name, func(root *os.Root, name string) error { return root.Mkdir(name, fs.FileMode(mode)) })
}

// Numbers of Windows (source: winerror.h): a file that another program holds, and a full
// disk.
const (
	errSharing        = syscall.Errno(32)
	errLocked         = syscall.Errno(33)
	errHandleDiskFull = syscall.Errno(39)
	errDiskFull       = syscall.Errno(112)
)

// number returns the error number in an error of package os. Windows has numbers of its
// own; those with a meaning here become the ones that other systems use.
func number(err error) error { return numberOn(runtime.GOOS, err) }

func numberOn(system string, err error) error {
	if err == nil {
		return nil
	}
	if system == "windows" {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return syscall.ENOENT
		case errors.Is(err, fs.ErrExist):
			return syscall.EEXIST
		case errors.Is(err, errSharing), errors.Is(err, errLocked):
			return syscall.ETXTBSY
		case errors.Is(err, errDiskFull), errors.Is(err, errHandleDiskFull):
			return syscall.ENOSPC
		case errors.Is(err, fs.ErrPermission):
			return syscall.EACCES
		}
	}
	n := syscall.Errno(0)
	if !errors.As(err, &n) {
		return err
	}
	switch {
	case system == "darwin" && n == 45: // ENOTSUP: a volume without links; EOPNOTSUPP is 102 there
		return syscall.EOPNOTSUPP
	case system == "darwin" && n == 93: // ENOATTR; ENODATA is 96 there
		return syscall.ENODATA
	}
	return n
}
