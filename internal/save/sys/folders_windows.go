package sys

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// windowsFolders are the calls for names in open folders. They are safe for concurrent use.
type windowsFolders struct {
	Portable
	mu      sync.Mutex
	volumes map[int]uint64 // of files
}

// heldFolder is an open folder. Names in it are reached by its handle, so no link leads out of it.
type heldFolder struct {
	*os.File
	volume uint64 // of the files in it
}

func newFolder(h windows.Handle, name string, volume uint64) *heldFolder {
	return &heldFolder{os.NewFile(uintptr(h), name), volume}
}

// folderAt returns an open folder.
func (w *windowsFolders) folderAt(dir int) (*heldFolder, error) {
	f, ok := w.open.get(dir).(*heldFolder)
	if !ok {
		return nil, syscall.EBADF
	}
	return f, nil
}

// in calls f with the handle of an open folder.
func (w *windowsFolders) in(dir int, f func(root windows.Handle) error) error {
	in, err := w.folderAt(dir)
	if err != nil {
		return err
	}
	return f(windows.Handle(in.Fd()))
}

// named calls f with an open folder and a name in it; dir may be CWD, for an absolute name.
func (w *windowsFolders) named(dir int, name string, f func(in *heldFolder, name string) error) error {
	in, err := w.folderAt(dir)
	if dir == CWD {
		if in, err = openFolderNamed(filepath.Dir(name)); err == nil {
			defer in.Close()
			name = filepath.Base(name)
		}
	}
	if err != nil {
		return err
	}
	return f(in, name)
}

// openFolderNamed opens a folder by its whole name, which may be a link.
func openFolderNamed(name string) (*heldFolder, error) {
	h, err := fsys.OpenFolder(name)
	if err == fsys.ErrNotDir {
		return nil, syscall.ENOTDIR
	}
	if err != nil {
		return nil, number(err)
	}
	f := newFolder(h, name, 0)
	now, err := fsys.StampOf(f.File)
	if err != nil {
		f.Close()
		return nil, number(err)
	}
	f.volume = now.Dev
	return f, nil
}

// Adopt implements Sys. The folder is held: no other program can rename or remove it, nor a
// folder above it, until Forget. If a program is about to rename the folder, or it may not be
// listed, the change goes on without the hold.
func (w *Windows) Adopt(t *fsys.Target, f *fsys.File) (dir, fd int, err error) {
	parent, volume, err := t.Parent()
	if err != nil {
		return -1, -1, err
	}
	open := func(share uint32) func() error {
		return func() error {
			h, err := openAt(windows.Handle(parent.Fd()), "", opening{Access: fsys.FolderAccess, Share: share, Options: windows.FILE_DIRECTORY_FILE})
			if err == nil {
				dir = w.open.add(newFolder(h, parent.Name(), volume))
			}
			return err
		}
	}
	err = patient(open(windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE))
	if Is(err, syscall.ETXTBSY, syscall.EACCES) {
		err = open(shareAll)()
	}
	if err != nil {
		return -1, -1, err
	}
	if fd = -1; f != nil {
		fd = w.open.add(f)
		w.noteVolume(fd, volume)
	}
	return dir, fd, nil
}

// Openat implements Sys. With Alone the open itself keeps other writers out: ETXTBSY if there is
// one, or a program that shares no writing. No link is followed, but one to a folder that is
// named as a whole, unless flags has NoFollow.
func (w *Windows) Openat(dir int, name string, flags int, mode uint32) (fd int, err error) {
	if flags&Unnamed == Unnamed {
		return -1, syscall.EOPNOTSUPP
	}
	if dir == CWD && strings.HasPrefix(name, "/proc/") {
		return -1, syscall.ENOENT // the numbers there are not those of Windows
	}
	if dir == CWD && flags&Folder == Folder && flags&NoFollow == 0 {
		f, err := openFolderNamed(name)
		if err != nil {
			return -1, err
		}
		return w.open.add(f), nil
	}
	err = w.named(dir, name, func(in *heldFolder, name string) error {
		if name == "." {
			name = ""
		}
		o := openingFor(flags, mode)
		call := func() error {
			h, err := openAt(windows.Handle(in.Fd()), name, o)
			if err == nil {
				fd = w.add(h, in, name, flags)
			}
			return err
		}
		if flags&alone != 0 {
			return patient(call)
		}
		return call()
	})
	if err != nil {
		return -1, err
	}
	return fd, nil
}

