package sys

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/owndir"
)

// Windows is the system by calls of its own where package os has none: a file is kept from
// other writers by an open that does not share writing (that is its lease), names change by
// handle, and a folder that is worked in keeps its own name. It is safe for concurrent use.
type Windows struct {
	Portable
	mu     sync.Mutex
	leases map[int]windows.Handle // of files: no other program can open them for writing
	holds  map[int]windows.Handle // of adopted folders: no other program can rename them
	alone  map[int]bool           // files that were opened with Alone
}

const (
	shareAll  = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	denyWrite = windows.FILE_SHARE_READ | windows.FILE_SHARE_DELETE
)

// opening holds the arguments for opening a name in a folder. The empty name opens the folder, or the file,
// itself once more.
type opening struct {
	access, share, disposition, options uint32
	security                            *windows.SECURITY_DESCRIPTOR // of a new file
}

// openAt opens a name in an open folder. A link is opened itself.
func openAt(dir windows.Handle, name string, o opening) (windows.Handle, error) {
	wide, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return 0, err
	}
	attributes := &windows.OBJECT_ATTRIBUTES{RootDirectory: dir, ObjectName: wide, Attributes: windows.OBJ_CASE_INSENSITIVE, SecurityDescriptor: o.security}
	attributes.Length = uint32(unsafe.Sizeof(*attributes))
	if o.disposition == 0 {
		o.disposition = windows.FILE_OPEN
	}
	var h windows.Handle
	err = windows.NtCreateFile(&h, o.access|windows.SYNCHRONIZE, attributes, &windows.IO_STATUS_BLOCK{}, nil, windows.FILE_ATTRIBUTE_NORMAL, o.share,
		o.disposition, o.options|windows.FILE_OPEN_REPARSE_POINT|windows.FILE_SYNCHRONOUS_IO_NONALERT|windows.FILE_OPEN_FOR_BACKUP_INTENT, 0, 0)
	return h, statusNumber(err)
}

// statusNumber returns the error number of an error of the kernel. ETXTBSY: the file is open
// in a way that excludes this one.
func statusNumber(err error) error {
	status := windows.NTStatus(0)
	if err == nil || !errors.As(err, &status) {
		return number(err)
	}
	switch status {
	case windows.STATUS_SHARING_VIOLATION, windows.STATUS_USER_MAPPED_FILE:
		return syscall.ETXTBSY
	case windows.STATUS_DELETE_PENDING: // deleted, but still open elsewhere
		return syscall.ENOENT
	case windows.STATUS_OBJECT_NAME_COLLISION:
		return syscall.EEXIST
	}
	return number(status.Errno())
}

// holdTimeout is the time that a program gets to let go of a file. A virus scanner or an
// indexer has it for half a second.
const (
	holdTimeout = 2 * time.Second
	holdStep    = 10 * time.Millisecond
)

// patient repeats a call that fails since the file is open elsewhere.
func patient(f func() error) error {
	for end := time.Now().Add(holdTimeout); ; time.Sleep(holdStep) {
		err := f()
		if err != syscall.ETXTBSY || time.Now().After(end) {
			return err
		}
	}
}

// TrueBase returns the last segment of an open file's name as the folder lists it: base may
// be in another case, or a short name. A rename to base would change the name.
func TrueBase(f *fsys.File, base string) string {
	name, err := finalName(windows.Handle(f.Fd()))
	if err != nil {
		return base
	}
	return name[strings.LastIndexByte(name, '\\')+1:]
}

// finalName returns the name of an open file as the system has it: \\?\C:\..., \\?\UNC\...
func finalName(h windows.Handle) (string, error) {
	buf := make([]uint16, windows.MAX_PATH)
	for {
		n, err := windows.GetFinalPathNameByHandle(h, &buf[0], uint32(len(buf)), 0)
		if err != nil {
			return "", err
		}
		if int(n) < len(buf) {
			return windows.UTF16ToString(buf[:n]), nil
		}
		buf = make([]uint16, n+1)
	}
}

