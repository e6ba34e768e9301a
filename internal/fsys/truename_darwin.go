package fsys

import (
	"bytes"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// systemNamer asks the system for the name of the open object (F_GETPATH). Of a file with several
// links that could be any of them, and an object that cannot be opened has none: for these
// it is the name in the folder's listing, below the folder's true name.
func systemNamer(name string) (Stamp, string, error) {
	stamp, err := Lstat(name)
	if err != nil {
		return stamp, name, err
	}
	kind := kindOf(stamp)
	if kind == Directory || kind == Regular && stamp.Nlink == 1 {
		if path, ok := openedName(name, stamp); ok {
			return stamp, path, nil
		}
	}
	folder := dirOf(name, false)
	if folder == name {
		return stamp, name, nil
	}
	if held, err := Lstat(folder); err == nil {
		if path, ok := openedName(folder, held); ok {
			return stamp, joinName(path, asListed(path, baseOf(name, false)), false), nil
		}
	}
	return stamp, bySteps(name, false, asListed), nil
}

// eventOnly opens what may not be read as well, and does not keep its volume mounted (O_EVTONLY).
const eventOnly = 0x8000

// openedName is the name that the system has of the object that was looked at.
func openedName(name string, looked Stamp) (path string, ok bool) {
	fd, err := RetryEINTR2(func() (int, error) {
		return unix.Open(name, eventOnly|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return "", false
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	if stamp, err := Fstat(fd); err != nil || !stamp.SameFile(looked) {
		return "", false
	}
	var pinner runtime.Pinner
	defer pinner.Unpin()
	buf := make([]byte, unix.PathMax)
	pinner.Pin(&buf[0])
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETPATH, int(uintptr(unsafe.Pointer(&buf[0])))); err != nil {
		return "", false
	}
	path = string(buf[:max(bytes.IndexByte(buf, 0), 0)])
	return path, path != "" && path[0] == '/'
}

// systemName is systemNamer without the stamp.
func systemName(name string) (string, error) {
	_, known, err := systemNamer(name)
	return known, err
}

// finalNameOf: this system does not say where a name leads to.
func finalNameOf(string) (string, error) { return "", nil }
