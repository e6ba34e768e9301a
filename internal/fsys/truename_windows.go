package fsys

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/windows"
)

// How GetFinalPathNameByHandle names an object (FILE_NAME_*); both with a drive's letter.
const (
	nameNormalized = 0x0
	nameOpened     = 0x8
)

// systemNamer asks the system for the final name of an open object: it has long names, and
// the real drive in place of a substituted one. On a network drive that name would be a UNC
// name, which no argument can be. There it keeps the drive and spells each segment as its
// folder does.
func systemNamer(name string) (Stamp, string, error) {
	f, err := openForAttributes(name)
	if err != nil {
		return Stamp{}, name, err
	}
	defer f.Close()
	stamp, err := StampOf(f)
	if err != nil {
		return stamp, name, err
	}
	return stamp, trueNameOf(f, name), nil
}

// systemName is systemNamer without the stamp.
func systemName(name string) (string, error) {
	f, err := openForAttributes(name)
	if err != nil {
		return name, err
	}
	defer f.Close()
	return trueNameOf(f, name), nil
}

// finalNameOf returns the final name of what a name leads to, or an error if nothing is there: one
// call in place of several for each segment. It returns neither if the system does not say. On
// systems that do not know long names (Windows 10 before 1703) one may be there unseen.
func finalNameOf(name string) (path string, err error) {
	f, err := openAttributes(name, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && len(name) < windows.MAX_PATH {
			return "", err
		}
		return "", nil
	}
	defer f.Close()
	path, _ = finalName(windows.Handle(f.Fd()), nameNormalized)
	return path, nil
}

// trueNameOf returns the final name of a file that was opened by a name.
func trueNameOf(f *os.File, name string) string {
	handle := windows.Handle(f.Fd())
	if path, ok := finalName(handle, nameNormalized); ok {
		return path
	}
	if path, ok := finalName(handle, nameOpened); ok {
		name = path
	}
	return bySteps(name, true, longName)
}

// finalName returns the name of an open object, if it has one on a drive.
func finalName(handle windows.Handle, how uint32) (path string, ok bool) {
	buf := make([]uint16, windows.MAX_PATH)
	for {
		n, err := windows.GetFinalPathNameByHandle(handle, &buf[0], uint32(len(buf)), how)
		if err != nil {
			return "", false
		}
		if int(n) < len(buf) {
			path = strings.TrimPrefix(windows.UTF16ToString(buf[:n]), `\\?\`)
			return strings.ToUpper(path[:min(len(path), 1)]) + path[min(len(path), 1):], onDrive(path)
		}
		buf = make([]uint16, n)
	}
}

// longName returns the long name of what a folder holds under a segment, which has no wildcard;
// the segment if the system does not say.
func longName(folder, segment string) string {
	wide, err := windows.UTF16PtrFromString(joinName(folder, segment, true))
	if err != nil {
		return segment
	}
	var data windows.Win32finddata
	search, err := windows.FindFirstFile(wide, &data)
	if err != nil {
		return segment
	}
	windows.FindClose(search)
	if name := windows.UTF16ToString(data.FileName[:]); name != "" {
		return name
	}
	return segment
}
