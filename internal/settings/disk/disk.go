// Package disk reads settings files, finds out whether another user could have written them,
// and follows the links of protected places.
//
// It promises that it never waits, whatever a name leads to, and that a file is the
// user's own only if the user or root owns it and every folder on the way, and no other user
// may write there. It knows the owners and modes of the disk alone: a program that runs as
// the user can write the user's settings.
package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/settings"
)

// Read reads a settings file.
func Read(name string) settings.FileContent {
	f, err := os.OpenFile(name, os.O_RDONLY|doNotBlock, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return settings.FileContent{Missing: true}
	}
	found := settings.FileContent{Safe: true}
	if err != nil {
		found.Why = cannotRead(err)
		return found
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		found.Why = "is not a regular file"
		return found
	default:
		found.Safe = onlyAdministratorsWrite(name, info)
		found.Bytes, err = io.ReadAll(io.LimitReader(f, settings.MaxFileBytes+1))
	}
	if err != nil {
		found.Bytes, found.Why = nil, cannotRead(err)
	}
	return found
}

// cannotRead leaves out the name: every caller adds it.
func cannotRead(err error) string {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return "cannot be read: " + err.Error()
}

// List returns the names in a folder. One that cannot be listed counts as empty.
func List(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Real resolves the links of a name as far as it exists, and spells that part as the system does.
func Real(name string) string {
	for dir, rest := name, ""; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if real, err := fsys.RealName(dir); err == nil {
			return filepath.Join(real, rest)
		} else if dir == filepath.Dir(dir) {
			return name
		}
	}
}

// WSL reports whether this is a Linux system in Windows (source: the name that Microsoft
// gives its kernels).
func WSL() bool {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	return err == nil && strings.Contains(strings.ToLower(string(release)), "microsoft")
}
