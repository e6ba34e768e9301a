package fsys

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
)

// shareAll lets other programs do everything with a file that is open.
const shareAll = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE

// Opening holds the arguments of OpenIn. Share and Disposition are FILE_SHARE_* and FILE_OPEN
// and so on, Options FILE_* of NtCreateFile; 0 for Disposition is FILE_OPEN.
type Opening struct {
	Access, Share, Disposition, Options, Attributes uint32
	Security                                        *windows.SECURITY_DESCRIPTOR // of a new file
}

// OpenIn opens a name in an open folder; the empty name opens the folder, or a file, itself once
// more. With FILE_OPEN_REPARSE_POINT a link is opened itself, else it is
// STATUS_REPARSE_POINT_ENCOUNTERED. Errors are those of the kernel (windows.NTStatus).
func OpenIn(dir windows.Handle, name string, o Opening) (windows.Handle, error) {
	wide, err := windows.NewNTUnicodeString(name)
	if err != nil {
		return 0, err
	}
	attributes := &windows.OBJECT_ATTRIBUTES{RootDirectory: dir, ObjectName: wide, Attributes: windows.OBJ_CASE_INSENSITIVE, SecurityDescriptor: o.Security}
	attributes.Length = uint32(unsafe.Sizeof(*attributes))
	if o.Options&windows.FILE_OPEN_REPARSE_POINT == 0 {
		attributes.Attributes |= windows.OBJ_DONT_REPARSE
	}
	if o.Disposition == 0 {
		o.Disposition = windows.FILE_OPEN
	}
	if o.Attributes == 0 {
		o.Attributes = windows.FILE_ATTRIBUTE_NORMAL
	}
	var h windows.Handle
	err = windows.NtCreateFile(&h, o.Access|windows.SYNCHRONIZE, attributes, &windows.IO_STATUS_BLOCK{}, nil, o.Attributes, o.Share,
		o.Disposition, o.Options|windows.FILE_SYNCHRONOUS_IO_NONALERT|windows.FILE_OPEN_FOR_BACKUP_INTENT, 0, 0)
	return h, err
}

// OpenFolder opens a folder by its whole name, which may be a link, to reach and to list names in
// it. It shares everything.
func OpenFolder(name string) (windows.Handle, error) {
	wide, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return 0, err
	}
	h, err := windows.CreateFile(wide, FolderAccess|windows.SYNCHRONIZE, shareAll, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return 0, err
	}
	if s, err := statByHandle(h); err != nil || s.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY == 0 {
		windows.CloseHandle(h)
		if err == nil {
			err = ErrNotDir
		}
		return 0, err
	}
	return h, nil
}

// FolderAccess is the access with which folders are opened: to list them, to reach names in them,
// and to read their access list.
const FolderAccess = windows.FILE_GENERIC_READ | windows.FILE_TRAVERSE

// kernelError returns an error of OpenIn as one of package fs, or of this package: irregular for
// what is a link or of another kind than was asked for.
func kernelError(err, irregular error) error {
	status := windows.NTStatus(0)
	if !errors.As(err, &status) {
		return err
	}
	switch status {
	case windows.STATUS_REPARSE_POINT_ENCOUNTERED, windows.STATUS_IO_REPARSE_TAG_NOT_HANDLED,
		windows.STATUS_NOT_A_DIRECTORY, windows.STATUS_FILE_IS_A_DIRECTORY:
		return irregular
	case windows.STATUS_DELETE_PENDING: // deleted, but still open elsewhere
		return windows.ERROR_FILE_NOT_FOUND
	}
	return status.Errno()
}
