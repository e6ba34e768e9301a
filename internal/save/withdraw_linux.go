//go:build !fsys_portable

package save

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/tempname"
)

// withdrawals bounds how often a program that keeps renaming is followed.
const withdrawals = 100

// withdraw puts back what the exchange took out. What comes out in return must
// be our own file. If it is not, another program has renamed a still newer file
// over ours meanwhile, which must not be covered by the one put back: exchange
// once more. Whatever is left over in the end and is not ours, untouched, is kept.
func (x *Txn) withdraw(t *temp, cause error) (Outcome, error) {
	sys := x.s.sys
	put := t.stamp // what we last put under the target's name
	held, heldErr := disk.Stat(x.s.sys, x.dir, t.name)
	for range withdrawals {
		err := sys.Rename(x.dir, t.name, x.base, unix.RENAME_EXCHANGE)
		if disk.Is(err, unix.ENOENT) { // the name was deleted: so be it
			cause = ErrVanished
			break
		}
		if err != nil && t.at(x.base) {
			return x.stuck(t, cause, err)
		}
		got, gotErr := disk.Stat(x.s.sys, x.dir, t.name)
		if gotErr != nil || got.SameFile(put) {
			held, heldErr = got, gotErr
			break
		}
		if heldErr != nil {
			break
		}
		put, held = held, got
	}
	out := x.keepLeftover(t, held, heldErr)
	x.syncFolder(x.dir)
	return out, cause
}

// stuck: the new bytes could not be taken back.
func (x *Txn) stuck(t *temp, cause, err error) (Outcome, error) {
	out, away := x.putAway(x.dir, t.name)
	if away != nil {
		out = Outcome{}
	}
	return out, &IOError{Op: "exchange", Path: x.path, Err: errors.Join(err, cause), Changed: true}
}

// keepLeftover removes our own file if it is untouched, and keeps anything else.
func (x *Txn) keepLeftover(t *temp, held fsys.Stamp, err error) Outcome {
	if disk.Is(err, unix.ENOENT) {
		return Outcome{}
	}
	if err == nil && held.SameFile(t.stamp) && x.untouched(t, t.name, held) {
		t.ours = true // closing it removes it
		return Outcome{}
	}
	out, _ := x.putAway(x.dir, t.name)
	return out
}

// restore writes the old file again, from the descriptor that outlived its name. It
// keeps what lies under that by now, unless it is our own file as we left it: another
// program may have written to it since.
func (x *Txn) restore(ours *temp, cause error) (Outcome, error) {
	changed := &IOError{Op: "restore", Path: x.path, Err: cause, Changed: true}
	x.network = false // no further doubts
	t, err := x.prepare(nil)
	if err != nil {
		return Outcome{}, changed
	}
	defer t.close()
	if err := x.enterTemp(t); err != nil {
		return Outcome{}, changed
	}
	kept := ""
	if now, err := disk.Stat(x.s.sys, x.dir, x.base); err != nil || !now.SameFile(ours.stamp) || !x.untouched(ours, x.base, now) {
		if kept, err = x.keepUnder(); err != nil {
			return Outcome{}, changed
		}
	}
	if err := t.land(x.base, func() error { return x.s.sys.Rename(x.dir, t.name, x.base, 0) }); err != nil {
		return Outcome{}, changed
	}
	t.name = ""
	var out Outcome
	if kept != "" {
		out, _ = x.putAway(x.dir, kept)
	}
	x.syncFolder(x.dir)
	return out, cause
}

// keepUnder renames the file at the target's name; the new name tells a sweeper that its
// bytes are unknown. Where a file can have one name alone, the target's is free from here
// until the next rename.
func (x *Txn) keepUnder() (name string, err error) {
	id, err := x.s.random(5)
	if err != nil {
		return "", err
	}
	unknown := tempname.Fingerprint(id, fsys.Stamp{}, nil)
	name = tempname.Name{Base: x.base, Kind: tempname.ByStamp, ID: id, New: unknown, Old: unknown}.String()
	err = x.s.sys.Link(x.dir, x.base, x.dir, name, 0)
	if disk.Is(err, unix.EPERM, unix.EOPNOTSUPP, unix.ENOSYS, unix.EMLINK) {
		err = x.s.sys.Rename(x.dir, x.base, name, 0)
	}
	if disk.Is(err, unix.ENOENT) {
		return "", nil
	}
	return name, err
}

// takeBack removes a new file that the file system did not keep as it was
// written. One that another program has written to since is kept beside it.
func (x *Txn) takeBack(t *temp, cause error) (Outcome, error) {
	now, err := disk.Stat(x.s.sys, t.dir, x.base)
	if disk.Is(err, unix.ENOENT) || err == nil && !now.SameFile(t.stamp) {
		return Outcome{}, cause
	}
	var out Outcome
	switch {
	case err != nil:
	case x.untouched(t, x.base, now):
		err = disk.Remove(x.s.sys, t.dir, x.base)
	default:
		out, err = x.putAway(t.dir, x.base)
	}
	if err != nil {
		return Outcome{}, &IOError{Op: "remove", Path: x.path, Err: cause, Changed: true}
	}
	return out, cause
}

// putAway keeps a file of unknown bytes; see rescue.Store.
func (x *Txn) putAway(dir int, name string) (Outcome, error) {
	kept, err := x.s.rescue.PutAway(dir, x.folder(), name, x.base)
	return Outcome{Saved: kept.Saved, Rescued: kept.Rescued}, err
}
