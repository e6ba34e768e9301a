//go:build !fsys_portable

package save

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/span"
)

// replace picks the way: a new file, a write in place, or an exchange.
func (x *Txn) replace(c []span.Splice) (Outcome, error) {
	if x.old == nil {
		out, err := x.create(c)
		if errors.Is(err, errUnlinkable) {
			return x.create(c)
		}
		return out, err
	}
	if x.s.o.KeepHardLinks && x.was.Nlink > 1 {
		out, err := x.overwrite(c, nil)
		out.SharedNames = int(x.was.Nlink) - 1
		return out, err
	}
	out, err := x.swap(c)
	if errors.Is(err, errUnlinkable) {
		out, err = x.swap(c)
	}
	if no := (*refusal)(nil); errors.As(err, &no) {
		// Should the file not be writable either, that is the plainer answer.
		return x.overwrite(c, no)
	}
	return out, err
}

// errUnlinkable: an unnamed file could not be given a name; with a named one it
// may work.
var errUnlinkable = errors.New("an unnamed file cannot be linked here")

// swap replaces the file: prepare, exchange, look.
func (x *Txn) swap(c []span.Splice) (Outcome, error) {
	if x.s.sys.AddOnly(x.dir) { // where a temporary name would stay for ever
		return Outcome{}, x.refuse("exchange", unix.EPERM)
	}
	t, err := x.prepare(c)
	if err != nil {
		return Outcome{}, err
	}
	defer t.close()
	if err := x.ready(); err != nil {
		return Outcome{}, err
	}
	if err := x.enterTemp(t); err != nil {
		return Outcome{}, err
	}
	if err := x.stillFor(t); err != nil {
		return Outcome{}, err
	}
	err = t.land(x.base, func() error { return x.s.sys.Rename(x.dir, t.name, x.base, unix.RENAME_EXCHANGE) })
	switch {
	case err == nil:
		t.ours = false
		return x.confirm(t)
	case disk.Is(err, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP, unix.EPERM):
		return x.renameOver(t)
	}
	return Outcome{}, x.refuse("exchange", err)
}

// prepare makes the new file: content, metadata, synced.
func (x *Txn) prepare(c []span.Splice) (*temp, error) {
	t, err := x.newTemp(x.dir, x.was.Mode&0o777, 0o600)
	if err != nil {
		return nil, x.refuse("create", err)
	}
	if err := x.fill(t, c); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (x *Txn) fill(t *temp, c []span.Splice) error {
	noted := x.st.Remember(x.folder())
	err := x.readFlags(t)
	if err == nil {
		err = x.copyFlags(t, layoutFlags)
	}
	if err != nil {
		err = x.refuseMeta("chattr", err)
	}
	if err == nil {
		err = x.write(t, c)
	}
	if err == nil {
		err = x.copyMeta(t, t.stamp)
	}
	if err == nil {
		err = x.sync(t)
	}
	if late := noted(); err == nil && late != nil {
		err = x.fail("note", late)
	}
	return err
}

// openWithin is the time that a program gets to open a file that it found by name: on a
// busy machine it may not run in between. A sync gives it that time; one that takes less
// than a tenth of it did nothing, as on tmpfs.
const openWithin = time.Millisecond

// confirm looks at what the exchange brought out, and keeps the new file only if
// that was the file that was compared. The second question about the lease is for
// a program that had found the old file by name before the exchange and came to
// opening it only now; while the folder was synced it had time to.
func (x *Txn) confirm(t *temp) (Outcome, error) {
	if err := x.look(t); err != nil {
		return x.withdraw(t, err)
	}
	if err := x.followMeta(t); err != nil {
		return x.withdraw(t, err)
	}
	if err := x.readBack(t); err != nil {
		return x.withdraw(t, err)
	}
	begun := time.Now()
	synced := x.syncFolder(x.dir)
	if x.leased {
		if time.Since(begun) < openWithin/10 {
			time.Sleep(openWithin)
		}
		if err := x.leaseHolds(); err != nil {
			return x.withdraw(t, err)
		}
	}
	if err := x.followMeta(t); err != nil {
		return x.withdraw(t, err)
	}
	out := x.outcome(t, synced)
	x.dropDisplaced(t, &out)
	return out, nil
}

// dropDisplaced removes the old file under its temporary name.
func (x *Txn) dropDisplaced(t *temp, out *Outcome) {
	if disk.Remove(x.s.sys, t.dir, t.name) != nil {
		x.s.leftover.Store(true)
		out.Left = []string{x.folder() + "/" + t.name}
	}
}

// renameOver replaces where there is no exchange: look, then rename. What is
// written between the two is lost.
func (x *Txn) renameOver(t *temp) (Outcome, error) {
	if !x.leased {
		if err := x.sameBytes(); err != nil {
			return Outcome{}, err
		}
	}
	if err := x.stillFor(t); err != nil {
		return Outcome{}, err
	}
	err := t.land(x.base, func() error { return x.s.sys.Rename(x.dir, t.name, x.base, 0) })
	if err != nil {
		return Outcome{}, x.refuse("rename", err)
	}
	t.name = ""
	if !x.network { // where a file without a name may be gone
		x.followMeta(t)
	}
	if err := x.readBack(t); err != nil {
		return x.restore(t, err)
	}
	return x.outcome(t, x.syncFolder(x.dir)), nil
}

// create makes a new file under its final name in one step, which fails if the
// name was taken meanwhile.
func (x *Txn) create(c []span.Splice) (out Outcome, err error) {
	dirs, err := x.makeDirs()
	if err != nil {
		return Outcome{}, err
	}
	defer func() { dirs.close(err != nil) }()
	t, err := x.newTemp(dirs.last(), 0o666, 0o666)
	if err != nil {
		return Outcome{}, x.failIfThere("create", err)
	}
	defer t.close()
	if err := x.write(t, c); err != nil {
		return Outcome{}, err
	}
	if err := x.sync(t); err != nil {
		return Outcome{}, err
	}
	if err := x.ready(); err != nil {
		return Outcome{}, err
	}
	if err := x.enterNew(t); err != nil {
		return Outcome{}, err
	}
	if err := x.readBack(t); err != nil {
		return x.takeBack(t, err)
	}
	out = x.outcome(t, dirs.sync())
	out.Created, out.CreatedDirs = true, dirs.paths
	return out, nil
}

// outcome describes a write that is done.
func (x *Txn) outcome(t *temp, synced bool) Outcome {
	out := Outcome{Stamp: t.stamp, DurabilityUnknown: !synced}
	if now, err := x.s.sys.Fstat(t.fd); err == nil {
		out.Stamp = now
	}
	if x.old != nil {
		out.OtherNames = int(x.was.Nlink) - 1
	}
	return out
}
