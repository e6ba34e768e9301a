//go:build !windows && (!linux || fsys_portable)

package fsys

import (
	"errors"
	"io/fs"
	"os"
)

// parent is the folder that holds what was resolved; for a Missing target, the deepest folder
// that exists on the way (see MissingDirs). It is opened on demand, then proven to hold the
// object under Base, and owned by the target. ErrMoved: the name leads elsewhere by now.
func (t *Target) parent(bool) (*Dir, error) {
	if t.pin.folder != nil {
		return t.pin.folder, nil
	}
	if t.pin.closed {
		return nil, fault("open", t.Path, fs.ErrClosed)
	}
	name := t.pin.deepest
	if t.pin.info != nil {
		name = t.dir()
	}
	if name == "" {
		return nil, fault("open", t.Path, fs.ErrNotExist) // resolving failed
	}
	folder, err := os.OpenRoot(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault("open", name, ErrMoved)
	}
	if err != nil {
		return nil, err
	}
	if err := t.proveHolds(folder); err != nil {
		folder.Close()
		return nil, fault("open", t.Path, err)
	}
	t.pin.folder = &Dir{folder}
	return t.pin.folder, nil
}

// ParentRoot is the folder that holds what was resolved; for a Missing target, the deepest that
// exists. It stays the target's own.
func (t *Target) ParentRoot() (*os.Root, error) {
	d, err := t.parent(true)
	if err != nil {
		return nil, err
	}
	return d.root, nil
}

func (t *Target) proveHolds(folder *os.Root) error {
	if t.pin.info == nil || t.Path == rootOf(t.Path, onWindows) {
		return nil
	}
	info, err := folder.Lstat(t.Base())
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(info, t.pin.info) {
		return ErrMoved
	}
	return err
}

// ParentID is the device and inode of the folder that ParentRoot pins.
func (t *Target) ParentID() (dev, ino uint64, err error) {
	folder, err := t.ParentRoot()
	if err != nil {
		return 0, 0, err
	}
	f, err := folder.Open(".")
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	stamp, err := StampOf(f)
	return stamp.Dev, stamp.Ino, err
}

// openParent opens the folder that ParentRoot pins, to list it.
func (t *Target) openParent() (*Dir, error) {
	folder, err := t.ParentRoot()
	if err != nil {
		return nil, err
	}
	root, err := folder.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	return &Dir{root}, nil
}

// stampAgain returns the stamp now of a file that had another one when it was opened.
func stampAgain(f *os.File, _ Stamp) (Stamp, error) { return StampOf(f) }
