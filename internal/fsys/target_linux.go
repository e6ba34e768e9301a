//go:build !fsys_portable

package fsys

import (
	"io/fs"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// pin holds the descriptors of a target.
type pin struct {
	resolver *Resolver
	object   int         // O_PATH, -1 for Missing and in a held folder
	folder   int         // O_PATH, -1 until asked for
	held     *heldFolder // what folder belongs to; nil: to the target
	closed   bool
}

func newPin(r *Resolver) pin { return pin{resolver: r, object: -1, folder: -1} }

// Close gives the descriptors back. It may be called again, and on the target
// that comes beside an error.
func (t *Target) Close() {
	if t.pin.object >= 0 {
		unix.Close(t.pin.object)
	}
	if t.pin.held != nil {
		t.pin.held.release()
	} else if t.pin.folder >= 0 {
		unix.Close(t.pin.folder)
	}
	t.pin.object, t.pin.folder, t.pin.held, t.pin.closed = -1, -1, nil, true
}

// SharesFolder reports whether the target has no descriptor of its own, but one of its Folders.
func (t *Target) SharesFolder() bool { return t.pin.held != nil }

// Open opens a regular file for reading, without blocking, through the pinned descriptor:
// it is the resolved file, even if the name leads elsewhere now. For other objects the
// error is ErrNotRegular.
func (t *Target) Open() (*File, error) {
	if t.pin.closed {
		return nil, fault("open", t.Path, fs.ErrClosed)
	}
	if t.Kind != Regular {
		return nil, fault("open", t.Path, ErrNotRegular)
	}
	fd, err := t.reopen()
	if err != nil {
		return nil, fault("open", t.Path, err)
	}
	return &File{fd: fd, name: t.Path, opened: t.Stamp}, nil
}

// NotHere reports false: Linux does not tell of files that are kept elsewhere.
func (t *Target) NotHere() bool { return false }

// The first try asks a program that holds a lease on the file to release it. A server that
// writes a large file in place, with syncs, may need this long.
const (
	leaseWait = 2 * time.Second
	leaseStep = 10 * time.Millisecond
)

func (t *Target) reopen() (int, error) { return withoutLease(t.reopenOnce) }

// withoutLease opens a file, and waits while another program holds a lease on it. The error
// is ErrUnstable if that program does not release it: it is writing the file.
func withoutLease(open func() (int, error)) (int, error) {
	for waited := time.Duration(0); ; waited += leaseStep {
		fd, err := open()
		if err != unix.EAGAIN {
			return fd, err
		}
		if waited >= leaseWait {
			return -1, ErrUnstable
		}
		time.Sleep(leaseStep)
	}
}

func (t *Target) reopenOnce() (int, error) {
	r := t.pin.resolver
	if r.hasProc() && t.pin.object >= 0 {
		return openat(unix.AT_FDCWD, r.sys.procFD+strconv.Itoa(t.pin.object), readFlags)
	}
	// Without /proc an O_PATH descriptor cannot be opened again, and in a held folder there
	// is none: open by name in the proven parent, and compare.
	folder, err := t.ParentFD()
	if err != nil {
		return -1, err
	}
	fd, err := openat(folder, t.Base(), readFlags|unix.O_NOFOLLOW)
	if err == unix.ENOENT || err == unix.ELOOP {
		return -1, ErrMoved
	}
	if err != nil {
		return -1, err
	}
	if err := t.proveSame(fd); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// hasProc asks once whether /proc is the real one: a look-alike folder in a
// chroot is not to be trusted with the meaning of a descriptor's number.
func (r *Resolver) hasProc() bool {
	r.procOnce.Do(func() {
		var st unix.Statfs_t
		r.procFine = unix.Statfs(r.sys.procFD, &st) == nil && int64(st.Type) == unix.PROC_SUPER_MAGIC
	})
	return r.procFine
}

// ParentFD is an O_PATH descriptor of the folder that holds what was resolved;
// for a Missing target, of the deepest folder that exists on the way (see
// MissingDirs). It is opened on demand, proven to hold the pinned object under
// Base, and owned by the target. ErrMoved: the name leads elsewhere by now.
func (t *Target) ParentFD() (int, error) {
	if t.pin.folder >= 0 {
		return t.pin.folder, nil
	}
	if t.pin.closed {
		return -1, fault("open", t.Path, fs.ErrClosed)
	}
	if t.pin.object < 0 {
		return -1, fault("open", t.Path, fs.ErrNotExist) // resolving failed
	}
	s, err := t.pin.resolver.lookUp(t.dir(), true)
	if err != nil {
		return -1, err
	}
	if s.end == atNothing || s.end == atLink {
		s.close()
	}
	if s.end != atObject {
		return -1, fault("open", t.dir(), ErrMoved)
	}
	if err := t.proveHolds(int(s.spot)); err != nil {
		s.close()
		return -1, fault("open", t.Path, err)
	}
	t.pinFolder(s)
	return t.pin.folder, nil
}

// proveHolds checks that the folder has the pinned object under Base.
func (t *Target) proveHolds(folder int) error {
	if t.Path == "/" {
		return nil // its own parent, under no name
	}
	fd, err := openat(folder, t.Base(), unix.O_PATH|unix.O_NOFOLLOW)
	if err == unix.ENOENT || err == unix.ENOTDIR {
		return ErrMoved
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return t.proveSame(fd)
}

// proveSame compares an open file with the pinned one, which cannot have given
// its inode number away.
func (t *Target) proveSame(fd int) error {
	stamp, err := Fstat(fd)
	if err != nil {
		return err
	}
	if !stamp.SameFile(t.Stamp) {
		return ErrMoved
	}
	return nil
}

// ParentID is the device and inode of the folder that ParentFD pins.
func (t *Target) ParentID() (dev, ino uint64, err error) {
	if h := t.pin.held; h != nil {
		return h.stamp.Dev, h.stamp.Ino, nil
	}
	fd, err := t.ParentFD()
	if err != nil {
		return 0, 0, err
	}
	stamp, err := Fstat(fd)
	return stamp.Dev, stamp.Ino, fault("stat", t.dir(), err)
}

// openParent opens the folder that ParentFD pins, to list it.
func (t *Target) openParent() (*Dir, error) {
	fd, err := t.ParentFD()
	if err == nil {
		fd, err = openat(fd, ".", dirFlags)
	}
	if err != nil {
		return nil, err
	}
	return &Dir{fd: fd, resolver: t.pin.resolver}, nil
}
