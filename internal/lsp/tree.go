package lsp

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// tree remembers the source files of a project, to find what other programs have changed,
// such as a checkout. It looks at folders: one whose time is the same has files of the same
// names. In a large tree, a file that is written in place is found only beside an open
// document. A look at 5,000 files takes about 20 ms.
type tree struct {
	wanted func(name string) bool // by the last part of a name
	dirs   map[string]*folder
	files  int
}

// folder holds the source files and the folders of one folder.
type folder struct {
	modified time.Time
	files    map[string]fileTime
	dirs     map[string]bool
}

// fileTime tells a file from what another program makes of it.
type fileTime struct {
	size     int64
	modified time.Time
}

// Bounds of a tree. What lies beyond is not followed.
const (
	maxTreeDirs  = 5_000
	maxTreeFiles = 50_000
	maxStats     = 5_000 // files of a tree up to which each is looked at
)

// skippedDirs hold no source files of the project itself; neither do those that begin with a
// dot.
var skippedDirs = []string{"node_modules", "vendor", "target", "dist", "build", "__pycache__", "venv"}

// newTree reads the folders below root.
func newTree(root string, wanted func(name string) bool) *tree {
	t := &tree{wanted: wanted, dirs: make(map[string]*folder)}
	t.enter(root, func(string, int) {})
	return t
}

// enter reads a folder that is new, and those below it.
func (t *tree) enter(dir string, found func(path string, event int)) {
	if len(t.dirs) >= maxTreeDirs || t.dirs[dir] != nil {
		return
	}
	f := &folder{files: make(map[string]fileTime), dirs: make(map[string]bool)}
	t.dirs[dir] = f
	t.read(dir, f, found)
}

// read compares a folder with what is known of it.
func (t *tree) read(dir string, f *folder, found func(path string, event int)) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		t.leave(dir, found)
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	f.modified = info.ModTime()
	files, dirs := make(map[string]fileTime), make(map[string]bool)
	for _, e := range entries {
		name := e.Name()
		switch {
		case e.IsDir():
			if !strings.HasPrefix(name, ".") && !slices.Contains(skippedDirs, name) {
				dirs[name] = true
			}
		case e.Type() == 0 && t.wanted(name):
			if info, err := e.Info(); err == nil {
				files[name] = timeOf(info)
			}
		}
	}
	f.compareFiles(dir, files, found)
	t.files += len(files) - len(f.files)
	gone := f.dirs
	f.files, f.dirs = files, dirs
	for name := range gone {
		if !dirs[name] {
			t.leave(filepath.Join(dir, name), found)
		}
	}
	for name := range dirs {
		if t.files < maxTreeFiles {
			t.enter(filepath.Join(dir, name), found)
		}
	}
}

func timeOf(info fs.FileInfo) fileTime { return fileTime{info.Size(), info.ModTime()} }

// compareFiles calls found for each file that is not as it was.
func (f *folder) compareFiles(dir string, now map[string]fileTime, found func(path string, event int)) {
	for name, is := range now {
		was, known := f.files[name]
		switch {
		case !known:
			found(filepath.Join(dir, name), fileCreated)
		case was != is:
			found(filepath.Join(dir, name), fileChanged)
		}
	}
	for name := range f.files {
		if _, still := now[name]; !still {
			found(filepath.Join(dir, name), fileDeleted)
		}
	}
}

// written looks for files that were written in place.
func (f *folder) written(dir string, found func(path string, event int)) {
	for name, was := range f.files {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && timeOf(info) != was {
			f.files[name] = timeOf(info)
			found(path, fileChanged)
		}
	}
}

// leave forgets a folder that is gone.
func (t *tree) leave(dir string, found func(path string, event int)) {
	f := t.dirs[dir]
	if f == nil {
		return
	}
	delete(t.dirs, dir)
	t.files -= len(f.files)
	f.compareFiles(dir, nil, found)
	for name := range f.dirs {
		t.leave(filepath.Join(dir, name), found)
	}
}

// changes returns what happened to files since the last look, as events of the protocol.
// Folders that hold one of the open files are read in any case.
func (t *tree) changes(open []string) map[string]int {
	out := make(map[string]int)
	found := func(path string, event int) { out[path] = event }
	look := make(map[string]bool)
	for _, path := range open {
		look[filepath.Dir(path)] = true
	}
	for _, dir := range slices.Collect(maps.Keys(t.dirs)) {
		f := t.dirs[dir]
		if f == nil {
			continue // it went with another one
		}
		info, err := os.Lstat(dir)
		switch {
		case err != nil || look[dir] || !info.ModTime().Equal(f.modified):
			t.read(dir, f, found)
		case t.files <= maxStats:
			f.written(dir, found)
		}
	}
	return out
}
