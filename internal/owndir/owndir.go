// Package owndir names the folders for fsmcp's own files, and checks that no other user
// could have written to them.
//
// A journal is replayed onto the user's files, and compiled code is run. So a folder is
// trusted only if the effective user owns it and no other user may write it; the same
// holds for each file in it. On Windows that is decided by the owner and the access list,
// and Administrators and SYSTEM are trusted, too. The package checks neither the folders
// above, nor what a program of the same user has written.
package owndir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Error says why a file or folder of fsmcp's own is not used.
type Error struct {
	Path string
	Why  string // completes the sentence that begins with Path
}

func (e *Error) Error() string { return e.Path + " " + e.Why }

// InTemp returns the folder in the temporary directory that is used if the state folder cannot
// be. It is absolute, and has the user in its name; temp may be relative, or "" for the
// system's.
func InTemp(temp string) string {
	if temp == "" {
		temp = os.TempDir()
	}
	if abs, err := filepath.Abs(temp); err == nil {
		temp = abs
	}
	return filepath.Join(temp, "fsmcp-"+user())
}

// Cache returns the folder for compiled code of fsmcp's programs; "" if the system names
// none.
func Cache() string {
	dir, err := os.UserCacheDir()
	if err != nil || !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "fsmcp")
}

// Compiled returns the folder for compiled PDFium. It returns "" if the system names no
// cache, and an *Error if another user may have written there. The folder may be a link to
// a disk with more room.
func Compiled() (string, error) {
	cache := Cache()
	if cache == "" {
		return "", nil
	}
	dir := filepath.Join(cache, "pdfium")
	own := (*Error)(nil)
	if errors.As(cmp.Or(Find(cache, 1), Find(dir, -1)), &own) {
		return "", own
	}
	return dir, nil
}

// CheckTree returns an *Error for the first file or folder that another user may have
// written: the folder itself, called name, and everything at most depth levels below it; a
// negative depth means all levels. It leaves links out: their mode says nothing, and no link
// is followed. An error of another type means that it could not be looked at.
func CheckTree(root *os.Root, name string, depth int) error {
	return fs.WalkDir(root.FS(), ".", func(at string, _ fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = root.Lstat(at) // DirEntry.Info looks at the path, not below root
		}
		switch {
		case at != "." && errors.Is(err, fs.ErrNotExist), err == nil && info.Mode()&fs.ModeSymlink != 0:
			return nil
		case err == nil:
			err = Check(filepath.Join(name, at), info)
		}
		level := strings.Count("/"+at, "/")
		if at == "." {
			level = 0
		}
		if err == nil && info.IsDir() && level == depth {
			err = fs.SkipDir
		}
		return err
	})
}

// Find returns nil if a folder, and everything at most depth levels below it, may be used.
// It returns an error that wraps fs.ErrNotExist if there is no folder, and else the
// reason.
func Find(dir string, depth int) error {
	root, err := open(dir, depth)
	if err != nil {
		return err
	}
	return root.Close()
}

// Sub opens a folder of a state folder; only this user may be able to write both. It
// refuses a link, which would lead out of the checked folder, and a FIFO, on which an open
// would block.
func Sub(stateDir, name string) (*os.Root, error) {
	return sub(stateDir, name, false)
}

// MakeSub is Sub, and makes a missing folder, so that it survives a loss of power.
func MakeSub(stateDir, name string) (*os.Root, error) { return sub(stateDir, name, true) }

// open opens a folder that only this user can write, after a check of so many levels below
// it.
func open(dir string, depth int) (*os.Root, error) {
	// An open of a FIFO blocks.
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := CheckTree(root, dir, depth); err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

func sub(stateDir, name string, create bool) (*os.Root, error) {
	top, err := open(stateDir, 0)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	if create {
		err := top.Mkdir(name, 0o700)
		if err == nil {
			err = SyncNames(top)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	path := filepath.Join(top.Name(), name)
	info, err := top.Lstat(name)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("%s lies in the place of the folder", KindOf(info.Mode()))}
	}
	if err == nil {
		err = Check(path, info)
	}
	if err != nil {
		return nil, err
	}
	return top.OpenRoot(name)
}

// SyncNames syncs the names in a folder. On Windows no folder can be synced.
func SyncNames(root *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// KindOf returns the kind of an object that is no regular file.
func KindOf(mode fs.FileMode) string {
	switch mode.Type() {
	case fs.ModeDir:
		return "a folder"
	case fs.ModeSymlink:
		return "a link"
	case fs.ModeNamedPipe:
		return "a FIFO"
	case fs.ModeSocket:
		return "a socket"
	case 0:
		return "a file"
	}
	return "a device"
}
