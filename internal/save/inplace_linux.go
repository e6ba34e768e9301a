//go:build !fsys_portable

package save

import (
	"io"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/journal"
	"github.com/fsmcp/fsmcp/internal/save/statedir"
	"github.com/fsmcp/fsmcp/internal/span"
)

// overwrite writes the file in place: both contents into the journal first, then
// the new one over the old one from front to back, so that the next start can
// finish what was interrupted. From the last look at the old content to the end of
// the write, a write lease keeps other programs from opening the file. Without one
// (another program has it open, or it has another owner), the size shows before each
// step that an appended line would not survive whether there is one; a line that is
// appended between that look and the step is lost. why says why the file cannot be
// replaced; nil: Options.KeepHardLinks.
func (x *Txn) overwrite(c []span.Splice, why error) (Outcome, error) {
	if _, err := x.still(); err != nil {
		return Outcome{}, err
	}
	if err := x.ensureDigest(); err != nil {
		return Outcome{}, err
	}
	x.release() // opening for writing would wait for our own lease
	fd, err := x.openAgain()
	if err != nil {
		return Outcome{}, err
	}
	defer x.s.sys.Close(fd)
	if x.st.Lost != nil {
		return Outcome{}, &NoJournalError{Why: why, State: x.st.Lost}
	}
	j, err := x.writeJournal(c)
	if err != nil {
		return Outcome{}, x.failUnlessModified("journal", err)
	}
	defer j.Close()
	err = x.ready()
	if err == nil {
		x.leaseAlone(fd)
		err = x.undisturbed()
	}
	if err != nil {
		j.Drop()
		return Outcome{}, err
	}
	return x.put(fd, j, c)
}

// aloneWait is the patience with other programs that have the file open.
const aloneWait = 20 * time.Millisecond

// leaseAlone takes a write lease on the file, which is open as fd. The kernel grants it if
// the file is not open anywhere else, so the descriptor that it was read by becomes fd,
// too. A program that opens the file waits until release, or for as long as the kernel
// lets us keep a lease: 45 seconds.
func (x *Txn) leaseAlone(fd int) {
	if x.s.sys.Dup(fd, x.fd) != nil {
		return
	}
	for begun := time.Now(); ; time.Sleep(leaseStep) {
		err := x.s.sys.SetLease(fd, unix.F_WRLCK)
		x.leased = err == nil
		if !disk.Is(err, unix.EAGAIN) || x.network || time.Since(begun) > aloneWait {
			return
		}
	}
}

// writeJournal keeps both contents in the state folder.
func (x *Txn) writeJournal(c []span.Splice) (*journal.Journal, error) {
	dir, err := x.st.OpenPart(statedir.Journals)
	if err != nil {
		return nil, err
	}
	w := journal.Writer{Sys: x.s.sys, Dir: dir, Sync: x.s.o.Durability != None, Random: x.s.random}
	return w.Start(journal.Target{Path: x.path, FD: x.fd, Was: x.was}, c)
}

// openAgain opens the very file that was compared for writing.
func (x *Txn) openAgain() (int, error) {
	const flags = unix.O_RDWR | unix.O_NONBLOCK
	sys := x.s.sys
	fd, err := sys.Openat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(x.fd), flags, 0)
	if disk.Is(err, unix.ENOENT) {
		fd, err = sys.Openat(x.dir, x.base, flags|unix.O_NOFOLLOW, 0)
	}
	if disk.Is(err, unix.EAGAIN) {
		return -1, &BusyError{Why: busyOpen}
	}
	if err != nil {
		return -1, x.fail("open", err)
	}
	now, err := sys.Fstat(fd)
	if err == nil && !now.SameFile(x.was) {
		err = ErrModified
	}
	if err != nil {
		sys.Close(fd)
		return -1, x.failUnlessModified("stat", err)
	}
	return fd, nil
}

func (x *Txn) failUnlessModified(op string, err error) error {
	if err == ErrModified || err == disk.ErrEnded {
		return ErrModified
	}
	return x.fail(op, err)
}

// undisturbed looks at the old file for the last time, by its name. Here the change
// time counts: nothing of ours has touched the file.
func (x *Txn) undisturbed() error {
	now, err := x.s.sys.Fstatat(x.dir, x.base)
	switch {
	case disk.Is(err, unix.ENOENT):
		return ErrVanished
	case err != nil:
		return x.fail("stat", err)
	case !now.Same(x.was):
		return ErrModified
	}
	if x.sum != nil {
		return x.sameBytes()
	}
	return nil
}

// put copies the new content from the journal into the file.
func (x *Txn) put(fd int, j *journal.Journal, c []span.Splice) (Outcome, error) {
	from, to := changedRange(c, j)
	if at, err := x.writeOver(fd, j, from, to); err != nil {
		return Outcome{}, x.rollBack(fd, j, span.Span{Start: from, End: at}, err)
	}
	x.settleMode(fd)
	out := Outcome{InPlace: true, Stamp: x.was}
	if x.s.o.Durability != None {
		// After a failed sync the journal stays: the next start can tell
		// what became of the file.
		out.DurabilityUnknown = x.s.sys.Sync(fd) != nil
	}
	if now, err := x.s.sys.Fstat(fd); err == nil {
		out.Stamp = now
	}
	if !out.DurabilityUnknown {
		j.Drop()
	}
	return out, nil
}

