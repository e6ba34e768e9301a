package save

import (
	"syscall"

	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// rename is the strategy for systems that cannot exchange two names: the old file is checked
// once more, then the new one gets its name. Without a lease, what another program writes
// between the two steps is lost. On Windows the lease keeps other writers out until then.
type rename struct {
	*replacement
	public bool
}

func (s *rename) publish() error {
	if s.new.name == "" {
		if err := s.new.linkTemporary(s.old); err != nil {
			return err
		}
	}
	if !s.old.leased {
		if err := s.old.sameBytes(); err != nil {
			return err
		}
	}
	if err := s.meta.checkName(); err != nil {
		return err
	}
	s.new.closeForRename()
	switch err := s.new.renameOver(); {
	case sys.Is(err, syscall.ENOSYS):
		return errNoReplace
	case err != nil:
		return s.at.refuse("rename", err)
	}
	s.public = true
	return nil
}

func (s *rename) verify() error {
	if !s.at.network && s.new.fd >= 0 { // on a network a file without a name may be gone
		s.meta.follow()
	}
	return s.new.readBack()
}

func (s *rename) finish() Written {
	out := s.new.outcome(s.old, s.at.syncFolder(s.at.dir))
	s.handOn()
	s.discard()
	return out
}

// rollBack writes the old file again, from the descriptor that outlived its name. It keeps
// the file that has the name by now, unless it is our own as we left it: another program may
// have written to it since.
func (s *rename) rollBack(cause error) (Written, error) {
	if cause == errNoReplace {
		return Written{}, cause // twoRenames takes over the staged file
	}
	defer s.discard()
	if !s.public {
		return Written{}, cause
	}
	changed := &IOError{Op: "restore", Path: s.at.path, Err: cause, Changed: true}
	s.at.network = false // no further doubts
	again := &replacement{at: s.at, old: s.old}
	defer again.discard()
	if again.stage(nil) != nil || again.new.linkTemporary(s.old) != nil {
		return Written{}, changed
	}
	kept := ""
	if now, err := sys.Stat(s.at.sys, s.at.dir, s.at.base); err != nil || !s.new.untouched(s.at.base, now) {
		if kept, err = s.moveAside(); err != nil {
			return Written{}, changed
		}
	}
	if again.new.renameOver() != nil {
		return Written{}, changed
	}
	var out Written
	if kept != "" {
		out, _ = s.at.keepUnknown(s.at.dir, kept)
	}
	s.at.syncFolder(s.at.dir)
	return out, cause
}

// moveAside renames the file at the target's name; the new name tells a sweep that its bytes
// are unknown. If a file can have one name alone, the target's is free from here until the
// next rename.
func (s *rename) moveAside() (string, error) {
	name, err := s.at.newTempName(nil, nil)
	if err != nil {
		return "", err
	}
	err = s.at.sys.Link(s.at.dir, s.at.base, name, 0)
	if sys.Is(err, syscall.EPERM, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EMLINK) {
		err = s.at.sys.Rename(s.at.dir, s.at.base, name, 0)
	}
	if sys.Is(err, syscall.ENOENT) {
		return "", nil
	}
	return name, err
}
