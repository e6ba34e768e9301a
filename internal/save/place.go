package save

import (
	"path/filepath"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// place is where a file is written: its folder, open, and its name there.
type place struct {
	s       *Saver
	sys     sys.Sys
	st      *state
	dir     int // the folder, or the deepest that exists on the way; the target's
	path    string
	base    string
	network bool // what was written has to be read back
	named   bool // unnamed files cannot be linked here
	// together waits for a sync of the folder, if other files are changed at once; else nil.
	together func() (synced bool, err error)
}

func (p *place) folder() string { return filepath.Dir(p.path) }

func (p *place) fail(op string, err error) error {
	return &IOError{Op: op, Path: p.path, Err: err}
}

// refusal is an error that forbids replacing the file, but perhaps not writing it.
type refusal struct{ IOError }

// refuse returns a *refusal for an error that forbids to change the folder.
func (p *place) refuse(op string, err error) error {
	if sys.Is(err, syscall.ETXTBSY) {
		return p.busy(busyShared)
	}
	if sys.Is(err, syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.EBUSY, syscall.EXDEV) && p.folderLives() {
		return &refusal{IOError{Op: op, Path: p.path, Err: err}}
	}
	return p.failIfThere(op, err)
}

// failIfThere tells an error from the consequence of the folder being gone: into a
// deleted one nothing can be put, and not every file system says so plainly.
func (p *place) failIfThere(op string, err error) error {
	if sys.Is(err, syscall.ENOENT) || sys.Is(err, syscall.EPERM) && !p.folderLives() {
		return ErrVanished
	}
	return p.fail(op, err)
}

// folderLives reports whether the folder still has a name. If it cannot be asked it is
// tried once more, by name.
func (p *place) folderLives() bool {
	now, err := p.sys.Fstat(p.dir)
	return err != nil || now.Nlink > 0
}

// syncFolder syncs the names in a folder, and reports whether they will last.
func (p *place) syncFolder(dir int) bool {
	return p.s.o.Durability != Full || sys.SyncFolder(p.sys, dir, ".") == nil
}

// keepUnknown keeps a file of unknown bytes.
func (p *place) keepUnknown(dir int, name string) (Written, error) {
	kept, err := p.s.keepUnknown(dir, p.folder(), name, p.base)
	return Written{Saved: kept.saved, Rescued: kept.rescued}, err
}

// removeDisplaced removes the old file under its temporary name.
func (p *place) removeDisplaced(name string, out *Written) {
	if sys.Remove(p.sys, p.dir, name) != nil {
		p.s.leftover.Store(true)
		out.Left = []string{filepath.Join(p.folder(), name)}
	}
}

// newTempName returns a name that says what a sweep must know of the file and of the one
// that it replaces. Of a file that was changed so lately that a further change might not
// show in its stamp, the bytes count as well. A nil file is one of unknown bytes.
func (p *place) newTempName(new *newFile, old *oldFile) (string, error) {
	id, err := p.s.random(5)
	if err != nil {
		return "", p.fail("random", err)
	}
	n := tempName{Base: p.base, Kind: byStamp, ID: id}
	n.New = fingerprint(id, stampOf(new), nil)
	n.Old = n.New
	if old != nil {
		if err := old.ensureDigest(); err != nil {
			return "", err
		}
		if old.sum != nil {
			n.Kind = byDigest
		}
		n.Old = fingerprint(id, old.was, old.sum)
	}
	return n.String(), nil
}

// linkTempName returns a temporary name for a link; a sweep removes what has it and is that
// link still.
func (p *place) linkTempName(link fsys.Stamp) (string, error) {
	id, err := p.s.random(5)
	if err != nil {
		return "", p.fail("random", err)
	}
	print := fingerprint(id, link, nil)
	return tempName{Base: p.base, Kind: byStamp, ID: id, New: print, Old: print}.String(), nil
}

// copyTempName returns a temporary name for a copy, which a sweep removes with all that is
// below it.
func (p *place) copyTempName() (string, error) {
	id, err := p.s.random(5)
	if err != nil {
		return "", p.fail("random", err)
	}
	return tempName{Base: p.base, Kind: newOnly, ID: id}.String(), nil
}
