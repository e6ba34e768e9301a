//go:build !fsys_portable

package save

import (
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/save/disk"
)

// syncFolder makes names last. The folder is opened anew: a descriptor that only
// marks a place cannot be synced.
func (x *Txn) syncFolder(dir int) bool {
	if x.s.o.Durability != Full {
		return true
	}
	fd, err := x.s.sys.Openat(dir, ".", disk.OpenFolder, 0)
	if err != nil {
		return false
	}
	defer x.s.sys.Close(fd)
	return x.s.sys.Sync(fd) == nil
}

// madeDirs are the folders on the way to a new file.
type madeDirs struct {
	x     *Txn
	fds   []int    // the deepest that existed, then one for each below it
	made  []bool   // by us, for each but the first
	paths []string // of those
}

// makeDirs makes the missing folders. It uses one that appeared meanwhile, unless it is a
// link: no rule has allowed the link's target.
func (x *Txn) makeDirs() (*madeDirs, error) {
	d := &madeDirs{x: x, fds: []int{x.dir}}
	path := x.folder()
	for range x.missing {
		path = filepath.Dir(path)
	}
	for _, name := range x.missing {
		path = filepath.Join(path, name)
		if err := d.enter(name, path); err != nil {
			d.close(true)
			return nil, err
		}
	}
	return d, nil
}

func (d *madeDirs) enter(name, path string) error {
	sys := d.x.s.sys
	err := sys.Mkdir(d.last(), name, 0o777)
	if err != nil && !disk.Is(err, unix.EEXIST) {
		return d.x.failIfThere("mkdir", err)
	}
	if err == nil {
		d.paths = append(d.paths, path)
	}
	d.made = append(d.made, err == nil)
	fd, err := sys.Openat(d.last(), name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		d.unmake(len(d.made) - 1)
		return d.x.failIfThere("open", err)
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
	sys, name := d.x.s.sys, d.x.missing[n]
	if err := sys.Unlink(d.fds[n], name, unix.AT_REMOVEDIR); err != nil {
		sys.Unlink(d.fds[n], name, unix.AT_REMOVEDIR)
	}
}

// sync makes the new file's name last, and those of the folders made for it.
func (d *madeDirs) sync() bool {
	fine := d.x.syncFolder(d.last())
	for n := len(d.made) - 1; n >= 0; n-- {
		if d.made[n] {
			fine = d.x.syncFolder(d.fds[n]) && fine
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
		d.x.s.sys.Close(d.fds[n+1])
	}
}