// Adopt implements Sys. The folder is held: no other program can rename or remove it, nor a
// folder above it, until Forget.
func (w *Windows) Adopt(t *fsys.Target, f *fsys.File) (dir, fd int, err error) {
	if dir, fd, err = w.Portable.Adopt(t, f); err != nil {
		return dir, fd, err
	}
	err = w.in(dir, func(root windows.Handle) error {
		return patient(func() error {
			h, err := openAt(root, "", opening{access: windows.FILE_LIST_DIRECTORY | windows.FILE_TRAVERSE,
				share: windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE, options: windows.FILE_DIRECTORY_FILE})
			if err == nil {
				w.keep(&w.holds, dir, h)
			}
			return err
		})
	})
	// A program that is about to rename the folder, or a folder that may not be listed: the
	// change goes on without the hold.
	if err != nil && !Is(err, syscall.ETXTBSY, syscall.EACCES) {
		w.Forget(dir, fd)
		return -1, -1, err
	}
	return dir, fd, nil
}

// keep adds a handle to one of the tables.
func (w *Windows) keep(table *map[int]windows.Handle, fd int, h windows.Handle) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if *table == nil {
		*table = make(map[int]windows.Handle)
	}
	(*table)[fd] = h
}

// drop closes what a table has under a number.
func (w *Windows) drop(table map[int]windows.Handle, fd int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if h, ok := table[fd]; ok {
		windows.CloseHandle(h)
		delete(table, fd)
	}
}

// Forget implements Sys.
func (w *Windows) Forget(dir, fd int) {
	w.drop(w.holds, dir)
	w.drop(w.leases, fd)
	w.Portable.Forget(dir, fd)
}

// Offers implements Sys. A file that may be written but not deleted is written in place.
func (w *Windows) Offers() (exchange, inPlace bool) { return false, true }

// Openat implements Sys. With Alone the open itself keeps other writers out: ETXTBSY if there is
// one, or a program that shares no writing.
func (w *Windows) Openat(dir int, name string, flags int, mode uint32) (fd int, err error) {
	if flags&alone == 0 {
		return w.Portable.Openat(dir, name, flags, mode)
	}
	err = w.named(dir, name, func(root windows.Handle, name string) error {
		return patient(func() error {
			h, err := openAt(root, name, opening{access: windows.FILE_GENERIC_READ | windows.FILE_GENERIC_WRITE, share: denyWrite, options: windows.FILE_NON_DIRECTORY_FILE})
			if err == nil {
				fd = w.open.add(os.NewFile(uintptr(h), name))
			}
			return err
		})
	})
	if err != nil {
		return -1, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.alone == nil {
		w.alone = make(map[int]bool)
	}
	w.alone[fd] = true
	return fd, nil
}

// isAlone reports whether a file was opened with Alone.
func (w *Windows) isAlone(fd int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.alone[fd]
}

// Close implements Sys.
func (w *Windows) Close(fd int) error {
	w.drop(w.leases, fd)
	w.mu.Lock()
	delete(w.alone, fd)
	w.mu.Unlock()
	return w.Portable.Close(fd)
}

// in calls f with the handle of an open folder.
func (w *Windows) in(dir int, f func(root windows.Handle) error) error {
	w.mu.Lock()
	h, held := w.holds[dir]
	w.mu.Unlock()
	if held {
		return f(h)
	}
	return w.open.with(dir, func(folder *os.File) error { return f(windows.Handle(folder.Fd())) })
}

// named calls f with the handle of a folder and a name in it; dir may be CWD.
func (w *Windows) named(dir int, name string, f func(root windows.Handle, name string) error) error {
	if dir != CWD {
		return w.in(dir, func(root windows.Handle) error { return f(root, name) })
	}
	above, err := openFolder(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer above.Close()
	folder, err := above.Open(".")
	if err != nil {
		return number(err)
	}
	defer folder.Close()
	return f(windows.Handle(folder.Fd()), filepath.Base(name))
}

// Fstatat implements Sys.
func (w *Windows) Fstatat(dir int, name string) (s fsys.Stamp, err error) {
	if dir == CWD || name == "." {
		return w.Portable.Fstatat(dir, name)
	}
	err = w.in(dir, func(root windows.Handle) error {
		h, err := openAt(root, name, opening{access: windows.FILE_READ_ATTRIBUTES, share: shareAll})
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(h), name)
		defer f.Close()
		s, err = fsys.StampOf(f)
		return number(err)
	})
	return s, err
}

// SetLease implements Sys. A read lease is a second handle, which does not share writing:
// it cannot be had while another program has the file open for writing (ETXTBSY), and while
// it is held none can open it so. It asks for no deletion, which would lock out each reader
// that does not share that.
func (w *Windows) SetLease(fd int, kind int) error {
	switch kind {
	case NoLease:
		w.drop(w.leases, fd)
		return nil
	case WriteLease:
		if w.isAlone(fd) {
			return nil
		}
		return syscall.EINVAL
	}
	if held, _ := w.GetLease(fd); held == ReadLease {
		return nil
	}
	f, ok := w.open.get(fd).(interface{ Fd() uintptr })
	if !ok {
		return syscall.EBADF
	}
	h, err := openAt(windows.Handle(f.Fd()), "", opening{access: windows.FILE_GENERIC_READ, share: denyWrite, options: windows.FILE_NON_DIRECTORY_FILE})
	if err == nil {
		w.keep(&w.leases, fd, h)
	}
	return err
}

// GetLease implements Sys.
func (w *Windows) GetLease(fd int) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.leases[fd]; ok {
		return ReadLease, nil
	}
	return NoLease, nil
}

