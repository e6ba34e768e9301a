//go:build !windows && (!linux || fsys_portable)

package fsys

import (
	"errors"
	"io/fs"
	"os"
)

// pin holds the state and the open files of a target.
type pin struct {
	trueName trueNamer
	info     fs.FileInfo // of what exists
	deepest  string      // for Missing: the deepest existing folder
	above    Stamp       // of that folder
	folder   *os.Root    // nil until asked for
	closed   bool
}

func newPin(r *Resolver) pin { return pin{trueName: r.trueName} }

// Close gives the descriptors back. It may be called again, and on the target
// that comes beside an error.
func (t *Target) Close() {
	if t.pin.folder != nil {
		t.pin.folder.Close()
	}
	t.pin.folder, t.pin.closed = nil, true
}

// Open opens a regular file for reading, without blocking, and makes sure that
// it is the one that was resolved. Anything else is ErrNotRegular. See NotHere.
func (t *Target) Open() (*File, error) {
	if t.pin.closed {
		return nil, fault("open", t.Path, fs.ErrClosed)
	}
	if t.Kind != Regular {
		return nil, fault("open", t.Path, ErrNotRegular)
	}
	folder, err := t.ParentRoot()
	if err != nil {
		return nil, err
	}
	f, err := openHeld(onWindows, t.Path, func() (*File, error) { return (&Dir{folder}).openIf(t.Base(), true) })
	switch {
	case errors.Is(err, fs.ErrNotExist), err == ErrNotRegular:
		err = ErrMoved
	case err == nil && !f.opened.SameFile(t.Stamp):
		f.Close()
		err = ErrMoved
	}
	if err != nil {
		return nil, fault("open", t.Path, err)
	}
	f.name, f.opened = t.Path, t.Stamp
	return f, nil
}

// SharesFolder reports false: each target has its own handles.
func (t *Target) SharesFolder() bool { return false }

// NotHere reports whether the content of the file is not on this machine, so that Open and
// reading would fetch it.
func (t *Target) NotHere() bool { return t.pin.info != nil && isAway(t.pin.info) }

// ParentRoot is the folder that holds what was resolved; for a Missing target,
// the deepest folder that exists on the way (see MissingDirs). It is opened on
// demand, proven to hold the object under Base, and owned by the target.
// ErrMoved: the name leads elsewhere by now.
func (t *Target) ParentRoot() (*os.Root, error) {
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
	t.pin.folder = folder
	return folder, nil
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
