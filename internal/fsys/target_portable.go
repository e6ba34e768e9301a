//go:build !linux || fsys_portable

package fsys

import (
	"errors"
	"io/fs"
)

// pin holds the state and the open folder of a target.
type pin struct {
	trueName trueNamer
	info     fs.FileInfo // of what exists
	deepest  string      // for Missing: the deepest existing folder
	above    Stamp       // of that folder
	folder   *Dir        // nil until asked for
	closed   bool
}

func newPin(r *Resolver) pin { return pin{trueName: r.trueName} }

// Close gives the handle back. It may be called again, and on the target that comes beside an
// error.
func (t *Target) Close() {
	if t.pin.folder != nil {
		t.pin.folder.Close()
	}
	t.pin.folder, t.pin.closed = nil, true
}

// Open opens a regular file for reading, and makes sure that it is the one that was resolved.
// Anything else is ErrNotRegular. See NotHere.
func (t *Target) Open() (*File, error) {
	if t.pin.closed {
		return nil, fault("open", t.Path, fs.ErrClosed)
	}
	if t.Kind != Regular {
		return nil, fault("open", t.Path, ErrNotRegular)
	}
	folder, err := t.parent(false)
	if err != nil {
		return nil, err
	}
	f, err := openHeld(onWindows, t.Path, func() (*File, error) { return folder.openIf(t.Base(), true) })
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