// changedRange is where the new content may differ from the old one.
func changedRange(c []span.Splice, j *journal.Journal) (from, to int64) {
	if len(c) == 0 {
		return 0, 0
	}
	from, to = c[0].Start, j.New
	if j.New == j.Old {
		to = c[len(c)-1].End
	}
	return from, to
}

// The system writes pages back in any order. So that a loss of power leaves new
// content up to some offset and old behind it, the file is synced page by page,
// or in syncSteps steps if it is long.
const (
	pageSize  = 4096
	syncSteps = 64
)

// writeOver makes the content new, and says how far it has written.
func (x *Txn) writeOver(fd int, j *journal.Journal, from, to int64) (at int64, err error) {
	sys := x.s.sys
	if mode := keptMode(x.was); mode != x.was.Mode&permBits {
		if err := sys.Chmod(fd, mode); err != nil {
			return from, err
		}
	}
	if j.New > j.Old {
		if err := sys.Reserve(fd, j.Old, j.New-j.Old); disk.Is(err, unix.ENOSPC, unix.EDQUOT, unix.EFBIG, unix.EIO) {
			return from, err
		}
	}
	if at, err = x.putNew(fd, j, from, to); err == nil && j.New < j.Old {
		if err = x.unextended(fd, j.Old); err == nil {
			err = sys.Truncate(fd, j.New)
		}
	}
	return at, err
}

// putNew writes the new bytes [at, to), and says how far it has written.
func (x *Txn) putNew(fd int, j *journal.Journal, at, to int64) (int64, error) {
	step, synced := int64(disk.BufferSize), x.s.o.Durability != None
	if synced {
		step = max(pageSize, (to-at)/syncSteps/pageSize*pageSize)
	}
	for at < to {
		next := min(to, at+step-at%step)
		if next > j.Old {
			if err := x.unextended(fd, max(at, j.Old)); err != nil {
				return at, err
			}
		}
		if err := j.Put(fd, j.Old, at, next); err != nil {
			return at, err
		}
		if at = next; synced && at < to {
			if err := x.s.sys.Sync(fd); err != nil {
				return at, err
			}
		}
	}
	return at, nil
}

// unextended returns ErrModified if the file does not end where we left it.
func (x *Txn) unextended(fd int, size int64) error {
	now, err := x.s.sys.Fstat(fd)
	if err == nil && now.Size != size {
		err = ErrModified
	}
	return err
}

// settleMode gives back to a file of our own the bits that writing took away.
func (x *Txn) settleMode(fd int) {
	mode := keptMode(x.was)
	now, err := x.s.sys.Fstat(fd)
	if err == nil && now.Mode&permBits != mode {
		x.s.sys.Chmod(fd, mode)
	}
}

// rollBack puts the old bytes back after an error. If that fails too, the journal stays
// for the next start. It also stays if another program has changed more than the end: its
// bytes are not written over.
func (x *Txn) rollBack(fd int, j *journal.Journal, written span.Span, cause error) error {
	failed := &IOError{Op: "write", Path: x.path, Err: cause}
	var err error
	if cause == ErrModified {
		if written.Len() == 0 {
			j.Drop()
			return cause
		}
		if mixed, merr := j.MixedAt(fd, written.End); merr != nil || !mixed {
			err = ErrModified
		}
	}
	if err == nil {
		err = x.putOld(fd, j, written, cause == ErrModified)
	}
	if err == nil && x.s.o.Durability != None {
		err = x.s.sys.Sync(fd) // before the journal goes
	}
	if err != nil {
		failed.Changed, failed.Mixed = true, true // the journal stays: the next start finishes the write
		return failed
	}
	if x.was.Mode&setIDBits != 0 {
		x.settleMode(fd)
	}
	j.Drop()
	if cause == ErrModified {
		return ErrModified
	}
	return failed
}

// putOld writes the old bytes again. What another program has appended behind the new ones
// moves behind the old ones.
func (x *Txn) putOld(fd int, j *journal.Journal, written span.Span, exact bool) error {
	now, err := x.s.sys.Fstat(fd)
	if err != nil {
		return err
	}
	end := max(j.Old, written.End)
	if !exact { // the step that failed may have written more
		end, err = j.Extended(fd, now.Size)
	}
	if err == nil {
		err = j.Put(fd, 0, min(written.Start, j.Old), j.Old)
	}
	if err != nil || end == j.Old {
		return err
	}
	w := disk.Writer{Sys: x.s.sys, FD: fd, Off: j.Old}
	if _, err := io.Copy(&w, io.NewSectionReader(disk.Reader{Sys: x.s.sys, FD: fd}, end, max(0, now.Size-end))); err != nil {
		return err
	}
	return x.s.sys.Truncate(fd, w.Off)
}
