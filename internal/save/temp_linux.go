//go:build !fsys_portable

package save

import (
	"crypto/sha256"
	"hash"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// temp is a file on its way to its name.
type temp struct {
	s     *Saver
	dir   int
	fd    int
	name  string     // "" while it has none
	ours  bool       // what lies under name is our own and may be removed
	stamp fsys.Stamp // with the content in it
	sum   hash.Hash  // of the content; nil unless it is to be read back
}

// newTemp makes an empty file without a name, or if the system cannot, one with a
// temporary name; that one can be seen before it has its owner, hence a mode of its own.
// The lock on it tells sweepers that its maker lives.
func (x *Txn) newTemp(dir int, mode, named uint32) (*temp, error) {
	t := &temp{s: x.s, dir: dir, ours: true}
	if x.network {
		t.sum = sha256.New()
	}
	if !x.named {
		var err error
		t.fd, err = x.s.sys.Openat(dir, ".", unix.O_TMPFILE|unix.O_RDWR, mode)
		if err == nil {
			x.s.sys.Flock(t.fd, unix.LOCK_EX|unix.LOCK_NB)
			return t, nil
		}
		if !is(err, unix.EOPNOTSUPP, unix.EISDIR, unix.EINVAL, unix.ENOSYS) {
			return nil, err
		}
		x.named = true
	}
	return t, x.nameFirst(t, named)
}

// nameFirst makes the file with a name.
func (x *Txn) nameFirst(t *temp, mode uint32) error {
	wait, err := x.st.remember(x.folder())
	if err != nil {
		return err
	}
	if err := wait(); err != nil {
		return err
	}
	f, err := x.s.createLocked(t.dir, mode, func() (string, error) {
		id, err := x.s.random(5)
		return tempName{base: x.base, kind: kindNamed, id: id}.String(), err
	})
	t.fd, t.name, t.stamp = f.fd, f.name, f.stamp
	return err
}

// lockedFile is a file that has just been created.
type lockedFile struct {
	fd      int
	name    string
	stamp   fsys.Stamp
	lockErr error // the file system has no locks
}

// createLocked creates a file in dir under a new name and locks it. A sweeper may
// remove the file before it is locked; then createLocked makes another.
func (s *Saver) createLocked(dir int, mode uint32, newName func() (string, error)) (lockedFile, error) {
	const flags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW
	for {
		f := lockedFile{fd: -1}
		name, err := newName()
		if err != nil {
			return f, err
		}
		if f.fd, err = s.sys.Openat(dir, name, flags, mode); err != nil {
			return f, err
		}
		f.name = name
		f.lockErr = s.sys.Flock(f.fd, unix.LOCK_EX|unix.LOCK_NB)
		f.stamp, err = s.sys.Fstat(f.fd)
		if err == nil && f.stamp.Nlink > 0 && !is(f.lockErr, unix.EWOULDBLOCK) {
			return f, nil
		}
		if s.remove(dir, f.name) != nil {
			s.leftover.Store(true)
		}
		s.sys.Close(f.fd)
		if err != nil {
			return lockedFile{fd: -1}, err
		}
	}
}

// close gives the file up: without a name it is gone, a name of ours is removed,
// provided that it still is.
func (t *temp) close() {
	if t.name != "" && t.ours {
		t.removeOwn()
	}
	if t.fd >= 0 {
		t.s.sys.Close(t.fd)
		t.fd = -1
	}
}

// removeOwn removes the name unless it is of another file: after an exchange with an
// unknown result, it may be the old one's. What cannot be decided or done is left for the
// next Sweep.
func (t *temp) removeOwn() {
	now, err := t.s.stat(t.dir, t.name)
	if is(err, unix.ENOENT) || err == nil && !now.SameFile(t.stamp) {
		return
	}
	if err == nil {
		err = t.s.remove(t.dir, t.name)
	}
	if err != nil {
		t.s.leftover.Store(true)
	}
}

// enter gives the file a name in its folder, which must be free.
func (t *temp) enter(name string) error {
	if t.name != "" {
		return t.move(name)
	}
	// By descriptor where the system allows that, else by way of /proc.
	err := t.land(name, func() error { return t.s.sys.Link(t.fd, "", t.dir, name, unix.AT_EMPTY_PATH) })
	if is(err, unix.ENOENT, unix.EPERM, unix.EINVAL) {
		proc := "/proc/self/fd/" + strconv.Itoa(t.fd)
		err = t.land(name, func() error {
			return t.s.sys.Link(unix.AT_FDCWD, proc, t.dir, name, unix.AT_SYMLINK_FOLLOW)
		})
	}
	return err
}

// move renames a file that has a name already, over nothing.
func (t *temp) move(name string) error {
	sys := t.s.sys
	err := t.land(name, func() error { return sys.Rename(t.dir, t.name, name, unix.RENAME_NOREPLACE) })
	if is(err, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP) {
		err = t.land(name, func() error { return sys.Link(t.dir, t.name, t.dir, name, 0) })
		if err == nil {
			t.s.remove(t.dir, t.name)
		}
	}
	if is(err, unix.EPERM, unix.EOPNOTSUPP) { // no links here either: look, then leap
		if _, err := sys.Fstatat(t.dir, name); !is(err, unix.ENOENT) {
			return unix.EEXIST
		}
		err = t.land(name, func() error { return sys.Rename(t.dir, t.name, name, 0) })
	}
	return err
}

// land makes the file appear under a name and believes no error before it has
// looked: a call that was interrupted, or whose answer was lost on the network,
// may have happened.
func (t *temp) land(name string, call func() error) error {
	for {
		err := call()
		if err == nil || t.at(name) {
			return nil
		}
		if err != unix.EINTR {
			return err
		}
	}
}

// at reports whether the file has this name in its folder.
func (t *temp) at(name string) bool {
	now, err := t.s.sys.Fstatat(t.dir, name)
	return err == nil && now.SameFile(t.stamp)
}
