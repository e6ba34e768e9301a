//go:build !fsys_portable

package save

import (
	"bytes"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/disk"
)

// Attributes that are not carried over: the first two describe the old content
// and are wrong for the new one.
const (
	xattrIMA        = "security.ima"
	xattrEVM        = "security.evm"
	xattrCapability = "security.capability" // privileges, treated as set-uid is
)

const (
	permBits  = 0o7777
	setIDBits = unix.S_ISUID | unix.S_ISGID
)

// keptMode returns the mode for new content: set-uid and set-gid go unless the writer owns
// the file, as the system does on a write.
func keptMode(was fsys.Stamp) uint32 {
	mode := was.Mode & permBits
	if !ownFile(was) {
		mode &^= setIDBits
	}
	return mode
}

func ownFile(was fsys.Stamp) bool { return was.UID == uint32(os.Geteuid()) }

// copyMeta gives the file to, stamped as it is now, the owner, attributes,
// access lists and mode of the old file, in this order: a change of owner takes
// privileges away, an access list changes the mode. What cannot be kept is a
// refusal; then the file is better written in place.
func (x *Txn) copyMeta(to int, now fsys.Stamp) error {
	if now.UID != x.was.UID || now.GID != x.was.GID {
		if err := x.s.sys.Chown(to, x.was.UID, x.was.GID); err != nil {
			return x.refuseMeta("chown", err)
		}
		now.Mode &^= setIDBits
	}
	touched, err := x.copyXattrs(to)
	if err != nil {
		return err
	}
	if mode := keptMode(x.was); touched || now.Mode&permBits != mode {
		if err := x.s.sys.Chmod(to, mode); err != nil {
			return x.refuseMeta("chmod", err)
		}
	}
	return nil
}

// copyMetaAgain does so once more for an old file that is stamped as it is now: a
// program has changed its mode, owner or attributes since they were copied.
func (x *Txn) copyMetaAgain(t *temp, now fsys.Stamp) error {
	x.was.Mode, x.was.UID, x.was.GID, x.was.Nlink, x.was.Ctime = now.Mode, now.UID, now.GID, now.Nlink, now.Ctime
	if ReadOnly(x.was) {
		return ErrReadOnly
	}
	mine, err := x.s.sys.Fstat(t.fd)
	if err != nil {
		return x.fail("stat", err)
	}
	if err := x.copyMeta(t.fd, mine); err != nil {
		return err
	}
	return x.sync(t)
}

// followMeta gives the new file, which has its name by now, what a program has
// changed of the old one's attributes since they were copied. What another program
// has changed of the new file itself stays. A changed mode or owner is ErrModified.
func (x *Txn) followMeta(t *temp) error {
	now, err := x.s.sys.Fstat(x.fd)
	switch {
	case err != nil:
		return x.fail("stat", err)
	case now.Mode != x.was.Mode || now.UID != x.was.UID || now.GID != x.was.GID:
		return ErrModified
	case now.Ctime == x.followed:
		return nil
	}
	x.followed = now.Ctime
	attrs, err := x.readXattrs()
	if err != nil {
		return x.fail("getxattr", err)
	}
	if slices.EqualFunc(attrs, x.attrs, xattr.equal) {
		return nil
	}
	if err := x.followXattrs(t, attrs); err != nil {
		return x.fail("setxattr", err)
	}
	x.attrs = attrs
	return nil
}

// followXattrs sets and removes those attributes of the new file that differ between
// what was copied and attrs, and that the new file still has as they were copied.
func (x *Txn) followXattrs(t *temp, attrs []xattr) error {
	sys := x.s.sys
	change := func(name string, set func() error) error {
		was, had := findXattr(x.attrs, name)
		now, err := sys.Getxattr(t.fd, name)
		if err != nil && !disk.Is(err, unix.ENODATA) {
			return err
		}
		if has := err == nil; has != had || has && !bytes.Equal(now, was) {
			return nil
		}
		return set()
	}
	for _, a := range attrs {
		if was, had := findXattr(x.attrs, a.name); had && bytes.Equal(was, a.value) {
			continue
		}
		if err := change(a.name, func() error { return sys.Setxattr(t.fd, a.name, a.value) }); err != nil {
			return err
		}
	}
	for _, a := range x.attrs {
		if _, there := findXattr(attrs, a.name); there || !removable(a.name) {
			continue
		}
		if err := change(a.name, func() error { return sys.Removexattr(t.fd, a.name) }); err != nil {
			return err
		}
	}
	return nil
}

// refuseMeta: whatever the number, an attribute that cannot be kept is kept by
// writing in place, unless the disk is the trouble.
func (x *Txn) refuseMeta(op string, err error) error {
	if disk.Is(err, unix.EIO, unix.ENOSPC, unix.EDQUOT, unix.ENOMEM, unix.ESTALE) {
		return x.fail(op, err)
	}
	return &refusal{IOError{Op: op, Path: x.path, Err: err}}
}

// xattr is one attribute of a file; access lists are among them.
type xattr struct {
	name  string
	value []byte
}

func (a xattr) equal(b xattr) bool { return a.name == b.name && bytes.Equal(a.value, b.value) }

func findXattr(list []xattr, name string) (value []byte, there bool) {
	at := slices.IndexFunc(list, func(a xattr) bool { return a.name == name })
	if at < 0 {
		return nil, false
	}
	return list[at].value, true
}

// copyXattrs makes the attributes alike; the new file may have inherited some
// from its folder. It reports whether it did anything.
func (x *Txn) copyXattrs(to int) (touched bool, err error) {
	sys := x.s.sys
	if x.attrs, err = x.readXattrs(); err != nil {
		return false, x.refuseMeta("getxattr", err)
	}
	have, err := listXattrs(sys, to)
	if err != nil {
		return false, x.fail("listxattr", err)
	}
	for _, name := range have {
		if _, wanted := findXattr(x.attrs, name); wanted || !removable(name) {
			continue
		}
		touched = true
		if err := sys.Removexattr(to, name); err != nil {
			return touched, x.refuseMeta("removexattr", err)
		}
	}
	for _, a := range x.attrs {
		done, err := x.copyXattr(to, a, slices.Contains(have, a.name))
		touched = touched || done
		if err != nil {
			return touched, err
		}
	}
	return touched, nil
}

// removable: security labels are the system's to give.
func removable(name string) bool { return !bytes.HasPrefix([]byte(name), []byte("security.")) }

// readXattrs reads the attributes of the old file that are carried over.
func (x *Txn) readXattrs() (all []xattr, err error) {
	names, err := listXattrs(x.s.sys, x.fd)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if name == xattrIMA || name == xattrEVM || name == xattrCapability && !ownFile(x.was) {
			continue
		}
		value, err := x.s.sys.Getxattr(x.fd, name)
		if disk.Is(err, unix.ENODATA) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, xattr{name, value})
	}
	return all, nil
}

func (x *Txn) copyXattr(to int, a xattr, there bool) (touched bool, err error) {
	sys := x.s.sys
	if there {
		now, err := sys.Getxattr(to, a.name)
		if err == nil && bytes.Equal(now, a.value) {
			return false, nil
		}
	}
	err = sys.Setxattr(to, a.name, a.value)
	if err != nil && a.name != xattrCapability {
		return true, x.refuseMeta("setxattr", err)
	}
	return true, nil
}

// listXattrs: a file system without attributes has none.
func listXattrs(sys disk.Sys, fd int) ([]string, error) {
	names, err := sys.Listxattr(fd)
	if disk.Is(err, unix.EOPNOTSUPP, unix.ENOSYS) {
		return nil, nil
	}
	return names, err
}
