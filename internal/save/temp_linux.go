//go:build !fsys_portable

package save

import (
	"crypto/sha256"
	"errors"
	"hash"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/tempname"
	"github.com/fsmcp/fsmcp/internal/span"
)

// temp is a file on its way to its name.
type temp struct {
	s     *Saver
	dir   int
	fd    int
	name  string     // "" while it has none
	ours  bool       // what lies under name is our own and may be removed
	stamp fsys.Stamp // with the content in it
	flags uint32     // of the inode
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
		if !disk.Is(err, unix.EOPNOTSUPP, unix.EISDIR, unix.EINVAL, unix.ENOSYS) {
			return nil, err
		}
		x.named = true
	}
	return t, x.nameFirst(t, named)
}

// nameFirst makes the file with a name.
func (x *Txn) nameFirst(t *temp, mode uint32) error {
	if err := x.st.Remember(x.folder())(); err != nil {
		return err
	}
	f, err := disk.CreateLocked(x.s.sys, t.dir, mode, func() (string, error) {
		id, err := x.s.random(5)
		return tempname.Name{Base: x.base, Kind: tempname.Named, ID: id}.String(), err
	})
	t.fd, t.name, t.stamp = f.FD, f.Name, f.Stamp
	if f.Left {
		x.s.leftover.Store(true)
	}
	return err
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
	now, err := disk.Stat(t.s.sys, t.dir, t.name)
	if disk.Is(err, unix.ENOENT) || err == nil && !now.SameFile(t.stamp) {
		return
	}
	if err == nil {
		err = disk.Remove(t.s.sys, t.dir, t.name)
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
	if disk.Is(err, unix.ENOENT, unix.EPERM, unix.EINVAL) {
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
	if disk.Is(err, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP) {
		err = t.land(name, func() error { return sys.Link(t.dir, t.name, t.dir, name, 0) })
		if err == nil {
			disk.Remove(t.s.sys, t.dir, t.name)
		}
	}
	if disk.Is(err, unix.EPERM, unix.EOPNOTSUPP) { // no links here either: look, then leap
		if _, err := sys.Fstatat(t.dir, name); !disk.Is(err, unix.ENOENT) {
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

// write fills the file and stamps it.
func (x *Txn) write(t *temp, c []span.Splice) error {
	w := disk.Writer{Sys: x.s.sys, FD: t.fd, Sum: t.sum}
	err := w.Fill(x.fd, x.was.Size, c)
	if errors.Is(err, disk.ErrEnded) {
		return ErrModified
	}
	if err != nil {
		return x.fail("write", err)
	}
	stamp, err := x.s.sys.Fstat(t.fd)
	if err != nil {
		return x.fail("stat", err)
	}
	t.stamp = stamp
	return nil
}

// sync is never tried again after an error: the system reports a lost page once
// and then calls the file clean.
func (x *Txn) sync(t *temp) error {
	if x.s.o.Durability == None {
		return nil
	}
	if err := x.s.sys.Sync(t.fd); err != nil {
		return x.fail("fsync", err)
	}
	return nil
}

// enterTemp gives the new file its temporary name. From here on a sweeper may
// come across it, and across the old file after the exchange, so both are locked.
func (x *Txn) enterTemp(t *temp) error {
	n, err := x.nameFor(t)
	if err != nil {
		return err
	}
	x.s.sys.Flock(x.fd, unix.LOCK_SH|unix.LOCK_NB)
	name := n.String()
	switch err := t.enter(name); {
	case err == nil:
		t.name = name
		x.number(t)
		return nil
	case disk.Is(err, unix.ENOENT, unix.EINVAL, unix.EOPNOTSUPP) && !x.named && x.folderLives():
		x.named = true
		return errUnlinkable
	default:
		return x.refuse("link", err)
	}
}

// number takes the new file's identity from its name. Some file systems in user space
// number files by their names, and close would take ours for another program's.
func (x *Txn) number(t *temp) {
	if !x.network {
		return
	}
	if now, err := x.s.sys.Fstatat(t.dir, t.name); err == nil {
		t.stamp.Dev, t.stamp.Ino = now.Dev, now.Ino
	}
}

// nameFor tells in the name what a sweeper must know. Where the old file was
// changed so lately that a further change might not show in its stamp, its bytes
// count as well.
func (x *Txn) nameFor(t *temp) (tempname.Name, error) {
	id, err := x.s.random(5)
	if err != nil {
		return tempname.Name{}, x.fail("random", err)
	}
	if err := x.ensureDigest(); err != nil {
		return tempname.Name{}, err
	}
	kind := byte(tempname.ByStamp)
	if x.sum != nil {
		kind = tempname.ByDigest
	}
	return tempname.Name{
		Base: x.base, Kind: kind, ID: id,
		New: tempname.Fingerprint(id, t.stamp, nil),
		Old: tempname.Fingerprint(id, x.was, x.sum),
	}, nil
}

func (x *Txn) enterNew(t *temp) error {
	unnamed := t.name == ""
	switch err := t.enter(x.base); {
	case err == nil:
		t.name = ""
		return nil
	case disk.Is(err, unix.EEXIST):
		return ErrExists
	case unnamed && disk.Is(err, unix.ENOENT, unix.EINVAL, unix.EOPNOTSUPP) && x.folderLives():
		x.named = true
		return errUnlinkable
	default:
		return x.failIfThere("link", err)
	}
}
