package save

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// create is the strategy for a new file: it gets its final name in one step, which fails if
// the name was taken meanwhile.
type create struct {
	at      *place
	missing []string // folders to be made
	dirs    *madeDirs
	new     *newFile
	public  bool // the file has its name
}

func (s *create) stage(c []span.Splice) (err error) {
	if s.dirs, err = s.at.makeDirs(s.missing); err != nil {
		return err
	}
	if s.new, err = s.at.newFileIn(s.dirs.last(), 0o666, 0o666); err != nil {
		return s.at.failIfThere("create", err)
	}
	if err := s.new.write(nil, c); err != nil {
		return err
	}
	return s.new.sync()
}

func (s *create) publish() error {
	switch err := s.new.linkTo(s.at.base); {
	case err == nil:
		s.new.name, s.public = "", true
		return nil
	case sys.Is(err, syscall.EEXIST):
		return ErrExists
	case err == errUnlinkable:
		return err
	default:
		return s.at.failIfThere("link", err)
	}
}

func (s *create) verify() error { return s.new.readBack() }

// rollBack removes the new file and the folders that were made for it.
func (s *create) rollBack(cause error) (out Written, err error) {
	err = cause
	if s.public {
		out, err = s.removePublished(cause)
	}
	if s.new != nil {
		s.new.discard()
	}
	if s.dirs != nil {
		s.dirs.close(true)
	}
	return out, err
}

// removePublished removes a new file that the file system did not keep as it was written. One
// that another program has written to since is kept beside it.
func (s *create) removePublished(cause error) (out Written, err error) {
	now, err := sys.Stat(s.at.sys, s.new.dir, s.at.base)
	if sys.Is(err, syscall.ENOENT) || err == nil && !now.SameFile(s.new.stamp) {
		return Written{}, cause
	}
	switch {
	case err != nil:
	case s.new.untouched(s.at.base, now):
		err = sys.Remove(s.at.sys, s.new.dir, s.at.base)
	default:
		out, err = s.at.keepUnknown(s.new.dir, s.at.base)
	}
	if err != nil {
		return Written{}, &IOError{Op: "remove", Path: s.at.path, Err: cause, Changed: true}
	}
	return out, cause
}

func (s *create) finish() Written {
	synced := s.dirs.sync()
	out := s.new.outcome(nil, synced)
	out.Created, out.CreatedDirs = true, s.dirs.paths
	s.new.discard()
	s.dirs.close(false)
	return out
}

// madeDirs are the folders on the way to a new file.
type madeDirs struct {
	at    *place
	names []string // of the missing folders, outermost first
	fds   []int    // the deepest that existed, then one for each below it
	made  []bool   // by us, for each but the first
	paths []string // of those
}

// makeDirs makes the missing folders. It uses one that appeared meanwhile, unless it is a
// link: no rule has allowed the link's target.
func (p *place) makeDirs(missing []string) (*madeDirs, error) {
	d := &madeDirs{at: p, names: missing, fds: []int{p.dir}}
	path := p.folder()
	for range missing {
		path = filepath.Dir(path)
	}
	for _, name := range missing {
		path = filepath.Join(path, name)
		if err := d.add(name, path); err != nil {
			d.close(true)
			return nil, err
		}
	}
	return d, nil
}

func (d *madeDirs) add(name, path string) error {
	err := d.at.sys.Mkdir(d.last(), name, 0o777)
	if err != nil && !sys.Is(err, syscall.EEXIST) {
		return d.at.failIfThere("mkdir", err)
	}
	if err == nil {
		d.paths = append(d.paths, path)
	}
	d.made = append(d.made, err == nil)
	fd, err := d.at.sys.Openat(d.last(), name, sys.Place, 0)
	if err != nil {
		d.unmake(len(d.made) - 1)
		return d.at.failIfThere("open", err)
	}
	d.fds = append(d.fds, fd)
	return nil
}

func (d *madeDirs) last() int { return d.fds[len(d.fds)-1] }

// unmake removes folder n again if it was made here and is still empty.
func (d *madeDirs) unmake(n int) {
	if !d.made[n] {
		return
	}
	name := d.names[n]
	if err := d.at.sys.Unlink(d.fds[n], name, sys.RemoveFolder); err != nil {
		d.at.sys.Unlink(d.fds[n], name, sys.RemoveFolder)
	}
}

// sync makes the new file's name last, and those of the folders made for it.
func (d *madeDirs) sync() bool {
	fine := d.at.syncFolder(d.last())
	return d.syncMade() && fine
}

// syncMade makes the names of the folders last that were made.
func (d *madeDirs) syncMade() bool {
	fine := true
	for n := len(d.made) - 1; n >= 0; n-- {
		if d.made[n] {
			fine = d.at.syncFolder(d.fds[n]) && fine
		}
	}
	return fine
}

// close gives the descriptors back, and after a failure removes what was made,
// innermost first.
func (d *madeDirs) close(failed bool) {
	for n := len(d.fds) - 2; n >= 0; n-- {
		if failed {
			d.unmake(n)
		}
		d.at.sys.Close(d.fds[n+1])
	}
}

// RemoveEmptyFolders removes the folder and those above it, n at most, as long as they are empty,
// and makes this last.
func (s *Saver) RemoveEmptyFolders(dir string, n int) {
	removed := false
	for ; n > 0 && removeEmpty(dir) == nil; n-- {
		dir, removed = filepath.Dir(dir), true
	}
	if removed && s.o.Durability == Full {
		sys.SyncFolder(s.sys, sys.CWD, dir)
	}
}

// removeEmpty removes a folder if it is empty. On some volumes of Windows a name that was just
// removed stays until its last handle is closed, for which this waits.
func removeEmpty(dir string) error {
	const timeout, step = 500 * time.Millisecond, 5 * time.Millisecond
	for end := time.Now().Add(timeout); ; time.Sleep(step) {
		err := syscall.Rmdir(dir)
		if runtime.GOOS != "windows" || !errors.Is(err, fs.ErrExist) || time.Now().After(end) { // ErrExist: it is not empty
			return err
		}
	}
}
