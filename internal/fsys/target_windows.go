package fsys

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// parent is the folder that holds what was resolved; for a Missing target, the deepest folder
// that exists on the way (see MissingDirs). It is opened on demand, owned by the target, and
// if proven, it holds the object under Base. ErrMoved: the name leads elsewhere by now.
func (t *Target) parent(proven bool) (*Dir, error) {
	if t.pin.closed {
		return nil, fault("open", t.Path, fs.ErrClosed)
	}
	if t.pin.folder == nil {
		d, err := openParentOf(t)
		if err != nil {
			return nil, err
		}
		t.pin.folder = d
	}
	if proven && t.Kind != Missing && t.Path != rootOf(t.Path, onWindows) {
		now, _, err := t.pin.folder.stat(t.Base())
		if errors.Is(err, fs.ErrNotExist) || err == nil && !now.SameFile(t.Stamp) {
			err = ErrMoved
		}
		if err != nil {
			return nil, fault("open", t.Path, err)
		}
	}
	return t.pin.folder, nil
}

// openParentOf opens the folder of what was resolved, which is on the same volume.
func openParentOf(t *Target) (*Dir, error) {
	name, volume := t.dir(), t.Stamp.Dev
	if t.pin.info == nil {
		name, volume = t.pin.deepest, t.pin.above.Dev
	}
	if name == "" {
		return nil, fault("open", t.Path, fs.ErrNotExist) // resolving failed
	}
	h, err := OpenFolder(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrMoved
	}
	if err != nil {
		return nil, fault("open", name, err)
	}
	d := &Dir{os.NewFile(uintptr(h), name), volume}
	if t.pin.info == nil {
		if now, err := StampOn(d.folder, volume); err != nil || !now.SameFile(t.pin.above) {
			d.Close()
			return nil, fault("open", name, ErrMoved)
		}
	}
	return d, nil
}

// Parent is the folder that holds what was resolved, open; for a Missing target, the deepest
// that exists. The file stays the target's own; the number is that of the volume.
func (t *Target) Parent() (folder *os.File, volume uint64, err error) {
	d, err := t.parent(true)
	if err != nil {
		return nil, 0, err
	}
	return d.folder, d.volume, nil
}

// ParentID is the device and inode of the folder that holds what was resolved.
func (t *Target) ParentID() (dev, ino uint64, err error) {
	d, err := t.parent(true)
	if err != nil {
		return 0, 0, err
	}
	stamp, err := StampOn(d.folder, d.volume)
	return stamp.Dev, stamp.Ino, err
}

// openParent opens the folder that holds what was resolved, to list it.
func (t *Target) openParent() (*Dir, error) {
	d, err := t.parent(true)
	if err != nil {
		return nil, err
	}
	f, err := d.in("", Opening{Access: FolderAccess, Options: windows.FILE_DIRECTORY_FILE})
	if err != nil {
		return nil, kernelError(err, ErrNotDir)
	}
	return &Dir{f, d.volume}, nil
}
