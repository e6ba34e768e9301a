package app

import (
	"runtime"
	"sync"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/settings/disk"
)

// WithDisk adds the functions with which the settings read the disk.
func WithDisk(s settings.System) settings.System {
	known := &firstNames{first: make(map[string][]string)}
	s.OS, s.Read, s.List, s.Real, s.Folder, s.FolderNow = runtime.GOOS, disk.Read, disk.List, disk.Real, known.names, known.now
	s.Owned = disk.Owned(s.Home)
	s.WSL = disk.WSL
	s.FileRule, s.RuleFault = perm.FileRule, func(r perm.RuleText) string { return perm.Fault(r, s.Notation()) }
	return s
}

// firstNames remembers the names that directories had when they were first looked up. A
// directory that is removed and made again keeps these names.
type firstNames struct {
	mu    sync.Mutex
	first map[string][]string
}

func (f *firstNames) names(dir string) []string {
	names, _ := f.lookUp(dir)
	return names
}

// now returns the names that a directory has now. It looks once if it is asked before names:
// twice for each directory that rules start from would take 0.1 ms of a start.
func (f *firstNames) now(dir string) []string {
	names, known := f.lookUp(dir)
	if known {
		return currentNames(dir)
	}
	return names
}

func (f *firstNames) lookUp(dir string) (names []string, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	names, known = f.first[dir]
	if !known {
		names = currentNames(dir)
		f.first[dir] = names
	}
	return names, known
}

// currentNames returns all names of a directory: as given, one for each link, resolved.
func currentNames(dir string) []string {
	return fsys.NewResolver().Names(dir)
}