// Mkdir implements Sys. A folder by its whole name, with a mode for its owner alone, is one of
// fsmcp's own: owndir.Private.
func (w *Windows) Mkdir(dir int, name string, mode uint32) error {
	if dir != CWD || mode&0o077 != 0 {
		return w.Portable.Mkdir(dir, name, mode)
	}
	private, err := owndir.Private()
	if err != nil {
		return number(err)
	}
	return w.named(dir, name, func(root windows.Handle, name string) error {
		h, err := openAt(root, name, opening{access: windows.FILE_LIST_DIRECTORY, share: shareAll, disposition: windows.FILE_CREATE,
			options: windows.FILE_DIRECTORY_FILE, security: private})
		if err == nil {
			windows.CloseHandle(h)
		}
		return err
	})
}

// fileRenameInformationEx is the class of a rename with flags (source: wdm.h).
const fileRenameInformationEx = 65

// renameInfo is FILE_RENAME_INFORMATION, and the longest name that a folder can hold.
type renameInfo struct {
	flags  uint32
	folder windows.Handle
	length uint32 // of the name in bytes
	name   [256]uint16
}

// Rename implements Sys. ENOSYS: the volume does not replace a file that is open.
func (w *Windows) Rename(dir int, from, to string, flags uint) error {
	if flags == Exchange {
		return syscall.EINVAL
	}
	return w.named(dir, from, func(root windows.Handle, from string) error {
		return patient(func() error { return renameAt(root, from, root, to, flags) })
	})
}

// MoveName implements NameCalls.
func (w *Windows) MoveName(fromDir int, from string, toDir int, to string, flags uint) error {
	return w.in(fromDir, func(a windows.Handle) error {
		return w.in(toDir, func(b windows.Handle) error {
			return patient(func() error { return renameAt(a, from, b, to, flags) })
		})
	})
}

