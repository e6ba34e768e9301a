//go:build !fsys_portable

package save

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/disk"
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

// copyMeta gives the new file, stamped as it is now, the owner, attributes,
// access lists, mode and flags of the old file, in this order: a change of owner takes
// privileges away, an access list changes the mode. What cannot be kept is a
// refusal; then the file is better written in place.
func (x *Txn) copyMeta(t *temp, now fsys.Stamp) error {
	to := t.fd
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
	if err := x.copyFlags(t, keptFlags); err != nil {
		return x.refuseMeta("chattr", err)
	}
	return nil
}

// readFlags reads the old file's flags and those that the new one has from its folder. A
// file system without flags has none.
func (x *Txn) readFlags(t *temp) (err error) {
	if x.flags, err = x.s.sys.Flags(x.fd); err == nil {
		t.flags, err = x.s.sys.Flags(t.fd)
	}
	if err != nil {
		x.flags, t.flags = 0, 0
	}
	return onlyTrouble(err)
}

// copyFlags gives the new file those of the old file's flags that are in mask.
func (x *Txn) copyFlags(t *temp, mask uint32) error {
	want := t.flags&^mask | x.flags&mask
	if want == t.flags {
		return nil
	}
	err := x.s.sys.SetFlags(t.fd, want)
	if err == nil {
		t.flags = want
	}
	return err
}

// onlyTrouble returns an error of the disk, and nil for any other.
func onlyTrouble(err error) error {
	if disk.Is(err, diskTrouble...) {
		return err
	}
	return nil
}

// copyMetaAgain is copyMeta once more: a program has changed the old file's mode, owner or
// attributes since they were copied. now is its stamp.
func (x *Txn) copyMetaAgain(t *temp, now fsys.Stamp) error {
	x.was.Mode, x.was.UID, x.was.GID, x.was.Nlink, x.was.Ctime = now.Mode, now.UID, now.GID, now.Nlink, now.Ctime
	if ReadOnly(x.was) {
		return ErrReadOnly
	}
	mine, err := x.s.sys.Fstat(t.fd)
	if err != nil {
		return x.fail("stat", err)
	}
	if err := x.readFlags(t); err != nil {
		return x.fail("chattr", err)
	}
	if err := x.copyMeta(t, mine); err != nil {
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
	attrs, err := x.readXattrs(x.fd)
	if err != nil {
		return x.fail("getxattr", err)
	}
	if _, err := x.changeXattrs(t.fd, x.attrs, attrs); err != nil {
		return x.fail("setxattr", err)
	}
	x.attrs = attrs
	flags, err := x.s.sys.Flags(x.fd)
	if err != nil {
		err = onlyTrouble(err)
	} else if changed := (flags ^ x.flags) & keptFlags; changed != 0 {
		x.flags = flags
		err = x.copyFlags(t, changed)
	}
	if err != nil {
		return x.fail("chattr", err)
	}
	return nil
}

// diskTrouble are the errors of a disk that fails or is full.
var diskTrouble = []unix.Errno{unix.EIO, unix.ENOSPC, unix.EDQUOT, unix.ENOMEM, unix.ESTALE}

// refuseMeta: whatever the number, an attribute that cannot be kept is kept by
// writing in place, unless the disk is the trouble.
func (x *Txn) refuseMeta(op string, err error) error {
	if disk.Is(err, diskTrouble...) {
		return x.fail(op, err)
	}
	return &refusal{IOError{Op: op, Path: x.path, Err: err}}
}

// xattrs are the attributes of a file by name; access lists are among them.
type xattrs map[string][]byte

// copyXattrs makes the attributes alike; the new file may have inherited some
// from its folder. It reports whether it did anything.
func (x *Txn) copyXattrs(to int) (touched bool, err error) {
	have, err := x.readXattrs(to)
	if err == nil {
		x.attrs, err = x.readXattrs(x.fd)
	}
	if err != nil {
		return false, x.refuseMeta("getxattr", err)
	}
	touched, err = x.changeXattrs(to, have, x.attrs)
	if err != nil {
		return touched, x.refuseMeta("setxattr", err)
	}
	return touched, nil
}

// changeXattrs sets and removes those attributes of the file to that differ between was
// and want, and that the file still has as in was. It reports whether it did anything.
func (x *Txn) changeXattrs(to int, was, want xattrs) (touched bool, err error) {
	all := make(xattrs)
	maps.Copy(all, was)
	maps.Copy(all, want)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		old, had := was[name]
		value, wanted := want[name]
		if had == wanted && bytes.Equal(old, value) || !wanted && !removable(name) {
			continue
		}
		now, err := x.s.sys.Getxattr(to, name)
		if err != nil && !disk.Is(err, unix.ENODATA) {
			return touched, err
		}
		if has := err == nil; has != had || has && !bytes.Equal(now, old) {
			continue
		}
		touched = true
		if wanted {
			err = x.s.sys.Setxattr(to, name, value)
		} else {
			err = x.s.sys.Removexattr(to, name)
		}
		if err != nil {
			return touched, err
		}
	}
	return touched, nil
}

// removable: security labels are the system's to give.
func removable(name string) bool { return !strings.HasPrefix(name, "security.") }

// readXattrs reads those attributes of the old or the new file that are carried over. A
// file system without attributes has none.
func (x *Txn) readXattrs(fd int) (xattrs, error) {
	names, err := x.s.sys.Listxattr(fd)
	if err != nil && !disk.Is(err, unix.EOPNOTSUPP, unix.ENOSYS) {
		return nil, err
	}
	all := make(xattrs)
	for _, name := range names {
		if name == xattrIMA || name == xattrEVM || name == xattrCapability {
			continue
		}
		value, err := x.s.sys.Getxattr(fd, name)
		if err == nil {
			all[name] = value
		} else if !disk.Is(err, unix.ENODATA) {
			return nil, err
		}
	}
	return all, nil
}
