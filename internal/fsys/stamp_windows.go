package fsys

import (
	"io/fs"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

const readFlags = os.O_RDONLY

// fileStat is FILE_STAT_INFORMATION, which one call fills (source: ntifs.h).
type fileStat struct {
	FileID                                                  uint64
	CreationTime, LastAccessTime, LastWriteTime, ChangeTime int64
	AllocationSize, EndOfFile                               int64
	FileAttributes, ReparseTag, NumberOfLinks               uint32
	EffectiveAccess                                         uint32
}

// fileStatInformation is the class of that call (source: wdm.h).
const fileStatInformation = 68

// windowsEpoch is 1970 in the 100 ns units since 1601 that Windows counts.
const windowsEpoch = 116_444_736_000_000_000

func nanoseconds(windowsTime int64) int64 { return (windowsTime - windowsEpoch) * 100 }

// statByHandle asks for all that a stamp needs but the volume. Older systems and some network
// drives do not know that call: two others answer there.
func statByHandle(h windows.Handle) (s fileStat, err error) {
	err = windows.NtQueryInformationFile(h, &windows.IO_STATUS_BLOCK{}, (*byte)(unsafe.Pointer(&s)), uint32(unsafe.Sizeof(s)), fileStatInformation)
	if err == nil {
		return s, nil
	}
	return statByTwoCalls(h)
}

func statByTwoCalls(h windows.Handle) (s fileStat, err error) {
	var i windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &i); err != nil {
		return s, err
	}
	s.FileID = uint64(i.FileIndexHigh)<<32 | uint64(i.FileIndexLow)
	s.EndOfFile = int64(i.FileSizeHigh)<<32 | int64(i.FileSizeLow)
	s.LastWriteTime = i.LastWriteTime.Nanoseconds()/100 + windowsEpoch
	s.FileAttributes, s.NumberOfLinks = i.FileAttributes, i.NumberOfLinks
	// Only some file systems keep a change time; without it the stamp has none.
	var basic struct {
		CreationTime, LastAccessTime, LastWriteTime, ChangeTime int64
		FileAttributes                                          uint32
		_                                                       uint32
	}
	if windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&basic)), uint32(unsafe.Sizeof(basic))) == nil {
		s.ChangeTime = basic.ChangeTime
	}
	return s, nil
}

// StampOf returns the stamp of an open file.
func StampOf(f *os.File) (Stamp, error) {
	volume := uint32(0)
	if err := windows.GetVolumeInformationByHandle(windows.Handle(f.Fd()), nil, 0, &volume, nil, nil, nil, 0); err != nil {
		return Stamp{}, err
	}
	return StampOn(f, uint64(volume))
}

// StampOn returns the stamp of an open file on a volume that is known: a file has that of the
// folder in which it was opened, for as long as it is open.
func StampOn(f *os.File, volume uint64) (Stamp, error) {
	s, _, err := stampAndAttributes(f, volume)
	return s, err
}

func stampAndAttributes(f *os.File, volume uint64) (Stamp, uint32, error) {
	now, err := statByHandle(windows.Handle(f.Fd()))
	if err != nil {
		return Stamp{}, 0, err
	}
	s := Stamp{
		Dev:   volume,
		Ino:   now.FileID,
		Size:  now.EndOfFile,
		Mtime: nanoseconds(now.LastWriteTime),
		Nlink: uint64(now.NumberOfLinks),
	}
	if now.ChangeTime > 0 {
		s.Ctime = nanoseconds(now.ChangeTime)
	}
	s.Mode, err = modeBits(f, now.FileAttributes)
	return s, now.FileAttributes, err
}

// stampAgain returns the stamp now of a file that had another one when it was opened.
func stampAgain(f *os.File, opened Stamp) (Stamp, error) { return StampOn(f, opened.Dev) }

// modeBits returns the kind and the permission bits of a file with these attributes.
func modeBits(f *os.File, attributes uint32) (uint32, error) {
	if attributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 { // package os knows the tags
		info, err := f.Stat()
		if err != nil {
			return 0, err
		}
		return uint32(info.Mode().Perm()) | kindBits(info.Mode()), nil
	}
	mode := uint32(0o666)
	if attributes&windows.FILE_ATTRIBUTE_READONLY != 0 {
		mode = 0o444
	}
	if attributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0 {
		return mode | 0o111 | syscall.S_IFDIR, nil
	}
	return mode | syscall.S_IFREG, nil
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
	return openAttributes(name, windows.FILE_FLAG_OPEN_REPARSE_POINT)
}

func openAttributes(name string, flags uint32) (*os.File, error) {
	wide, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	handle, err := windows.CreateFile(wide, windows.FILE_READ_ATTRIBUTES, shareAll, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_NO_RECALL|flags, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(handle), name), nil
}
