//go:build !fsys_portable

package statedir

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/lock"
)

// parts holds what is open of a state folder: the descriptors of two parts, and the note.
type parts struct {
	locks  int
	flight int
	note   note
}

// alive reports that the state folder was not deleted, nor opened to others. Locks
// in a deleted one would keep no other process out.
func (st *State) alive() bool {
	now, err := st.f.o.Sys.Fstat(st.locks)
	return err == nil && now.Nlink > 0 && CheckStamp(st.Path, now) == nil
}

func lasting(err error) bool {
	own := (*owndir.Error)(nil)
	return errors.As(err, &own) || disk.Is(err, unix.EACCES, unix.EPERM, unix.EROFS, unix.ENOTDIR, unix.ENOENT, unix.ELOOP,
		unix.ENAMETOOLONG, unix.ENOSPC, unix.EDQUOT, unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP,
		unix.EINVAL, unix.ENODEV, unix.EEXIST, unix.EMLINK)
}

// openAt opens a state folder, made if missing. lost says why it is the one
// in the temp directory.
func (f *Folder) openAt(path string, lost *Error) (*State, error) {
	top, err := f.openMade(path)
	if err != nil {
		return nil, err
	}
	defer f.o.Sys.Close(top)
	if err := f.CheckTop(top, path); err != nil {
		return nil, err
	}
	st := &State{f: f, Path: path, Lost: lost, parts: parts{locks: -1, flight: -1, note: note{fd: -1}}}
	st.Stripes = lock.NewStripes(st.tryLock)
	if err := st.openParts(top); err != nil {
		st.close()
		return nil, err
	}
	return st, nil
}

// CheckTop returns an *owndir.Error where another user may have written the state
// folder or one of its entries.
func (f *Folder) CheckTop(top int, path string) error {
	now, err := f.o.Sys.Fstat(top)
	if err == nil {
		err = owndir.CheckStat(path, now.UID, now.Mode, path == f.temp)
	}
	if err != nil {
		return err
	}
	names, err := f.o.Sys.Names(top)
	if err != nil {
		return err
	}
	for _, name := range names {
		now, err := f.o.Sys.Fstatat(top, name)
		if disk.Is(err, unix.ENOENT) || err == nil && now.Mode&unix.S_IFMT == unix.S_IFLNK {
			continue // a link is opened nowhere
		}
		if err == nil {
			err = CheckStamp(filepath.Join(path, name), now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckStamp returns an *owndir.Error where another user may have written the file.
func CheckStamp(path string, now fsys.Stamp) error {
	return owndir.CheckStat(path, now.UID, now.Mode, false)
}

// checkOpen returns an *owndir.Error where another user may have written an open
// file or folder.
func (f *Folder) checkOpen(fd int, path string) error {
	now, err := f.o.Sys.Fstat(fd)
	if err != nil {
		return err
	}
	return CheckStamp(path, now)
}

func (st *State) openParts(top int) (err error) {
	if st.locks, err = st.f.openSub(top, st.Path, locksDir); err != nil {
		return err
	}
	if st.flight, err = st.f.openSub(top, st.Path, Flight); err != nil {
		return err
	}
	return st.startNote()
}

func (st *State) close() {
	for _, fd := range []int{st.note.fd, st.flight, st.locks} {
		if fd >= 0 {
			st.f.o.Sys.Close(fd)
		}
	}
}

// OpenTop opens the state folder at path, which is not made.
func (f *Folder) OpenTop(path string) (int, error) {
	return f.o.Sys.Openat(unix.AT_FDCWD, path, disk.OpenFolder|f.noLink(path), 0)
}

// openMade opens a folder, making it and those above it where they are missing.
// The last step follows no link: in the temp directory anybody could plant one.
func (f *Folder) openMade(path string) (int, error) {
	fd, err := f.OpenTop(path)
	if !disk.Is(err, unix.ENOENT) {
		return fd, err
	}
	if err := f.makeAll(path); err != nil {
		return -1, err
	}
	return f.OpenTop(path)
}

func (f *Folder) noLink(path string) int {
	if path == f.temp {
		return unix.O_NOFOLLOW
	}
	return 0
}

func (f *Folder) makeAll(path string) error {
	err := f.o.Sys.Mkdir(unix.AT_FDCWD, path, 0o700)
	if up := filepath.Dir(path); disk.Is(err, unix.ENOENT) && up != path {
		if err := f.makeAll(up); err != nil {
			return err
		}
		err = f.o.Sys.Mkdir(unix.AT_FDCWD, path, 0o700)
	}
	if disk.Is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// openSub opens a folder below the state folder, made if missing.
func (f *Folder) openSub(top int, path, name string) (int, error) {
	sys := f.o.Sys
	fd, err := sys.Openat(top, name, disk.OpenFolder|unix.O_NOFOLLOW, 0)
	if disk.Is(err, unix.ENOENT) {
		if err := sys.Mkdir(top, name, 0o700); err != nil && !disk.Is(err, unix.EEXIST) {
			return -1, err
		}
		fd, err = sys.Openat(top, name, disk.OpenFolder|unix.O_NOFOLLOW, 0)
	}
	if err != nil {
		return -1, err
	}
	if err := f.checkOpen(fd, filepath.Join(path, name)); err != nil {
		sys.Close(fd)
		return -1, err
	}
	return fd, nil
}

// OpenPart opens a part of this state folder that is rarely needed, made if missing.
func (st *State) OpenPart(name string) (int, error) { return st.f.OpenPart(st.Path, name) }

// OpenPart opens a part of the state folder at path.
func (f *Folder) OpenPart(path, name string) (int, error) {
	top, err := f.o.Sys.Openat(unix.AT_FDCWD, path, disk.OpenFolder, 0)
	if err != nil {
		return -1, err
	}
	defer f.o.Sys.Close(top)
	if err := f.CheckTop(top, path); err != nil {
		return -1, err
	}
	return f.openSub(top, path, name)
}

// tryLock takes a lock file, made if missing, unless another process has it; then unlock is
// nil. Unlocking is not left to closing: a process that is being started may hold a copy of
// the descriptor for a moment.
func (st *State) tryLock(n int) (unlock func(), err error) {
	sys, name := st.f.o.Sys, fmt.Sprintf("%02x", n)
	path := filepath.Join(st.Path, locksDir, name)
	fd, err := sys.Openat(st.locks, name, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, &disk.IOError{Op: "lock", Path: path, Err: err}
	}
	if err = st.f.checkOpen(fd, path); err == nil {
		err = sys.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		return func() { sys.Flock(fd, unix.LOCK_UN); sys.Close(fd) }, nil
	}
	sys.Close(fd)
	if disk.Is(err, unix.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, &disk.IOError{Op: "lock", Path: path, Err: err}
}
