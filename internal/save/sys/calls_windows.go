package sys

import (
	"errors"
	"strings"
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
	windowsFolders
	leases map[int]windows.Handle // of files: no other program can open them for writing
	alone  map[int]bool           // files that were opened with Alone
}

const (
	shareAll  = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	denyWrite = windows.FILE_SHARE_READ | windows.FILE_SHARE_DELETE
)

type opening = fsys.Opening

// openAt is fsys.OpenIn with an error number.
func openAt(dir windows.Handle, name string, o opening) (windows.Handle, error) {
	h, err := fsys.OpenIn(dir, name, o)
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
	case windows.STATUS_REPARSE_POINT_ENCOUNTERED:
		return syscall.ELOOP
	case windows.STATUS_NOT_A_DIRECTORY:
		return syscall.ENOTDIR
	case windows.STATUS_FILE_IS_A_DIRECTORY:
		return syscall.EISDIR
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
	w.drop(w.leases, fd)
	w.mu.Lock()
	delete(w.volumes, fd)
	w.mu.Unlock()
	w.Portable.Forget(dir, fd)
}

// Offers implements Sys. A file that may be written but not deleted is written in place.
func (w *Windows) Offers() (exchange, inPlace bool) { return false, true }

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
	delete(w.volumes, fd)
	w.mu.Unlock()
	return w.Portable.Close(fd)
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
	h, err := openAt(windows.Handle(f.Fd()), "", opening{Access: windows.FILE_GENERIC_READ, Share: denyWrite, Options: windows.FILE_NON_DIRECTORY_FILE})
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
func (w *windowsFolders) Mkdir(dir int, name string, mode uint32) error {
	o := opening{Access: windows.FILE_LIST_DIRECTORY, Share: shareAll, Disposition: windows.FILE_CREATE, Options: windows.FILE_DIRECTORY_FILE}
	if dir == CWD && mode&0o077 == 0 {
		private, err := owndir.Private()
		if err != nil {
			return number(err)
		}
		o.Security = private
	}
	return w.named(dir, name, func(in *heldFolder, name string) error {
		h, err := openAt(windows.Handle(in.Fd()), name, o)
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
func (w *windowsFolders) Rename(dir int, from, to string, flags uint) error {
	if flags == Exchange {
		return syscall.EINVAL
	}
	return w.in(dir, func(root windows.Handle) error {
		return patient(func() error { return renameAt(root, from, root, to, flags) })
	})
}

// MoveName implements NameCalls.
func (w *windowsFolders) MoveName(fromDir int, from string, toDir int, to string, flags uint) error {
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
	h, err := openAt(dir, from, opening{Access: windows.DELETE, Share: shareAll, Options: windows.FILE_OPEN_REPARSE_POINT})
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
	if flags == 0 && noSuchCall(err) {
		return syscall.ENOSYS
	}
	err = statusNumber(err)
	if flags == 0 && err == syscall.EACCES {
		return whyNotReplaced(into, to)
	}
	return err
}

// noSuchCall reports whether the volume, or the system, does not know a call, as a rename with
// POSIX semantics.
func noSuchCall(err error) bool {
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
	h, err := openAt(dir, name, opening{Access: windows.DELETE, Share: shareAll, Options: windows.FILE_OPEN_REPARSE_POINT})
	if err == nil {
		windows.CloseHandle(h)
		err = syscall.ENOSYS
	}
	return err
}

// Sync implements Sys. A folder is opened for writing for it; one that may not be is left
// unsynced.
func (w *windowsFolders) Sync(fd int) error {
	if _, err := w.folderAt(fd); err != nil {
		return w.Portable.Sync(fd)
	}
	return w.in(fd, func(root windows.Handle) error {
		h, err := openAt(root, "", opening{Access: windows.FILE_LIST_DIRECTORY | windows.FILE_WRITE_DATA, Share: shareAll, Options: windows.FILE_DIRECTORY_FILE})
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
