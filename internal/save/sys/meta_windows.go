package sys

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The attributes of a file, by the names that Listxattr gives them. Any other name is that of
// an alternate stream, as ":name:$DATA".
const (
	attrSecurity = "security descriptor"
	attrBasic    = "attributes and creation time"
	attrExtended = "extended attributes" // of WSL, above all
)

// maxStreams bounds the bytes in alternate streams that are carried over.
const maxStreams = 64 << 20

const (
	keptAttributes = windows.FILE_ATTRIBUTE_HIDDEN | windows.FILE_ATTRIBUTE_SYSTEM | windows.FILE_ATTRIBUTE_NOT_CONTENT_INDEXED |
		attributePinned | attributeUnpinned
	layoutAttributes = windows.FILE_ATTRIBUTE_COMPRESSED | windows.FILE_ATTRIBUTE_SPARSE_FILE | windows.FILE_ATTRIBUTE_ENCRYPTED
	// Of OneDrive (source: winnt.h).
	attributePinned   = 0x80000
	attributeUnpinned = 0x100000
	// autoInheritRequest keeps the mark of inherited entries (source: winnt.h).
	autoInheritRequest = 0x100
)

// basicInfo is FILE_BASIC_INFO.
type basicInfo struct {
	created, accessed, written, changed int64
	attributes                          uint32
	_                                   uint32
}

// at calls f with the handle of an open file or folder.
func (w *Windows) at(fd int, f func(windows.Handle) error) error {
	switch object := w.open.get(fd).(type) {
	case *heldFolder:
		return f(windows.Handle(object.Fd()))
	case interface{ Fd() uintptr }:
		return f(windows.Handle(object.Fd()))
	}
	return syscall.EBADF
}

// again calls f with a further handle of an open file, with this access.
func (w *Windows) again(fd int, name string, o opening, f func(windows.Handle) error) error {
	o.Share = shareAll
	return w.at(fd, func(h windows.Handle) error {
		h, err := openAt(h, name, o)
		if err != nil {
			return err
		}
		defer windows.CloseHandle(h)
		return number(f(h))
	})
}

// Listxattr implements Sys.
func (w *Windows) Listxattr(fd int) (names []string, err error) {
	err = w.at(fd, func(h windows.Handle) error {
		names = []string{attrSecurity, attrBasic}
		ea, err := readExtended(h)
		if err != nil {
			return err
		}
		if len(ea) > 0 {
			names = append(names, attrExtended)
		}
		streams, err := streamsOf(h)
		names = append(names, streams...)
		return err
	})
	return names, err
}

// offersNone reports whether an error says that the volume, or Wine, has nothing of the kind
// that was asked for. Any other error would hide what a file has.
func offersNone(err error) bool {
	for _, known := range []error{windows.ERROR_INVALID_PARAMETER, windows.ERROR_INVALID_FUNCTION, windows.ERROR_NOT_SUPPORTED,
		windows.ERROR_CALL_NOT_IMPLEMENTED, windows.ERROR_INVALID_LEVEL, windows.STATUS_INVALID_PARAMETER, windows.STATUS_INVALID_DEVICE_REQUEST,
		windows.STATUS_NOT_SUPPORTED, windows.STATUS_NOT_IMPLEMENTED, windows.STATUS_INVALID_INFO_CLASS, windows.STATUS_EAS_NOT_SUPPORTED} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// streamList returns the system's list of a file's streams.
func streamList(h windows.Handle) ([]byte, error) {
	for size := 64 << 10; ; size *= 4 {
		buf := make([]byte, size)
		err := windows.GetFileInformationByHandleEx(h, windows.FileStreamInfo, &buf[0], uint32(len(buf)))
		switch {
		case err == nil:
			return buf, nil
		case errors.Is(err, windows.ERROR_HANDLE_EOF), offersNone(err): // a folder has no stream at all
			return nil, nil
		case !errors.Is(err, windows.ERROR_MORE_DATA) || size > maxStreams:
			return nil, number(err)
		}
	}
}

// streamsOf lists the alternate streams of a file. A volume without streams has none.
func streamsOf(h windows.Handle) (names []string, err error) {
	buf, err := streamList(h)
	if len(buf) == 0 {
		return nil, err
	}
	total := int64(0)
	for at := 0; ; {
		entry := buf[at:] // FILE_STREAM_INFO
		next, length := binary.LittleEndian.Uint32(entry), binary.LittleEndian.Uint32(entry[4:])
		size := int64(binary.LittleEndian.Uint64(entry[8:]))
		if name := wideText(entry[24 : 24+length]); name != "::$DATA" && name != "" {
			names = append(names, name)
			total += size
		}
		if next == 0 {
			break
		}
		at += int(next)
	}
	if total > maxStreams {
		return nil, syscall.EFBIG
	}
	return names, nil
}

func wideText(b []byte) string {
	wide := make([]uint16, len(b)/2)
	for i := range wide {
		wide[i] = binary.LittleEndian.Uint16(b[2*i:])
	}
	return windows.UTF16ToString(wide)
}

// Getxattr implements Sys.
func (w *Windows) Getxattr(fd int, name string) (value []byte, err error) {
	switch name {
	case attrBasic, attrSecurity, attrExtended:
		err = w.at(fd, func(h windows.Handle) (err error) {
			value, err = attribute(h, name)
			return err
		})
		return value, err
	}
	err = w.again(fd, strings.TrimSuffix(name, ":$DATA"), opening{Access: windows.FILE_GENERIC_READ}, func(h windows.Handle) error {
		h, err := duplicate(h)
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(h), name)
		defer f.Close()
		value, err = io.ReadAll(io.LimitReader(f, maxStreams))
		return err
	})
	if value == nil {
		value = []byte{} // nil would mean that there is no such stream
	}
	return value, err
}

