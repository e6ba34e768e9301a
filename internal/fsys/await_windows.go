package fsys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

// nameTimeout bounds how long a name may be missing while fsmcp replaces its file by two
// renames, as on volumes that replace no open file.
const nameTimeout = 200 * time.Millisecond

// awaitName looks again for a name that is missing, for as long as a temporary file of fsmcp
// lies beside it: another call may be replacing the file.
func awaitName(name string) (fs.FileInfo, error) {
	for end := time.Now().Add(nameTimeout); ; time.Sleep(time.Millisecond) {
		replaced := temporaryBeside(name)
		info, err := os.Lstat(name) // after that look: the file may have come meanwhile
		if !errors.Is(err, fs.ErrNotExist) || !replaced || time.Now().After(end) {
			return info, err
		}
	}
}

// temporaryBeside reports whether a temporary file of fsmcp for a name lies in its folder. A
// name holds no wildcards, and a long one is cut in a temporary name.
func temporaryBeside(name string) bool {
	const most = 60
	dir, base := filepath.Split(name)
	if letters := []rune(base); len(letters) > most {
		base = string(letters[:most])
	}
	pattern, err := windows.UTF16PtrFromString(dir + "." + base + "*.fsmcp-*")
	if err != nil {
		return false
	}
	var found windows.Win32finddata
	h, err := windows.FindFirstFile(pattern, &found)
	if err != nil {
		return false
	}
	windows.FindClose(h)
	return true
}
