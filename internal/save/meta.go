package save

import (
	"bytes"
	"maps"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// Attributes that are not carried over: the first two describe the old content and are
// wrong for the new one. The third gives a program privileges: the kernel removes it at
// every write, also one by root or by the file's owner.
const (
	xattrIMA        = "security.ima"
	xattrEVM        = "security.evm"
	xattrCapability = "security.capability"
)

// keptFlags are the inode flags of a file that a user may set: FS_SECRM_FL, UNRM, COMPR,
// SYNC, NODUMP, NOATIME, NOCOMP, JOURNAL_DATA, NOTAIL, NOCOW and DAX of linux/fs.h. The
// other two, for "immutable" and "append only", forbid a write.
const keptFlags = 0x1 | 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x400 | 0x4000 | 0x8000 | 0x800000 | 0x2000000

// layoutFlags are those that say how content is stored: COMPR, NOCOMP and NOCOW. Btrfs sets
// NOCOW of an empty file alone.
const layoutFlags = 0x4 | 0x400 | 0x800000

// keptMode returns the mode for new content: set-uid and set-gid go unless the writer owns
// the file, as the system does on a write.
func keptMode(was fsys.Stamp) uint32 {
	mode := was.Mode & sys.PermBits
	if was.UID != euid {
		mode &^= sys.SetIDBits
	}
	return mode
}

// metadata carries the owner, mode, attributes and flags of an old file over to the new one.
type metadata struct {
	at       *place
	old      *oldFile
	new      *newFile
	attrs    xattrs // of old, as the new file has them
	flags    uint32 // of old, as last seen
	followed int64  // the change time of old, as follow last saw it
}

// copy gives the new file, stamped as it is now, the owner, attributes, access lists, mode
// and flags of the old file, in this order: a change of owner takes privileges away, an
// access list changes the mode. What cannot be kept is a refusal; then the file is better
// written in place.
func (m *metadata) copy(now fsys.Stamp) error {
	was, to := m.old.was, m.new.fd
	if now.UID != was.UID || now.GID != was.GID {
		if err := m.at.sys.Chown(to, was.UID, was.GID); err != nil {
			return m.refuse("chown", err)
		}
		now.Mode &^= sys.SetIDBits
	}
	touched, err := m.copyXattrs()
	if err != nil {
		return err
	}
	if mode := keptMode(was); touched || now.Mode&sys.PermBits != mode {
		if err := m.at.sys.Chmod(to, mode); err != nil {
			return m.refuse("chmod", err)
		}
	}
	if err := m.at.sys.CopyACL(m.old.fd, to); err != nil && !sys.Is(err, syscall.EOPNOTSUPP) {
		return m.refuse("acl", err)
	}
	if err := m.copyFlags(keptFlags); err != nil {
		return m.refuse("chattr", err)
	}
	return nil
}

// copyLayout gives the new file, which is empty yet, the flags that say how content is
// stored.
func (m *metadata) copyLayout() error {
	err := m.readFlags()
	if err == nil {
		err = m.copyFlags(layoutFlags)
	}
	if err != nil {
		return m.refuse("chattr", err)
	}
	if runtime.GOOS == "windows" { // before there is content that the folder's own access list shows
		_, err = m.copyXattrs()
	}
	return err
}

// readFlags reads the old file's flags and those that the new one has from its folder. A
// file system without flags has none.
func (m *metadata) readFlags() (err error) {
	if m.flags, err = m.at.sys.Flags(m.old.fd); err == nil {
		m.new.flags, err = m.at.sys.Flags(m.new.fd)
	}
	if err != nil {
		m.flags, m.new.flags = 0, 0
	}
	return onlyTrouble(err)
}

// copyFlags gives the new file those of the old file's flags that are in mask.
func (m *metadata) copyFlags(mask uint32) error {
	want := m.new.flags&^mask | m.flags&mask
	if want == m.new.flags {
		return nil
	}
	err := m.at.sys.SetFlags(m.new.fd, want)
	if err == nil {
		m.new.flags = want
	}
	return err
}

// metaTries bounds how often a program is followed that keeps changing the mode or
// the attributes of the old file.
const metaTries = 10

// checkName is oldFile.checkName, and gives the new file the old one's mode, owner and
// attributes as they are now.
func (m *metadata) checkName() error {
	for range metaTries {
		now, err := m.old.checkName()
		if err != nil || now.Ctime == m.old.was.Ctime {
			return err
		}
		if err := m.copyAgain(now); err != nil {
			return err
		}
	}
	return ErrModified
}

// copyAgain is copy once more: a program has changed the old file's mode, owner or
// attributes since they were copied. now is its stamp.
func (m *metadata) copyAgain(now fsys.Stamp) error {
	was := &m.old.was
	was.Mode, was.UID, was.GID, was.Nlink, was.Ctime = now.Mode, now.UID, now.GID, now.Nlink, now.Ctime
	if ReadOnly(now) {
		return ErrReadOnly
	}
	mine, err := m.at.sys.Fstat(m.new.fd)
	if err != nil {
		return m.at.fail("stat", err)
	}
	if err := m.readFlags(); err != nil {
		return m.at.fail("chattr", err)
	}
	if err := m.copy(mine); err != nil {
		return err
	}
	return m.new.sync()
}

// follow gives the new file, which has its name by now, what a program has changed of the
// old one's attributes since they were copied. What another program has changed of the new
// file itself stays. A changed mode or owner is ErrModified.
func (m *metadata) follow() error {
	was := m.old.was
	now, err := m.at.sys.Fstat(m.old.fd)
	switch {
	case err != nil:
		return m.at.fail("stat", err)
	case now.Mode != was.Mode || now.UID != was.UID || now.GID != was.GID:
		return ErrModified
	case now.Ctime == m.followed:
		return nil
	}
	m.followed = now.Ctime
	attrs, err := readXattrs(m.at.sys, m.old.fd)
	if err != nil {
		return m.at.fail("getxattr", err)
	}
	if _, err := changeXattrs(m.at.sys, m.new.fd, m.attrs, attrs); err != nil && err != sys.ErrOwner {
		return m.at.fail("setxattr", err)
	}
	m.attrs = attrs
	flags, err := m.at.sys.Flags(m.old.fd)
	if err != nil {
		err = onlyTrouble(err)
	} else if changed := (flags ^ m.flags) & keptFlags; changed != 0 {
		m.flags = flags
		err = m.copyFlags(changed)
	}
	if err != nil {
		return m.at.fail("chattr", err)
	}
	return nil
}

// diskTrouble are the errors of a disk that fails or is full.
var diskTrouble = []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.ENOMEM, syscall.ESTALE}

