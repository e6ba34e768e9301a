package save

import (
	"errors"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// twoRenames is the strategy for volumes that replace no open file (FAT, SMB, Wine): the old
// file is renamed to a temporary name, then the new one gets the name, which must be free. In
// between the name is missing; an entry in the state folder lets the next start give it back.
type twoRenames struct {
	*replacement
	away   string // the old file's temporary name
	entry  *renameEntry
	moved  bool // the old file has its temporary name
	public bool // the new file has the target's name
	synced bool
}

func (s *twoRenames) publish() (err error) {
	if s.at.st.lost != nil {
		return &NoJournalError{Renames: true, Why: errNoReplace, State: s.at.st.lost}
	}
	if s.new.name == "" {
		if err := s.new.linkTemporary(s.old); err != nil {
			return err
		}
	}
	if s.away, err = s.at.newTempName(nil, s.old); err != nil {
		return err
	}
	if s.entry, err = s.at.startRenameEntry(s.away); err != nil {
		return s.at.fail("journal", err)
	}
	if err := s.meta.checkName(); err != nil {
		return err
	}
	if !s.old.leased {
		if err := s.old.sameBytes(); err != nil {
			return err
		}
	}
	s.new.closeForRename()
	if err := s.moveAway(); err != nil {
		return s.at.refuse("rename", err)
	}
	s.moved = true
	if err := s.at.s.moveToFree(s.at.dir, s.new.stamp, s.new.name, s.at.base); err != nil {
		if sys.Is(err, syscall.EEXIST) {
			return ErrModified
		}
		return s.at.fail("rename", err)
	}
	s.public, s.new.ours, s.new.name = true, false, ""
	return nil
}

// moveAway renames the old file to its temporary name.
func (s *twoRenames) moveAway() error {
	return s.at.s.moveToFree(s.at.dir, s.old.was, s.at.base, s.away)
}

func (s *twoRenames) verify() error {
	if err := s.old.checkDisplaced(s.away); err != nil {
		return err
	}
	if err := s.new.readBack(); err != nil {
		return err
	}
	s.synced = s.at.syncFolder(s.at.dir)
	if s.old.leased {
		return s.old.leaseHolds()
	}
	return nil
}

func (s *twoRenames) finish() Written {
	out := s.new.outcome(s.old, s.synced)
	s.at.removeDisplaced(s.away, &out)
	s.entry.done()
	s.discard()
	return out
}

// rollBack gives the old file its name back. The file that has the name by now is kept,
// unless it is our own as we left it.
func (s *twoRenames) rollBack(cause error) (out Written, err error) {
	defer s.discard()
	if s.entry != nil {
		defer s.entry.close()
	}
	kept := ""
	if s.public {
		if kept, err = s.clearName(); err != nil {
			return out, &IOError{Op: "restore", Path: s.at.path, Err: cause, Changed: true}
		}
	}
	if s.moved {
		if out, err = s.at.giveBack(s.away, cause); err != nil {
			return out, err
		}
	}
	if kept != "" {
		more, _ := s.at.keepUnknown(s.at.dir, kept)
		out.Saved, out.Rescued = append(out.Saved, more.Saved...), append(out.Rescued, more.Rescued...)
	}
	if s.entry != nil {
		s.entry.done()
	}
	return out, cause
}

// clearName frees the target's name. It removes a file that this change has made, and renames
// any other to a temporary name, which it returns.
func (s *twoRenames) clearName() (kept string, err error) {
	now, err := sys.Stat(s.at.sys, s.at.dir, s.at.base)
	switch {
	case sys.Is(err, syscall.ENOENT):
		return "", nil
	case err == nil && s.new.untouched(s.at.base, now):
		return "", sys.Remove(s.at.sys, s.at.dir, s.at.base)
	case err != nil:
		return "", err
	}
	if kept, err = s.at.newTempName(nil, nil); err != nil {
		return "", err
	}
	return kept, s.at.s.moveToFree(s.at.dir, now, s.at.base, kept)
}

// giveBack gives a file under a temporary name the target's name back, unless that is taken
// by now: then the file is kept. The error says that the target's name is missing if neither
// could be done.
func (p *place) giveBack(name string, cause error) (Written, error) {
	var now fsys.Stamp
	now, err := sys.Stat(p.sys, p.dir, name)
	if err == nil {
		err = p.s.moveToFree(p.dir, now, name, p.base)
	}
	if err == nil {
		p.syncFolder(p.dir)
		return Written{}, nil
	}
	out, lost := p.keepUnknown(p.dir, name)
	if sys.Is(err, syscall.EEXIST) && lost == nil {
		return out, nil
	}
	return out, &IOError{Op: "rename", Path: p.path, Err: errors.Join(err, cause), Changed: true, Missing: true}
}
