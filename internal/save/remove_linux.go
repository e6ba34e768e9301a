//go:build !fsys_portable

package save

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/save/disk"
)

// takeAway renames the file to a name of ours, looks at what that brought away,
// and removes it only then.
func (x *Txn) takeAway() (Outcome, error) {
	if err := x.st.Remember(x.folder())(); err != nil {
		return Outcome{}, x.fail("note", err)
	}
	t := &temp{s: x.s, dir: x.dir, fd: -1, stamp: x.was}
	n, err := x.nameFor(&temp{}) // there is no new file: its fingerprint fits none
	if err != nil {
		return Outcome{}, err
	}
	x.s.sys.Flock(x.fd, unix.LOCK_SH|unix.LOCK_NB)
	if err := x.ready(); err != nil {
		return Outcome{}, err
	}
	if _, err := x.still(); err != nil {
		return Outcome{}, err
	}
	if err := x.moveAway(t, n.String()); err != nil {
		return Outcome{}, err
	}
	if err := x.look(t); err != nil {
		return x.bringBack(t, err)
	}
	synced := x.syncFolder(x.dir) // a program that found it by name may open it meanwhile
	if x.leased {
		if err := x.leaseHolds(); err != nil {
			return x.bringBack(t, err)
		}
	}
	out := Outcome{OtherNames: int(x.was.Nlink) - 1, DurabilityUnknown: !synced}
	x.dropDisplaced(t, &out)
	return out, nil
}

func (x *Txn) moveAway(t *temp, name string) error {
	t.name = name
	err := t.land(name, func() error { return x.s.sys.Rename(x.dir, x.base, name, unix.RENAME_NOREPLACE) })
	if disk.Is(err, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP) {
		err = t.land(name, func() error { return x.s.sys.Rename(x.dir, x.base, name, 0) })
	}
	if err != nil {
		return x.failIfThere("rename", err)
	}
	return nil
}

// bringBack gives the file its name back, unless that is taken by now.
func (x *Txn) bringBack(t *temp, cause error) (Outcome, error) {
	back := &temp{s: x.s, dir: x.dir, fd: -1, name: t.name}
	var err error
	if back.stamp, err = disk.Stat(x.s.sys, x.dir, t.name); err == nil {
		err = back.move(x.base)
	}
	if err == nil {
		x.syncFolder(x.dir)
		return Outcome{}, cause
	}
	out, away := x.putAway(x.dir, t.name)
	if disk.Is(err, unix.EEXIST) && away == nil {
		return out, cause
	}
	return out, &IOError{Op: "rename", Path: x.path, Err: errors.Join(err, cause), Changed: true}
}
