package save

import (
	"errors"
	"syscall"
	"time"

	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// replacement stages a new file beside the old one, for exchange and rename.
type replacement struct {
	at   *place
	old  *oldFile
	new  *newFile // nil until it is staged
	meta *metadata
	late *lateFile // nil if a lease keeps writers out, or the system cannot watch
}

// stage makes the new file: content, metadata, synced. A file that was staged for an
// exchange is used for the rename.
func (r *replacement) stage(c []span.Splice) (err error) {
	if r.new != nil {
		return nil
	}
	if r.at.sys.AddOnly(r.at.dir) { // a temporary name would stay for ever
		return r.at.refuse("exchange", syscall.EPERM)
	}
	r.late = r.old.watch()
	noted := r.at.st.note.add(r.at.folder())
	if r.new, err = r.at.cloneOf(r.old); err == nil {
		err = r.stageClone(c)
	} else {
		err = r.stageCopy(c)
	}
	if r.new == nil {
		noted()
		return err
	}
	if err == nil {
		err = r.meta.copy(r.new.stamp)
	}
	if err == nil {
		err = r.new.sync()
	}
	if late := noted(); err == nil && late != nil {
		err = r.at.fail("note", late)
	}
	return err
}

// stageCopy copies the old content, with the splices applied, into an empty file.
func (r *replacement) stageCopy(c []span.Splice) (err error) {
	r.new, err = r.at.newFileIn(r.at.dir, r.old.was.Mode&0o777, 0o600)
	if err != nil {
		return r.at.refuse("create", err)
	}
	r.meta = &metadata{at: r.at, old: r.old, new: r.new}
	if err := r.meta.copyLayout(); err != nil {
		return err
	}
	return r.new.write(r.old, c)
}

// stageClone applies the splices to a clone of the old file.
func (r *replacement) stageClone(c []span.Splice) error {
	r.meta = &metadata{at: r.at, old: r.old, new: r.new}
	if err := r.meta.readFlags(); err != nil {
		return r.meta.refuse("chattr", err)
	}
	return r.new.spliceClone(r.old, c)
}

// discard gives the new file up, and ends the watch on the old one unless finish has handed it
// on.
func (r *replacement) discard() {
	if r.new != nil {
		r.new.discard()
	}
	r.late.close()
	r.late = nil
}

// handOn leaves the watch on the displaced file to the Saver.
func (r *replacement) handOn() {
	r.at.s.late.await(r.late)
	r.late = nil
}

// exchange is the strategy that loses nothing: the two names are swapped in one step, then
// the displaced file is checked. If it is not the file that was compared, the two are
// swapped back.
type exchange struct {
	*replacement
	public bool // the names were exchanged
	synced bool
}

func (s *exchange) publish() error {
	if err := s.new.linkTemporary(s.old); err != nil {
		return err
	}
	if err := s.meta.checkName(); err != nil {
		return err
	}
	err := s.new.appear(s.at.base, s.swap)
	switch {
	case err == nil:
		s.public, s.new.ours = true, false
		return nil
	case sys.Is(err, syscall.EINVAL, syscall.ENOSYS, syscall.EOPNOTSUPP, syscall.EPERM):
		return errNoExchange
	}
	return s.at.refuse("exchange", err)
}

func (s *exchange) swap() error {
	return s.at.sys.Rename(s.at.dir, s.new.name, s.at.base, sys.Exchange)
}

// openWithin is the time that a program gets to open a file that it found by name: on a
// busy machine it may not run in between. A sync gives it that time; one that takes less
// than a tenth of it did nothing, as on tmpfs.
const openWithin = time.Millisecond

// verify checks the file that the exchange displaced. It asks a second time about the lease
// for a program that had found the old file by name before the exchange and came to open it
// only now; while the folder was synced it had time to.
func (s *exchange) verify() error {
	if err := s.old.checkDisplaced(s.new.name); err != nil {
		return err
	}
	if err := s.meta.follow(); err != nil {
		return err
	}
	if err := s.new.readBack(); err != nil {
		return err
	}
	if err := s.sync(); err != nil {
		return err
	}
	if s.old.leased {
		if err := s.old.leaseHolds(); err != nil {
			return err
		}
	}
	return s.meta.follow()
}

// sync syncs the folder, or waits for others that do.
func (s *exchange) sync() (err error) {
	if s.at.together != nil {
		s.synced, err = s.at.awaitOthers()
		return err
	}
	s.synced = s.syncWhileOpened(s.old.leased)
	return nil
}

// syncWhileOpened syncs the folder, and leaves programs the time to open what they have found by
// name, if they may.
func (s *exchange) syncWhileOpened(may bool) (synced bool) {
	begun := time.Now()
	synced = s.at.syncFolder(s.at.dir)
	if may && time.Since(begun) < openWithin/10 {
		time.Sleep(openWithin)
	}
	return synced
}

func (s *exchange) finish() Written {
	out := s.new.outcome(s.old, s.synced)
	s.at.removeDisplaced(s.new.name, &out)
	s.handOn()
	s.discard()
	return out
}

func (s *exchange) rollBack(cause error) (out Written, err error) {
	if cause == errNoExchange {
		return Written{}, cause // rename takes over the staged file
	}
	defer s.discard()
	if !s.public {
		return Written{}, cause
	}
	return s.swapBack(cause)
}

// maxSwaps bounds how often a program that keeps renaming is followed.
const maxSwaps = 100

// swapBack gives the displaced file its name back. The file that this displaces in return
// must be our own. If it is not, another program has renamed a still newer file over ours
// meanwhile, which must not be covered by the one put back: swap once more. A file that is
// left over in the end is kept, unless it is our own, untouched.
func (s *exchange) swapBack(cause error) (Written, error) {
	published := s.new.stamp // the file that we last put under the target's name
	displaced, statErr := sys.Stat(s.at.sys, s.at.dir, s.new.name)
	for range maxSwaps {
		err := s.swap()
		if sys.Is(err, syscall.ENOENT) { // another program deleted the name: that stays
			cause = ErrVanished
			break
		}
		if err != nil && s.new.has(s.at.base) {
			return s.keepBoth(errors.Join(err, cause))
		}
		now, nowErr := sys.Stat(s.at.sys, s.at.dir, s.new.name)
		if nowErr != nil || statErr != nil || now.SameFile(published) {
			break
		}
		published, displaced = displaced, now
	}
	// A program that found our file by name may open it only now.
	s.syncWhileOpened(true)
	return s.keepDisplaced(), cause
}

// keepBoth leaves the new bytes in place, which could not be taken back, and keeps the
// displaced file.
func (s *exchange) keepBoth(cause error) (Written, error) {
	out, err := s.at.keepUnknown(s.at.dir, s.new.name)
	if err != nil {
		out = Written{}
	}
	return out, &IOError{Op: "exchange", Path: s.at.path, Err: cause, Changed: true}
}

// keepDisplaced removes our own file if it is untouched, and keeps any other.
func (s *exchange) keepDisplaced() Written {
	displaced, err := sys.Stat(s.at.sys, s.at.dir, s.new.name)
	if sys.Is(err, syscall.ENOENT) {
		return Written{}
	}
	if err == nil && s.new.untouched(s.new.name, displaced) {
		s.new.ours = true // discard removes it
		return Written{}
	}
	out, _ := s.at.keepUnknown(s.at.dir, s.new.name)
	return out
}