// onlyTrouble returns an error of the disk, and nil for any other.
func onlyTrouble(err error) error {
	if sys.Is(err, diskTrouble...) {
		return err
	}
	return nil
}

// refuse returns a *refusal: whatever the number, an attribute that cannot be kept is kept
// by writing in place, unless the disk is the trouble. On Windows the change fails.
func (m *metadata) refuse(op string, err error) error {
	if onlyTrouble(err) != nil || runtime.GOOS == "windows" {
		return m.at.fail(op, err)
	}
	return &refusal{IOError{Op: op, Path: m.at.path, Err: err}}
}

// copyXattrs makes the attributes alike; the new file may have inherited some
// from its folder. It reports whether it did anything.
func (m *metadata) copyXattrs() (touched bool, err error) {
	have, err := readXattrs(m.at.sys, m.new.fd)
	if err == nil {
		m.attrs, err = readXattrs(m.at.sys, m.old.fd)
	}
	if err != nil {
		return false, m.refuse("getxattr", err)
	}
	touched, err = changeXattrs(m.at.sys, m.new.fd, have, m.attrs)
	if m.new.ownerLost = err == sys.ErrOwner; err != nil && !m.new.ownerLost {
		return touched, m.refuse("setxattr", err)
	}
	return touched, nil
}

// xattrs are the attributes of a file by name; access lists are among them.
type xattrs map[string][]byte

// changeXattrs sets and removes those attributes of the file to that differ between was
// and want, and that the file still has as in was. It reports whether it did anything. The
// error is ErrOwner if that is all that could not be set.
func changeXattrs(calls sys.Sys, to int, was, want xattrs) (touched bool, owner error) {
	all := make(xattrs)
	maps.Copy(all, was)
	maps.Copy(all, want)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		old, had := was[name]
		value, wanted := want[name]
		if had == wanted && bytes.Equal(old, value) || !wanted && !removable(name) {
			continue
		}
		now, err := calls.Getxattr(to, name)
		if err != nil && !sys.Is(err, syscall.ENODATA) {
			return touched, err
		}
		if has := err == nil; has != had || has && !bytes.Equal(now, old) {
			continue
		}
		touched = true
		if err := calls.Setxattr(to, name, value); err == sys.ErrOwner {
			owner = err
		} else if err != nil {
			return touched, err
		}
	}
	return touched, owner
}

// removable reports false for security labels: the system gives them.
func removable(name string) bool { return !strings.HasPrefix(name, "security.") }

// readXattrs reads those attributes of the old or the new file that are carried over. A
// file system without attributes has none.
func readXattrs(calls sys.Sys, fd int) (xattrs, error) {
	names, err := calls.Listxattr(fd)
	if err != nil && !sys.Is(err, syscall.EOPNOTSUPP, syscall.ENOSYS) {
		return nil, err
	}
	all := make(xattrs)
	for _, name := range names {
		if name == xattrIMA || name == xattrEVM || name == xattrCapability {
			continue
		}
		value, err := calls.Getxattr(fd, name)
		if err == nil {
			all[name] = value
		} else if !sys.Is(err, syscall.ENODATA) {
			return nil, err
		}
	}
	return all, nil
}