// attribute returns what a file or folder has of one name.
func attribute(h windows.Handle, name string) (value []byte, err error) {
	switch name {
	case attrBasic:
		info, err := readBasic(h)
		value = binary.LittleEndian.AppendUint64(nil, uint64(info.created))
		return binary.LittleEndian.AppendUint32(value, info.attributes&(keptAttributes|layoutAttributes)), number(err)
	case attrSecurity:
		const parts = windows.OWNER_SECURITY_INFORMATION | windows.GROUP_SECURITY_INFORMATION | windows.DACL_SECURITY_INFORMATION
		sd, err := windows.GetSecurityInfo(h, windows.SE_FILE_OBJECT, parts)
		if err != nil {
			return nil, number(err)
		}
		return append(value, unsafe.Slice((*byte)(unsafe.Pointer(sd)), sd.Length())...), nil
	}
	return readExtended(h)
}

// Chmod implements Sys. The read-only attribute is all of a mode that Windows knows, and it
// means nothing for a folder.
func (w *Windows) Chmod(fd int, mode uint32) error {
	f, ok := w.open.get(fd).(*os.File)
	if !ok {
		return nil
	}
	now, err := readBasic(windows.Handle(f.Fd()))
	if err == nil && (now.attributes&windows.FILE_ATTRIBUTE_READONLY != 0) == (mode&0o200 == 0) {
		return nil
	}
	return w.Portable.Chmod(fd, mode)
}

// duplicate returns another handle, for a file of package os to close.
func duplicate(h windows.Handle) (windows.Handle, error) {
	p := windows.CurrentProcess()
	err := windows.DuplicateHandle(p, h, p, &h, 0, false, windows.DUPLICATE_SAME_ACCESS)
	return h, err
}

func readBasic(h windows.Handle) (info basicInfo, err error) {
	err = windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	return info, err
}

// Setxattr implements Sys.
func (w *Windows) Setxattr(fd int, name string, value []byte) error {
	switch name {
	case attrBasic:
		return w.again(fd, "", opening{Access: windows.FILE_GENERIC_READ | windows.FILE_GENERIC_WRITE}, func(h windows.Handle) error {
			return setBasic(h, int64(binary.LittleEndian.Uint64(value)), binary.LittleEndian.Uint32(value[8:]))
		})
	case attrSecurity:
		return w.setSecurity(fd, value)
	case attrExtended:
		return w.again(fd, "", opening{Access: windows.FILE_WRITE_EA}, func(h windows.Handle) error { return writeExtended(h, value) })
	}
	stream := strings.TrimSuffix(name, ":$DATA")
	if value == nil {
		return w.again(fd, stream, opening{Access: windows.DELETE, Options: windows.FILE_DELETE_ON_CLOSE}, func(windows.Handle) error { return nil })
	}
	o := opening{Access: windows.FILE_GENERIC_WRITE, Disposition: windows.FILE_OVERWRITE_IF}
	return w.again(fd, stream, o, func(h windows.Handle) error {
		for len(value) > 0 {
			n := uint32(0)
			if err := windows.WriteFile(h, value[:min(len(value), 1<<20)], &n, nil); err != nil {
				return err
			}
			value = value[n:]
		}
		return nil
	})
}

