package save

import (
	"crypto/sha256"
	"errors"
	"hash"
	"runtime"
	"strconv"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// newFile is a file on its way to its name.
type newFile struct {
	at    *place
	dir   int
	fd    int
	name  string     // "" while it has none
	ours  bool       // the file under name is our own and may be removed
	stamp fsys.Stamp // with the content in it
	flags uint32     // of the inode
	// ownerLost: the old file's owner could not be given to it (Windows).
	ownerLost bool
	sum       hash.Hash // of the content; nil unless it is to be read back
}

// stampOf returns the stamp of a new file, and none for nil.
func stampOf(n *newFile) fsys.Stamp {
	if n == nil {
		return fsys.Stamp{}
	}
	return n.stamp
}

// newFileIn makes an empty file without a name, or if the system cannot, one with a
// temporary name; that one can be seen before it has its owner, hence a mode of its own.
// The lock on it tells sweeps that its maker lives.
func (p *place) newFileIn(dir int, mode, named uint32) (*newFile, error) {
	n := &newFile{at: p, dir: dir, ours: true}
	if p.network {
		n.sum = sha256.New()
	}
	if !p.named {
		var err error
		n.fd, err = p.sys.Openat(dir, ".", sys.Unnamed, mode)
		if err == nil {
			p.sys.Flock(n.fd, sys.LockExclusive)
			return n, nil
		}
		if !sys.Is(err, syscall.EOPNOTSUPP, syscall.EISDIR, syscall.EINVAL, syscall.ENOSYS) {
			return nil, err
		}
		p.named = true
	}
	if err := n.createNamed(named); err != nil {
		return nil, err
	}
	return n, nil
}

func (n *newFile) createNamed(mode uint32) error {
	p := n.at
	if err := p.st.note.add(p.folder())(); err != nil {
		return err
	}
	f, err := sys.CreateLocked(p.sys, n.dir, mode, func() (string, error) {
		id, err := p.s.random(5)
		return tempName{Base: p.base, Kind: newOnly, ID: id}.String(), err
	})
	n.fd, n.name, n.stamp = f.FD, f.Name, f.Stamp
	if f.Left {
		p.s.leftover.Store(true)
	}
	return err
}

// cloneOf makes a clone of the old file under a temporary name. If a lease proves the old file
// unchanged, or what is written has to be read back, there is none: errNoClone.
func (p *place) cloneOf(old *oldFile) (*newFile, error) {
	if old.leased || p.network || old.sum == nil {
		return nil, errNoClone
	}
	if p.st.note.add(p.folder())() != nil {
		return nil, errNoClone
	}
	id, err := p.s.random(5)
	if err != nil {
		return nil, errNoClone
	}
	n := &newFile{at: p, dir: p.dir, name: tempName{Base: p.base, Kind: newOnly, ID: id}.String(), ours: true}
	if err := p.sys.Clone(old.fd, n.dir, n.name); err != nil {
		return nil, errNoClone
	}
	n.fd, n.stamp, err = sys.Open(p.sys, n.dir, n.name, sys.ReadWrite|sys.NoFollow)
	if err == nil && sys.IsRegular(n.stamp) && n.stamp.Nlink == 1 && !n.stamp.SameFile(old.was) &&
		p.sys.Flock(n.fd, sys.LockExclusive) == nil {
		return n, nil
	}
	if err == nil {
		p.sys.Close(n.fd)
	}
	// An access list that denies writing locks the clone: it is copied in the end instead.
	if sys.Remove(p.sys, n.dir, n.name) != nil {
		p.s.leftover.Store(true)
	}
	return nil, errNoClone
}

// errNoClone: the content is copied instead.
var errNoClone = errors.New("the file cannot be cloned")

// spliceClone applies the splices, and takes the stamp. The old bytes in the new content are
// those that Begin and the caller have read, else it is ErrModified.
func (n *newFile) spliceClone(old *oldFile, c []span.Splice) error {
	sum, err := sys.SpliceClone(n.at.sys, n.fd, old.fd, old.was.Size, c)
	switch {
	case errors.Is(err, sys.ErrEnded):
		return ErrModified
	case err != nil:
		return n.at.fail("write", err)
	case *sum != *old.sum, old.known != nil && *sum != sys.Digest(old.known()):
		return ErrModified
	}
	return n.takeStamp()
}

// takeStamp takes the stamp of the file with its content.
func (n *newFile) takeStamp() error {
	now, err := n.at.sys.Fstat(n.fd)
	if err != nil {
		return n.at.fail("stat", err)
	}
	n.stamp = now
	return nil
}

// write writes the old content with the splices applied, and takes the stamp.
func (n *newFile) write(old *oldFile, c []span.Splice) error {
	w := sys.Writer{Sys: n.at.sys, FD: n.fd, Sum: n.sum}
	from, size := -1, int64(0)
	if old != nil {
		from, size = old.fd, old.was.Size
	}
	err := w.CopySpliced(from, size, c)
	if errors.Is(err, sys.ErrEnded) {
		return ErrModified
	}
	if err != nil {
		return n.at.fail("write", err)
	}
	return n.takeStamp()
}

// sync is never tried again after an error: the system reports a lost page once
// and then calls the file clean.
func (n *newFile) sync() error {
	if n.at.s.o.Durability == None {
		return nil
	}
	if err := n.at.sys.Sync(n.fd); err != nil {
		return n.at.fail("fsync", err)
	}
	return nil
}

// closeFD gives the descriptor back.
func (n *newFile) closeFD() {
	if n.fd >= 0 {
		n.at.sys.Close(n.fd)
		n.fd = -1
	}
}

// closeForRename gives the descriptor back on Windows, where an open for writing would lock
// readers out of the file from the moment that it has its name.
func (n *newFile) closeForRename() {
	if runtime.GOOS == "windows" {
		n.closeFD()
	}
}

// discard gives the file up: without a name it is gone, a name of ours is removed,
// provided that it still is.
func (n *newFile) discard() {
	if n.name != "" && n.ours {
		n.removeOwn()
	}
	n.closeFD()
}

// removeOwn removes the name unless it is of another file: after an exchange with an
// unknown result, it may be the old one's. What cannot be decided or done is left for the
// next sweep.
func (n *newFile) removeOwn() {
	now, err := sys.Stat(n.at.sys, n.dir, n.name)
	if sys.Is(err, syscall.ENOENT) || err == nil && !now.SameFile(n.stamp) {
		return
	}
	if err == nil {
		err = sys.Remove(n.at.sys, n.dir, n.name)
	}
	if err != nil {
		n.at.s.leftover.Store(true)
	}
}

// linkTo gives the file a name in its folder, which must be free. The error is errUnlinkable
// if a file without a name cannot be given one here.
func (n *newFile) linkTo(name string) error {
	if n.name != "" {
		return n.at.s.moveToFree(n.dir, n.stamp, n.name, name)
	}
	// (By the descriptor itself, a process without privileges can give no name.)
	proc := "/proc/self/fd/" + strconv.Itoa(n.fd)
	err := n.appear(name, func() error { return n.at.sys.Link(n.dir, proc, name, sys.FollowLink) })
	if sys.Is(err, syscall.ENOENT, syscall.EINVAL, syscall.EOPNOTSUPP) && n.at.folderLives() {
		n.at.named = true
		return errUnlinkable
	}
	return err
}

// linkTemporary gives the file its temporary name, next to old. From here on a sweep may
// come across it, and across the old file after the exchange, so both are locked.
func (n *newFile) linkTemporary(old *oldFile) error {
	name, err := n.at.newTempName(n, old)
	if err != nil {
		return err
	}
	n.at.sys.Flock(old.fd, sys.LockShared)
	if err := n.linkTo(name); err == errUnlinkable {
		return err
	} else if err != nil {
		return n.at.refuse("link", err)
	}
	n.name = name
	n.takeNumber()
	return nil
}

// takeNumber takes the file's identity from its name. Some file systems in user space
// number files by their names, and discard would take ours for another program's.
func (n *newFile) takeNumber() {
	if !n.at.network {
		return
	}
	if now, err := n.at.sys.Fstatat(n.dir, n.name); err == nil {
		n.stamp.Dev, n.stamp.Ino = now.Dev, now.Ino
	}
}

// renameOver gives the file the target's name, whatever has it.
func (n *newFile) renameOver() error {
	err := n.appear(n.at.base, func() error { return n.at.sys.Rename(n.dir, n.name, n.at.base, 0) })
	if err == nil {
		n.name = ""
	}
	return err
}

// appear makes the file appear under a name; see appear below.
func (n *newFile) appear(name string, call func() error) error {
	return appear(n.at.sys, n.dir, n.stamp, name, call)
}

// has reports whether the file has this name in its folder.
func (n *newFile) has(name string) bool { return hasName(n.at.sys, n.dir, n.stamp, name) }

// readBack compares what a network file system returns under the target's name with what
// was written. It does not judge another file that has the name by now.
func (n *newFile) readBack() error {
	if !n.at.network {
		return nil
	}
	fd, now, err := sys.Open(n.at.sys, n.dir, n.at.base, sys.Read)
	if err == nil {
		defer n.at.sys.Close(fd)
		if !now.SameFile(n.stamp) {
			return nil
		}
		var sum *sys.Digest
		sum, err = sys.DigestOf(n.at.sys, fd, now.Size)
		if err == nil && *sum != sys.Digest(n.sum.Sum(nil)) {
			err = ErrReadBack
		}
	}
	if err != nil {
		return n.at.fail("read", err)
	}
	return nil
}

// untouched reports whether the file, which has this name, is still as it was written. It
// was public for a moment, so a program may have written to it, or be about to.
func (n *newFile) untouched(name string, now fsys.Stamp) bool {
	if !sameContent(now, n.stamp) {
		return false
	}
	calls := n.at.sys
	fd, err := calls.Openat(n.dir, name, sys.Read, 0)
	if err != nil {
		return true
	}
	defer calls.Close(fd)
	n.closeFD() // our own descriptor would count as a writer
	return !sys.IsOpen(calls.SetLease(fd, sys.ReadLease))
}

// outcome describes a write that is done. (Windows sets a file's times when it is closed.)
func (n *newFile) outcome(old *oldFile, synced bool) Written {
	n.closeForRename()
	out := Written{Stamp: n.stamp, DurabilityUnknown: !synced, OwnerLost: n.ownerLost}
	now, err := fsys.Stamp{}, error(nil)
	if n.fd >= 0 {
		now, err = n.at.sys.Fstat(n.fd)
	} else {
		now, err = n.at.sys.Fstatat(n.dir, n.at.base)
	}
	if err == nil {
		out.Stamp = now
	}
	if old != nil {
		out.OtherNames = int(old.was.Nlink) - 1
	}
	return out
}

// appear makes a file appear under a name and believes no error before it has checked: a
// call that was interrupted, or whose answer was lost on the network, may have happened.
func appear(calls sys.Sys, dir int, file fsys.Stamp, name string, call func() error) error {
	for {
		err := call()
		if err == nil || hasName(calls, dir, file, name) {
			return nil
		}
		if err != syscall.EINTR {
			return err
		}
	}
}

func hasName(calls sys.Sys, dir int, file fsys.Stamp, name string) bool {
	now, err := calls.Fstatat(dir, name)
	return err == nil && now.SameFile(file)
}

// moveToFree renames a file to a name that must be free. If the old name stays beside it,
// the sweep of the next start finds that.
func (s *Saver) moveToFree(dir int, file fsys.Stamp, from, to string) error {
	calls := s.sys
	err := appear(calls, dir, file, to, func() error { return calls.Rename(dir, from, to, sys.NoReplace) })
	if sys.Is(err, syscall.EINVAL, syscall.ENOSYS, syscall.EOPNOTSUPP) {
		err = appear(calls, dir, file, to, func() error { return calls.Link(dir, from, to, 0) })
		if err == nil && sys.Remove(calls, dir, from) != nil {
			s.leftover.Store(true)
		}
	}
	if sys.Is(err, syscall.EPERM, syscall.EOPNOTSUPP) { // no links here either: check, then rename
		if _, err := calls.Fstatat(dir, to); !sys.Is(err, syscall.ENOENT) {
			return syscall.EEXIST
		}
		err = appear(calls, dir, file, to, func() error { return calls.Rename(dir, from, to, 0) })
	}
	return err
}
