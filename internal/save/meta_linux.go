//go:build !fsys_portable

package save

import (
	"bytes"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
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

// keptMode is the mode that new content may have: set-uid and set-gid go unless
// whoever writes owns the file, just as the system takes them away on a write.
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

// refuseMeta: whatever the number, an attribute that cannot be kept is kept by
// writing in place, unless the disk is the trouble.
func (x *Txn) refuseMeta(op string, err error) error {
	if is(err, unix.EIO, unix.ENOSPC, unix.EDQUOT, unix.ENOMEM) {
		return x.fail(op, err)
	}
	return &refusal{IOError{Op: op, Path: x.path, Err: err}}
}

// copyXattrs makes the attributes alike; the new file may have inherited some
// from its folder. It reports whether it did anything.
func (x *Txn) copyXattrs(to int) (touched bool, err error) {
	sys := x.s.sys
	want, err := listXattrs(sys, x.fd)
	if err != nil {
		return false, x.fail("listxattr", err)
	}
	have, err := listXattrs(sys, to)
	if err != nil {
		return false, x.fail("listxattr", err)
	}
	for _, name := range have {
		if slices.Contains(want, name) || !removable(name) {
			continue
		}
		touched = true
		if err := sys.Removexattr(to, name); err != nil {
			return touched, x.refuseMeta("removexattr", err)
		}
	}
	for _, name := range want {
		done, err := x.copyXattr(to, name, slices.Contains(have, name))
		touched = touched || done
		if err != nil {
			return touched, err
		}
	}
	return touched, nil
}

// removable: security labels are the system's to give.
func removable(name string) bool { return !bytes.HasPrefix([]byte(name), []byte("security.")) }

func (x *Txn) copyXattr(to int, name string, there bool) (touched bool, err error) {
	sys := x.s.sys
	if name == xattrIMA || name == xattrEVM || name == xattrCapability && !ownFile(x.was) {
		return false, nil
	}
	value, err := sys.Getxattr(x.fd, name)
	if is(err, unix.ENODATA) {
		return false, nil
	}
	if err != nil {
		return false, x.refuseMeta("getxattr", err)
	}
	if there {
		now, err := sys.Getxattr(to, name)
		if err == nil && bytes.Equal(now, value) {
			return false, nil
		}
	}
	err = sys.Setxattr(to, name, value)
	if err != nil && name != xattrCapability {
		return true, x.refuseMeta("setxattr", err)
	}
	return true, nil
}

// listXattrs: a file system without attributes has none.
func listXattrs(sys Sys, fd int) ([]string, error) {
	names, err := sys.Listxattr(fd)
	if is(err, unix.EOPNOTSUPP, unix.ENOSYS) {
		return nil, nil
	}
	return names, err
}
