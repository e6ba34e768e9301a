package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/settings"
)

// withDisk adds the functions with which the settings read the disk.
func withDisk(s settings.System) settings.System {
	known := &firstNames{first: make(map[string][]string)}
	s.OS, s.Read, s.List, s.Real, s.Folder = runtime.GOOS, readSettings, listFolder, realName, known.names
	s.FileRule, s.RuleFault = perm.FileRule, perm.Fault
	return s
}

// firstNames remembers the names that directories had when they were first looked up. A
// directory that is removed and made again keeps these names.
type firstNames struct {
	mu    sync.Mutex
	first map[string][]string
}

func (f *firstNames) names(dir string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.first[dir] == nil {
		f.first[dir] = currentNames(dir)
	}
	return f.first[dir]
}

// currentNames returns all names of a directory: as given, one for each link, resolved.
func currentNames(dir string) []string {
	return fsys.NewResolver([]string{dir}).RootNames()[0]
}

// cannotRead leaves out the name: every caller adds it.
func cannotRead(err error) string {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return "cannot be read: " + err.Error()
}

func listFolder(dir string) (names []string) {
	entries, _ := os.ReadDir(dir) // a folder that cannot be listed counts as empty
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// realName resolves links as far as the name exists.
func realName(name string) string {
	for dir, rest := name, ""; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		} else if dir == filepath.Dir(dir) {
			return name
		}
	}
}
