package fsys

import (
	"io/fs"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

const readFlags = os.O_RDONLY

// fileBasicInfo is FILE_BASIC_INFO.
type fileBasicInfo struct {
	CreationTime, LastAccessTime, LastWriteTime, ChangeTime int64
	FileAttributes                                          uint32
	_                                                       uint32
}

// windowsEpoch is 1970 in the 100 ns units since 1601 that Windows counts.
const windowsEpoch = 116_444_736_000_000_000

// StampOf returns the stamp of an open file.
func StampOf(f *os.File) (Stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return Stamp{}, err
	}
	handle := windows.Handle(f.Fd())
	var id windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(handle, &id); err != nil {
		return Stamp{}, err
	}
	s := Stamp{
		Dev:   uint64(id.VolumeSerialNumber),
		Ino:   uint64(id.FileIndexHigh)<<32 | uint64(id.FileIndexLow),
		Size:  info.Size(),
		Mtime: info.ModTime().UnixNano(),
		Mode:  uint32(info.Mode().Perm()) | kindBits(info.Mode()),
		Nlink: uint64(id.NumberOfLinks),
	}
	var basic fileBasicInfo
	// Only some file systems keep a change time; without it the stamp has none.
	err = windows.GetFileInformationByHandleEx(handle, windows.FileBasicInfo,
		(*byte)(unsafe.Pointer(&basic)), uint32(unsafe.Sizeof(basic)))
	if err == nil && basic.ChangeTime > 0 {
		s.Ctime = (basic.ChangeTime - windowsEpoch) * 100
	}
	return s, nil
}

// kindBits returns the bits of st_mode for a file or a folder.
func kindBits(mode fs.FileMode) uint32 {
	switch {
	case mode.IsRegular():
		return syscall.S_IFREG
	case mode.IsDir():
		return syscall.S_IFDIR
	case mode&fs.ModeSymlink != 0:
		return syscall.S_IFLNK
	}
	return 0
}

// Lstat returns the stamp of an absolute name, of a link its own.
func Lstat(name string) (Stamp, error) {
	f, err := openForAttributes(name)
	if err != nil {
		return Stamp{}, err
	}
	defer f.Close()
	return StampOf(f)
}

// openForAttributes opens an absolute name, of a link its own object, without access to the
// content.
func openForAttributes(name string) (*os.File, error) {
	wide, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	handle, err := windows.CreateFile(wide, windows.FILE_READ_ATTRIBUTES, shareAll, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT|windows.FILE_FLAG_OPEN_NO_RECALL, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(handle), name), nil
}