// add gives what was opened in a folder a number.
func (w *Windows) add(h windows.Handle, in *heldFolder, name string, flags int) int {
	path := filepath.Join(in.Name(), name)
	if flags&Folder == Folder {
		return w.open.add(newFolder(h, path, in.volume))
	}
	fd := w.open.add(os.NewFile(uintptr(h), path))
	w.noteVolume(fd, in.volume)
	if flags&alone != 0 {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.alone == nil {
			w.alone = make(map[int]bool)
		}
		w.alone[fd] = true
	}
	return fd
}

// openingFor returns the arguments for flags of Openat.
func openingFor(flags int, mode uint32) opening {
	o := opening{Access: windows.FILE_GENERIC_READ, Share: shareAll, Options: windows.FILE_NON_DIRECTORY_FILE}
	if flags&Folder == Folder {
		o.Access, o.Options = fsys.FolderAccess, windows.FILE_DIRECTORY_FILE
	}
	if flags&(os.O_RDWR|os.O_CREATE) != 0 {
		o.Access |= windows.FILE_GENERIC_WRITE
	}
	if flags&os.O_CREATE != 0 {
		if o.Disposition = windows.FILE_OPEN_IF; flags&os.O_EXCL != 0 {
			o.Disposition = windows.FILE_CREATE
		}
		if mode&0o200 == 0 {
			o.Attributes = windows.FILE_ATTRIBUTE_READONLY
		}
	}
	if flags&alone != 0 {
		o.Share = denyWrite
	}
	return o
}

// noteVolume keeps the volume of an open file, so that its stamps need not ask for it.
func (w *windowsFolders) noteVolume(fd int, volume uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.volumes == nil {
		w.volumes = make(map[int]uint64)
	}
	w.volumes[fd] = volume
}

// Names implements Sys.
func (w *windowsFolders) Names(fd int) (names []string, err error) {
	err = w.in(fd, func(root windows.Handle) error {
		h, err := openAt(root, "", opening{Access: windows.FILE_LIST_DIRECTORY, Share: shareAll, Options: windows.FILE_DIRECTORY_FILE})
		if err != nil {
			return err
		}
		list := os.NewFile(uintptr(h), "")
		defer list.Close()
		names, err = list.Readdirnames(-1)
		return number(err)
	})
	return names, err
}

// Fstat implements Sys.
func (w *windowsFolders) Fstat(fd int) (s fsys.Stamp, err error) {
	switch object := w.open.get(fd).(type) {
	case *heldFolder:
		s, err = fsys.StampOn(object.File, object.volume)
	case *os.File:
		w.mu.Lock()
		volume := w.volumes[fd]
		w.mu.Unlock()
		s, err = fsys.StampOn(object, volume)
	default:
		return w.Portable.Fstat(fd)
	}
	return s, number(err)
}

// Fstatat implements Sys.
func (w *windowsFolders) Fstatat(dir int, name string) (s fsys.Stamp, err error) {
	if name == "." {
		return w.Fstat(dir)
	}
	err = w.named(dir, name, func(in *heldFolder, name string) error {
		h, err := openAt(windows.Handle(in.Fd()), name, opening{Access: windows.FILE_READ_ATTRIBUTES, Share: shareAll, Options: windows.FILE_OPEN_REPARSE_POINT})
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(h), name)
		defer f.Close()
		s, err = fsys.StampOn(f, in.volume)
		return number(err)
	})
	return s, err
}