// setBasic sets a file's creation time, attributes and layout. What cannot be set is an error
// that names it; encryption comes from the folder alone.
func setBasic(h windows.Handle, created int64, attributes uint32) error {
	now, err := readBasic(h)
	if err != nil {
		return err
	}
	missing := attributes & layoutAttributes &^ now.attributes
	if missing&windows.FILE_ATTRIBUTE_ENCRYPTED != 0 {
		return errEncrypted
	}
	if missing&windows.FILE_ATTRIBUTE_COMPRESSED != 0 {
		format, n := uint16(1), uint32(0) // COMPRESSION_FORMAT_DEFAULT
		if err := windows.DeviceIoControl(h, windows.FSCTL_SET_COMPRESSION, (*byte)(unsafe.Pointer(&format)), 2, nil, 0, &n, nil); err != nil {
			return err
		}
	}
	if missing&windows.FILE_ATTRIBUTE_SPARSE_FILE != 0 {
		n := uint32(0)
		if err := windows.DeviceIoControl(h, windows.FSCTL_SET_SPARSE, nil, 0, nil, 0, &n, nil); err != nil {
			return err
		}
	}
	const settable = keptAttributes | windows.FILE_ATTRIBUTE_READONLY | windows.FILE_ATTRIBUTE_ARCHIVE
	info := basicInfo{created: created, attributes: now.attributes&settable&^keptAttributes | attributes&keptAttributes}
	if info.attributes == 0 {
		info.attributes = windows.FILE_ATTRIBUTE_NORMAL
	}
	return windows.SetFileInformationByHandle(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
}

var errEncrypted = errors.New("the file is encrypted, and a new file in its folder is not")

// setSecurity gives a file the access list of another one, as it is: the entries are not
// inherited anew. It keeps the owner if the system allows that.
func (w *Windows) setSecurity(fd int, value []byte) error {
	sd := (*windows.SECURITY_DESCRIPTOR)(unsafe.Pointer(&value[0]))
	if err := sd.SetControl(autoInheritRequest, autoInheritRequest); err != nil {
		return number(err)
	}
	err := w.again(fd, "", opening{Access: windows.WRITE_DAC}, func(h windows.Handle) error {
		return windows.SetKernelObjectSecurity(h, windows.DACL_SECURITY_INFORMATION, sd)
	})
	if err == nil && w.again(fd, "", opening{Access: windows.WRITE_OWNER}, func(h windows.Handle) error {
		return windows.SetKernelObjectSecurity(h, windows.OWNER_SECURITY_INFORMATION|windows.GROUP_SECURITY_INFORMATION, sd)
	}) != nil && !w.isOwnedAs(fd, sd) {
		return ErrOwner
	}
	return err
}

// isOwnedAs reports whether a file has the owner that a security descriptor names.
func (w *Windows) isOwnedAs(fd int, sd *windows.SECURITY_DESCRIPTOR) bool {
	want, _, err := sd.Owner()
	if err != nil || want == nil {
		return err == nil // none is asked for
	}
	same := false
	err = w.at(fd, func(h windows.Handle) error {
		now, err := windows.GetSecurityInfo(h, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
		if err != nil {
			return err
		}
		owner, _, err := now.Owner()
		same = owner != nil && owner.Equals(want)
		return err
	})
	return err == nil && same
}

// Calls of ntdll that package windows has not.
var (
	ntdll         = windows.NewLazySystemDLL("ntdll.dll")
	ntQueryEaFile = ntdll.NewProc("NtQueryEaFile")
	ntSetEaFile   = ntdll.NewProc("NtSetEaFile")
)

// readExtended returns a file's extended attributes as the system has them; none if there are
// none, or the volume knows none.
func readExtended(h windows.Handle) ([]byte, error) {
	size, n := uint32(0), windows.IO_STATUS_BLOCK{}
	err := windows.NtQueryInformationFile(h, &n, (*byte)(unsafe.Pointer(&size)), 4, windows.FileEaInformation)
	if err != nil && !offersNone(err) {
		return nil, statusNumber(err)
	}
	if err != nil || size == 0 || ntQueryEaFile.Find() != nil {
		return nil, nil
	}
	buf := make([]byte, 128<<10)
	r, _, _ := ntQueryEaFile.Call(uintptr(h), uintptr(unsafe.Pointer(&n)), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0, 0, 0, 1)
	switch status := windows.NTStatus(r); {
	case status == windows.STATUS_NO_EAS_ON_FILE || offersNone(status):
		return nil, nil
	case status != 0:
		return nil, statusNumber(status)
	}
	return buf[:min(n.Information, uintptr(len(buf)))], nil
}

func writeExtended(h windows.Handle, value []byte) error {
	if len(value) == 0 || ntSetEaFile.Find() != nil {
		return syscall.EOPNOTSUPP
	}
	var n windows.IO_STATUS_BLOCK
	r, _, _ := ntSetEaFile.Call(uintptr(h), uintptr(unsafe.Pointer(&n)), uintptr(unsafe.Pointer(&value[0])), uintptr(len(value)))
	if r != 0 {
		return statusNumber(windows.NTStatus(r))
	}
	return nil
}
