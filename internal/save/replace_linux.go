//go:build !fsys_portable

package save

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// Replace puts the old content with the splices applied in place of the old one
// and reports what it did. With ErrModified, ErrExists and ErrVanished the other
// program's bytes are in place, with *IOError those that it says; Outcome.Saved
// counts in either case. A ctx that is done stops it before it begins, never
// halfway. A transaction is good for one Replace.
func (x *Txn) Replace(ctx context.Context, c []span.Splice) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{}, err
	}
	if x.used {
		return Outcome{}, errUsed
	}
	x.used = true
	defer x.release()
	if !span.Fit(c, x.was.Size) {
		return Outcome{}, errSplices
	}
	out, err := x.replace(c)
	x.st.tell(&out)
	return out, err
}

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

// refusal is an error that forbids replacing the file, but perhaps not writing it.
type refusal struct{ IOError }

func (x *Txn) refuse(op string, err error) error {
	if is(err, unix.EACCES, unix.EPERM, unix.EROFS, unix.EBUSY, unix.EXDEV) && x.folderLives() {
		return &refusal{IOError{Op: op, Path: x.path, Err: err}}
	}
	return x.failIfThere(op, err)
}

// failIfThere tells an error from the consequence of the folder being gone: into a
// deleted one nothing can be put, and not every file system says so plainly.
func (x *Txn) failIfThere(op string, err error) error {
	if is(err, unix.ENOENT) || is(err, unix.EPERM) && !x.folderLives() {
		return ErrVanished
	}
	return x.fail(op, err)
}

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
	case is(err, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP, unix.EPERM):
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
	noted, err := x.st.remember(x.folder())
	if err != nil {
		return x.fail("note", err)
	}
	err = x.write(t, c)
	if err == nil {
		err = x.copyMeta(t.fd, t.stamp)
	}
	if err == nil {
		err = x.sync(t)
	}
	if wait := noted(); err == nil && wait != nil {
		err = x.fail("note", wait)
	}
	return err
}