// Unlink implements Sys. A file goes at once also if a program that shares deletion has it open,
// where the volume can do that.
func (w *windowsFolders) Unlink(dir int, name string, flags int) error {
	o := opening{Access: windows.DELETE, Share: shareAll, Options: windows.FILE_OPEN_REPARSE_POINT | windows.FILE_NON_DIRECTORY_FILE}
	if flags == RemoveFolder {
		o.Options = windows.FILE_OPEN_REPARSE_POINT | windows.FILE_DIRECTORY_FILE
	}
	return w.named(dir, name, func(in *heldFolder, name string) error {
		return patient(func() error {
			h, err := openAt(windows.Handle(in.Fd()), name, o)
			if err != nil {
				return err
			}
			defer windows.CloseHandle(h)
			how := uint32(windows.FILE_DISPOSITION_DELETE | windows.FILE_DISPOSITION_FORCE_IMAGE_SECTION_CHECK |
				windows.FILE_DISPOSITION_POSIX_SEMANTICS | windows.FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE)
			err = windows.NtSetInformationFile(h, &windows.IO_STATUS_BLOCK{}, (*byte)(unsafe.Pointer(&how)), 4, windows.FileDispositionInformationEx)
			if noSuchCall(err) {
				return asRoot(in, func(root *os.Root) error { return root.Remove(name) })
			}
			return statusNumber(err)
		})
	})
}

// asRoot calls f with an open folder as package os opens it, for calls that are rare here.
func asRoot(in *heldFolder, f func(*os.Root) error) error {
	root, err := os.OpenRoot(in.Name())
	if err != nil {
		return number(err)
	}
	defer root.Close()
	before, err := in.Stat()
	if err != nil {
		return number(err)
	}
	if now, err := root.Stat("."); err != nil || !os.SameFile(before, now) {
		return syscall.ENOENT // the name is another folder's by now
	}
	return number(f(root))
}

// Link implements Sys within one folder; an open file gets no further name.
func (w *windowsFolders) Link(dir int, from, to string, flags int) error {
	if flags != 0 {
		return syscall.EOPNOTSUPP
	}
	err := w.named(dir, from, func(in *heldFolder, from string) error {
		return asRoot(in, func(root *os.Root) error { return root.Link(from, to) })
	})
	if err != nil && err != syscall.EEXIST {
		return syscall.EOPNOTSUPP // FAT says ERROR_INVALID_FUNCTION
	}
	return err
}

// LinkName implements NameCalls: moves are exclusive renames here, so nothing asks for it.
func (w *windowsFolders) LinkName(int, string, int, string) error { return syscall.EOPNOTSUPP }

// Readlink implements NameCalls.
func (w *windowsFolders) Readlink(dir int, name string) (text string, err error) {
	err = w.named(dir, name, func(in *heldFolder, name string) error {
		return asRoot(in, func(root *os.Root) (err error) {
			text, err = root.Readlink(name)
			return err
		})
	})
	return text, err
}

// Symlink implements NameCalls. The owner is the one that makes it.
func (w *windowsFolders) Symlink(text string, dir int, name string, _, _ uint32) error {
	return w.named(dir, name, func(in *heldFolder, name string) error {
		return asRoot(in, func(root *os.Root) error { return root.Symlink(text, name) })
	})
}

// SetTimes implements NameCalls. A link keeps the time at which it was made.
func (w *windowsFolders) SetTimes(dir int, name string, mtime int64) error {
	return w.named(dir, name, func(in *heldFolder, name string) error {
		return asRoot(in, func(root *os.Root) error {
			info, err := root.Lstat(name)
			if err != nil || info.Mode()&os.ModeSymlink != 0 {
				return err
			}
			return root.Chtimes(name, time.Unix(0, mtime), time.Unix(0, mtime))
		})
	})
}