// renameAt renames from, in the folder dir, to a name in the folder into.
func renameAt(dir windows.Handle, from string, into windows.Handle, to string, flags uint) error {
	name, err := windows.UTF16FromString(to)
	if err != nil {
		return err
	}
	info := renameInfo{folder: into, length: uint32(2 * (len(name) - 1))}
	if len(name) > len(info.name) {
		return syscall.ENAMETOOLONG
	}
	copy(info.name[:], name)
	h, err := openAt(dir, from, opening{access: windows.DELETE, share: shareAll})
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	class := uint32(windows.FileRenameInformation) // fails if the name is taken
	if flags == 0 {
		class = fileRenameInformationEx
		info.flags = windows.FILE_RENAME_REPLACE_IF_EXISTS | windows.FILE_RENAME_POSIX_SEMANTICS
	}
	size := uint32(unsafe.Offsetof(info.name)) + info.length
	err = windows.NtSetInformationFile(h, &windows.IO_STATUS_BLOCK{}, (*byte)(unsafe.Pointer(&info)), max(size, uint32(unsafe.Offsetof(info.name))+4), class)
	if flags == 0 && noSuchRename(err) {
		return syscall.ENOSYS
	}
	err = statusNumber(err)
	if flags == 0 && err == syscall.EACCES {
		return whyNotReplaced(into, to)
	}
	return err
}

// noSuchRename reports whether the volume, or the system, has no rename with POSIX semantics.
func noSuchRename(err error) bool {
	for _, status := range []windows.NTStatus{windows.STATUS_INVALID_PARAMETER, windows.STATUS_NOT_IMPLEMENTED, windows.STATUS_NOT_SUPPORTED,
		windows.STATUS_INVALID_INFO_CLASS, windows.STATUS_INVALID_DEVICE_REQUEST} {
		if errors.Is(err, status) {
			return true
		}
	}
	return false
}

// whyNotReplaced returns why access to a file was denied that a rename was to replace: another
// program has it open and does not share deletion, it may not be deleted, or else (ENOSYS) the
// volume replaces no open file.
func whyNotReplaced(dir windows.Handle, name string) error {
	h, err := openAt(dir, name, opening{access: windows.DELETE, share: shareAll})
	if err == nil {
		windows.CloseHandle(h)
		err = syscall.ENOSYS
	}
	return err
}

// Sync implements Sys. A folder is opened for writing for it; one that may not be is left
// unsynced.
func (w *Windows) Sync(fd int) error {
	if _, folder := w.open.get(fd).(*os.Root); !folder {
		return w.Portable.Sync(fd)
	}
	return w.in(fd, func(root windows.Handle) error {
		h, err := openAt(root, "", opening{access: windows.FILE_LIST_DIRECTORY | windows.FILE_WRITE_DATA, share: shareAll, options: windows.FILE_DIRECTORY_FILE})
		if err == nil {
			windows.FlushFileBuffers(h)
			windows.CloseHandle(h)
		}
		return nil
	})
}

// Network implements Sys: true for a drive of another computer, and for a file system that
// neither journals nor replaces an open file (FAT, exFAT).
func (w *Windows) Network(fd int) bool {
	f, ok := w.open.get(fd).(interface{ Fd() uintptr })
	if ok {
		return unsafeVolume(windows.Handle(f.Fd()))
	}
	found := false
	w.in(fd, func(root windows.Handle) error { found = unsafeVolume(root); return nil })
	return found
}

func unsafeVolume(h windows.Handle) bool {
	var name [64]uint16
	if windows.GetVolumeInformationByHandle(h, nil, 0, nil, nil, nil, &name[0], uint32(len(name))) == nil {
		if system := strings.ToUpper(windows.UTF16ToString(name[:])); strings.Contains(system, "FAT") {
			return true
		}
	}
	full, err := finalName(h)
	if err != nil {
		return false
	}
	drive, isDrive := strings.CutPrefix(full, `\\?\`)
	if !isDrive || strings.HasPrefix(drive, `UNC\`) || len(drive) < 3 {
		return true
	}
	root, err := windows.UTF16PtrFromString(drive[:3])
	return err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE
}
