//go:build !windows && (!linux || fsys_portable)

package fsys

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Dir is an open folder.
type Dir struct{ root *os.Root }

// Close gives the descriptor back; a second time it does nothing.
func (d *Dir) Close() { d.root.Close() }

func (t *Target) openDir() (*Dir, error) {
	if t.pin.closed {
		return nil, fs.ErrClosed
	}
	root, err := os.OpenRoot(t.Path)
	if root, err = sameRoot(root, err, t.pin.info); err != nil {
		return nil, err
	}
	return &Dir{root}, nil
}

// sameRoot returns a folder that was opened as root, or closes it with ErrMoved if it is not
// the one that was looked at before.
func sameRoot(root *os.Root, err error, before fs.FileInfo) (*os.Root, error) {
	if err != nil {
		return nil, err
	}
	after, err := root.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = ErrMoved
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

func (d *Dir) openDir(rel string) (*Dir, error) {
	here, err := d.root.OpenRoot(".")
	for rel != "" && err == nil {
		var step string
		step, rel, _ = strings.Cut(rel, "/")
		here, err = enterRoot(here, step)
	}
	if err != nil {
		return nil, err
	}
	return &Dir{here}, nil
}

// enterRoot opens a folder in another one, which it closes. A link is ErrNotDir.
func enterRoot(dir *os.Root, name string) (*os.Root, error) {
	defer dir.Close()
	before, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, ErrNotDir
	}
	sub, err := dir.OpenRoot(name)
	return sameRoot(sub, err, before)
}

func (d *Dir) open(name string) (*File, error) { return d.openIf(name, false) }

// openIf opens a file. Its content is fetched from elsewhere only if fetch says so.
func (d *Dir) openIf(name string, fetch bool) (*File, error) {
	before, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !fetch && isAway(before) {
		return nil, ErrNotHere
	}
	if !before.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	file, err := d.root.OpenFile(name, readFlags, 0)
	if err != nil {
		return nil, err
	}
	after, err := file.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = ErrMoved
	}
	var stamp Stamp
	if err == nil {
		stamp, err = StampOf(file)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &File{file: file, name: name, opened: stamp}, nil
}

func (d *Dir) stat(name string) (Stamp, Kind, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return Stamp{}, Missing, err
	}
	kind := kindOfMode(info.Mode().Type())
	stamp, err := Lstat(filepath.Join(d.root.Name(), name))
	return stamp, kind, err
}

// Each calls f for every name in the folder, in the order of the file system, until f
// returns false. The kind is Special for links, too.
func (d *Dir) Each(f func(name string, kind Kind) bool) error {
	folder, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer folder.Close()
	return eachIn(folder, f)
}
