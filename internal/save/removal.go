package save

import (
	"syscall"

	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// removal is the strategy that takes a file away: it is renamed to a temporary name,
// checked there, and removed only then.
type removal struct {
	at     *place
	old    *oldFile
	name   string // the temporary one
	public bool
	synced bool
}

func (s *removal) stage([]span.Splice) (err error) {
	if err := s.at.st.note.add(s.at.folder())(); err != nil {
		return s.at.fail("note", err)
	}
	if s.name, err = s.at.newTempName(nil, s.old); err != nil {
		return err
	}
	s.at.sys.Flock(s.old.fd, sys.LockShared)
	return nil
}

func (s *removal) publish() error {
	if _, err := s.old.checkName(); err != nil {
		return err
	}
	err := s.moveAway(sys.NoReplace)
	if sys.Is(err, syscall.EINVAL, syscall.ENOSYS, syscall.EOPNOTSUPP) {
		err = s.moveAway(0)
	}
	if sys.Is(err, syscall.ETXTBSY) {
		return s.at.busy(busyShared)
	}
	if err != nil {
		return s.at.failIfThere("rename", err)
	}
	s.public = true
	return nil
}

func (s *removal) moveAway(flags uint) error {
	return appear(s.at.sys, s.at.dir, s.old.was, s.name, func() error {
		return s.at.sys.Rename(s.at.dir, s.at.base, s.name, flags)
	})
}

func (s *removal) verify() error {
	if err := s.old.checkDisplaced(s.name); err != nil {
		return err
	}
	s.synced = s.at.syncFolder(s.at.dir) // a program that found it by name may open it meanwhile
	if s.old.leased {
		return s.old.leaseHolds()
	}
	return nil
}

func (s *removal) finish() Written {
	out := Written{OtherNames: int(s.old.was.Nlink) - 1, DurabilityUnknown: !s.synced}
	s.at.removeDisplaced(s.name, &out)
	return out
}

// rollBack gives the file its name back, unless that is taken by now.
func (s *removal) rollBack(cause error) (Written, error) {
	if !s.public {
		return Written{}, cause
	}
	out, err := s.at.giveBack(s.name, cause)
	if err == nil {
		err = cause
	}
	return out, err
}
