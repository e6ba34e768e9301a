package fsys

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// Dir is an open folder. It shares everything: while it is open it can be renamed and removed,
// and so can the folders above it. (os.OpenRoot does not share deletion.)
type Dir struct {
	folder *os.File
	volume uint64 // of the folder and the files in it, but not of a volume that is mounted there
}

// Close gives the handle back; a second time it does nothing.
func (d *Dir) Close() { d.folder.Close() }

func (t *Target) openDir() (*Dir, error) {
	if t.pin.closed {
		return nil, fs.ErrClosed
	}
	return openDirOf(t.Path, t.Stamp)
}

// openDirOf opens the folder that was looked at before under this name.
func openDirOf(name string, looked Stamp) (*Dir, error) {
	h, err := OpenFolder(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrMoved
	}
	if err != nil {
		return nil, err
	}
	d := &Dir{os.NewFile(uintptr(h), name), looked.Dev}
	now, err := StampOf(d.folder)
	if err == nil && !now.SameFile(looked) {
		err = ErrMoved
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// in opens a name of the folder, a link never.
func (d *Dir) in(name string, o Opening) (*os.File, error) {
	o.Share = shareAll
	h, err := OpenIn(windows.Handle(d.folder.Fd()), name, o)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(h), joinName(d.folder.Name(), name, true)), nil
}

func (d *Dir) openDir(rel string) (*Dir, error) {
	folder := Opening{Access: FolderAccess, Options: windows.FILE_DIRECTORY_FILE}
	if rel == "" {
		f, err := d.in("", folder)
		return &Dir{f, d.volume}, kernelError(err, ErrNotDir)
	}
	here := d
	for segment := range strings.SplitSeq(rel, "/") {
		f, err := here.in(segment, folder)
		if here != d {
			here.Close()
		}
		if err != nil {
			return nil, kernelError(err, ErrNotDir)
		}
		here = &Dir{f, here.volume}
	}
	return here, nil
}

func (d *Dir) open(name string) (*File, error) { return d.openIf(name, false) }

// openIf opens a file. Its content is fetched from elsewhere only if fetch says so.
func (d *Dir) openIf(name string, fetch bool) (*File, error) {
	o := Opening{Access: windows.FILE_GENERIC_READ, Options: windows.FILE_NON_DIRECTORY_FILE}
	if !fetch {
		o.Options |= windows.FILE_OPEN_NO_RECALL
	}
	f, err := d.in(name, o)
	if err != nil {
		return nil, kernelError(err, ErrNotRegular)
	}
	stamp, attributes, err := stampAndAttributes(f, d.volume)
	switch {
	case err != nil:
	case kindOf(stamp) != Regular:
		err = ErrNotRegular
	case !fetch && isAway(&attributesOf{name: name, data: syscall.Win32FileAttributeData{FileAttributes: attributes}}):
		err = ErrNotHere
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &File{file: f, name: name, opened: stamp}, nil
}

// stat looks at a name in a way that no program can exclude.
func (d *Dir) stat(name string) (Stamp, Kind, error) {
	f, err := d.in(name, Opening{Access: windows.FILE_READ_ATTRIBUTES, Options: windows.FILE_OPEN_REPARSE_POINT})
	if err != nil {
		return Stamp{}, Missing, kernelError(err, ErrNotDir)
	}
	defer f.Close()
	stamp, err := StampOn(f, d.volume)
	return stamp, kindOf(stamp), err
}

// kindOf returns the kind of what a stamp is of, Special for a link.
func kindOf(s Stamp) Kind {
	switch s.Mode & syscall.S_IFMT {
	case syscall.S_IFREG:
		return Regular
	case syscall.S_IFDIR:
		return Directory
	}
	return Special
}

// Each calls f for every name in the folder, in the order of the file system, until f
// returns false. The kind is Special for links, too.
func (d *Dir) Each(f func(name string, kind Kind) bool) error {
	folder, err := d.in("", Opening{Access: windows.FILE_LIST_DIRECTORY, Options: windows.FILE_DIRECTORY_FILE})
	if err != nil {
		return kernelError(err, ErrNotDir)
	}
	defer folder.Close()
	return eachIn(folder, f)
}