// write fills the file and stamps it.
func (x *Txn) write(t *temp, c []span.Splice) error {
	f := newFiller(x.s.sys, t.fd, x.fd, x.known.bytes, x.was.Size+span.Growth(c), t.sum)
	err := f.fill(x.was.Size, c)
	if errors.Is(err, ErrModified) {
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
	case is(err, unix.ENOENT, unix.EINVAL, unix.EOPNOTSUPP) && !x.named && x.folderLives():
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

// folderLives: a folder that cannot be asked is tried once more, by name.
func (x *Txn) folderLives() bool {
	now, err := x.s.sys.Fstat(x.dir)
	return err != nil || now.Nlink > 0
}

// nameFor tells in the name what a sweeper must know. Where the old file was
// changed so lately that a further change might not show in its stamp, its bytes
// count as well.
func (x *Txn) nameFor(t *temp) (tempName, error) {
	id, err := x.s.random(5)
	if err != nil {
		return tempName{}, x.fail("random", err)
	}
	if err := x.ensureDigest(); err != nil {
		return tempName{}, err
	}
	kind := byte(kindStamp)
	if x.sum != nil {
		kind = kindDigest
	}
	return tempName{
		base: x.base, kind: kind, id: id,
		new: fingerprint(id, t.stamp, nil),
		old: fingerprint(id, x.was, x.sum),
	}, nil
}

// ensureDigest computes the old file's digest while the lease still holds, if its stamp
// alone would not show a change.
func (x *Txn) ensureDigest() error {
	if x.sum != nil || x.was.Settled(x.s.o.Now()) {
		return nil
	}
	if x.known.sum != nil {
		sum := digest(x.known.sum())
		x.sum = &sum
		return nil
	}
	var err error
	x.sum, err = x.digestOld()
	return err
}

// still looks once more before the step that shows: what is noticed here needs
// no taking back.
func (x *Txn) still() (now fsys.Stamp, err error) {
	now, err = x.s.sys.Fstatat(x.dir, x.base)
	switch {
	case is(err, unix.ENOENT):
		return now, ErrVanished
	case err != nil:
		return now, x.fail("stat", err)
	case !x.compared(now):
		return now, ErrModified
	case x.leased:
		return now, x.leaseHolds()
	}
	return now, nil
}

// metaTries bounds how often a program is followed that keeps changing the mode or
// the attributes of the old file.
const metaTries = 10

// stillFor does so, and sees to it that the new file has the old one's mode, owner
// and attributes as they are now.
func (x *Txn) stillFor(t *temp) error {
	for range metaTries {
		now, err := x.still()
		if err != nil || now.Ctime == x.was.Ctime {
			return err
		}
		if err := x.copyMetaAgain(t, now); err != nil {
			return err
		}
	}
	return ErrModified
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
	if x.s.remove(t.dir, t.name) != nil {
		x.s.leftover.Store(true)
		out.Left = []string{x.folder() + "/" + t.name}
	}
	return out, nil
}

// look compares what lies under the temporary name with what Begin saw.
func (x *Txn) look(t *temp) error {
	got, err := x.s.sys.Fstatat(t.dir, t.name)
	if err != nil {
		return x.fail("stat", err)
	}
	if !x.compared(got) {
		return ErrModified
	}
	if x.leased {
		return x.leaseHolds()
	}
	return x.sameBytes()
}

// sameBytes reads the old file once more, where no lease vouches for it.
func (x *Txn) sameBytes() error {
	now, err := x.digestOld()
	if err != nil {
		return err
	}
	if *now != *x.sum {
		return ErrModified
	}
	return nil
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

// syncFolder makes names last. The folder is opened anew: a descriptor that only
// marks a place cannot be synced.
func (x *Txn) syncFolder(dir int) bool {
	if x.s.o.Durability != Full {
		return true
	}
	fd, err := x.s.sys.Openat(dir, ".", openFolder, 0)
	if err != nil {
		return false
	}
	defer x.s.sys.Close(fd)
	return x.s.sys.Sync(fd) == nil
}

// readBack compares what a network file system serves under the name with what
// was written. If another file lies there by now, that one's bytes are not ours
// to judge.
func (x *Txn) readBack(t *temp) error {
	if !x.network {
		return nil
	}
	sys := x.s.sys
	fd, err := sys.Openat(t.dir, x.base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return x.fail("read", err)
	}
	defer sys.Close(fd)
	now, err := sys.Fstat(fd)
	if err == nil && !now.SameFile(t.stamp) {
		return nil
	}
	var sum *digest
	if err == nil {
		sum, err = digestOf(sys, fd, now.Size)
	}
	if err == nil && *sum != digest(t.sum.Sum(nil)) {
		err = ErrReadBack
	}
	if err != nil {
		return x.fail("read", err)
	}
	return nil
}

// withdrawals bounds how often a program that keeps renaming is followed.
const withdrawals = 100

// withdraw puts back what the exchange took out. What comes out in return must
// be our own file. If it is not, another program has renamed a still newer file
// over ours meanwhile, which must not be covered by the one put back: exchange
// once more. Whatever is left over in the end and is not ours, untouched, is kept.
func (x *Txn) withdraw(t *temp, cause error) (Outcome, error) {
	sys := x.s.sys
	put := t.stamp // what we last put under the target's name
	held, heldErr := x.s.stat(x.dir, t.name)
	for range withdrawals {
		err := sys.Rename(x.dir, t.name, x.base, unix.RENAME_EXCHANGE)
		if is(err, unix.ENOENT) { // the name was deleted: so be it
			cause = ErrVanished
			break
		}
		if err != nil && t.at(x.base) {
			return x.stuck(t, cause, err)
		}
		got, gotErr := x.s.stat(x.dir, t.name)
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
	out, away := x.s.putAway(x.dir, x.folder(), t.name, x.base)
	if away != nil {
		out = Outcome{}
	}
	return out, &IOError{Op: "exchange", Path: x.path, Err: errors.Join(err, cause), Changed: true}
}

// keepLeftover removes our own file if it is untouched, and keeps anything else.
func (x *Txn) keepLeftover(t *temp, held fsys.Stamp, err error) Outcome {
	if is(err, unix.ENOENT) {
		return Outcome{}
	}
	if err == nil && held.SameFile(t.stamp) && x.untouched(t, t.name, held) {
		t.ours = true // closing it removes it
		return Outcome{}
	}
	out, _ := x.s.putAway(x.dir, x.folder(), t.name, x.base)
	return out
}

// untouched: our file, which lies under name, was public for a moment, so a program
// may have written to it, or be about to.
func (x *Txn) untouched(t *temp, name string, now fsys.Stamp) bool {
	if now.Size != t.stamp.Size || now.Mtime != t.stamp.Mtime {
		return false
	}
	sys := x.s.sys
	fd, err := sys.Openat(t.dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return true
	}
	defer sys.Close(fd)
	sys.Close(t.fd) // our own descriptor would count as a writer
	t.fd = -1
	return !is(sys.SetLease(fd, unix.F_RDLCK), unix.EAGAIN)
}

// setAside renames a file to NAME.fsmcp-saved, or with a number behind it, and
// gives its absolute name; on an error that is the old one.
func (s *Saver) setAside(dir int, folder, name, base string) (string, error) {
	for n := 1; ; n++ {
		to := savedName(base, n)
		err := s.sys.Rename(dir, name, to, unix.RENAME_NOREPLACE)
		if is(err, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP) {
			if err = s.sys.Link(dir, name, dir, to, 0); err == nil {
				err = s.remove(dir, name)
			}
		}
		if is(err, unix.EEXIST) && n < savedMax {
			continue
		}
		if err != nil {
			return folder + "/" + name, err
		}
		return folder + "/" + to, nil
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
	if now, err := x.s.stat(x.dir, x.base); err != nil || !now.SameFile(ours.stamp) || !x.untouched(ours, x.base, now) {
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
		out, _ = x.s.putAway(x.dir, x.folder(), kept, x.base)
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
	unknown := fingerprint(id, fsys.Stamp{}, nil)
	name = tempName{base: x.base, kind: kindStamp, id: id, new: unknown, old: unknown}.String()
	err = x.s.sys.Link(x.dir, x.base, x.dir, name, 0)
	if is(err, unix.EPERM, unix.EOPNOTSUPP, unix.ENOSYS, unix.EMLINK) {
		err = x.s.sys.Rename(x.dir, x.base, name, 0)
	}
	if is(err, unix.ENOENT) {
		return "", nil
	}
	return name, err
}
