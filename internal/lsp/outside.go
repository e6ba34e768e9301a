package lsp

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Bounds of a look at a project. What is beyond is not followed.
const (
	maxFolders = 5_000
	maxSources = 50_000
	maxEvents  = 10_000
)

// skippedDirs hold no source files of the project itself; neither do those that begin with a
// dot.
var skippedDirs = []string{"node_modules", "vendor", "target", "dist", "build", "__pycache__", "venv"}

// fileTime tells a file from what another program makes of it.
type fileTime struct {
	size     int64
	modified time.Time
}

// sources returns the source files below a folder, by their names. That of 5,000 files takes
// about 16 ms.
func sources(root string, wanted func(name string) bool) map[string]fileTime {
	all := make(map[string]fileTime)
	folders := 0
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name := filepath.Base(path)
		switch {
		case err != nil: // a folder that cannot be read
		case e.IsDir():
			if folders++; folders > maxFolders || path != root && (strings.HasPrefix(name, ".") || slices.Contains(skippedDirs, name)) {
				return fs.SkipDir
			}
		case e.Type() == 0 && len(all) < maxSources && wanted(name):
			addFile(all, path)
		}
		return nil
	})
	return all
}

func addFile(to map[string]fileTime, path string) {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		to[path] = fileTime{info.Size(), info.ModTime()}
	}
}

// events returns what happened to files, as events of the protocol. Busy files are as before,
// and left to the next look.
func events(before, now map[string]fileTime, busy map[string]bool) map[string]int {
	found := make(map[string]int)
	for path, is := range busy {
		if was, known := before[path]; is && known {
			now[path] = was
		} else if is {
			delete(now, path)
		}
	}
	for path, is := range now {
		if was, known := before[path]; !known {
			found[path] = fileCreated
		} else if is != was {
			found[path] = fileChanged
		}
	}
	for path := range before {
		if _, still := now[path]; !still && !fsys.Exists(path) { // or it is beyond the bounds
			found[path] = fileDeleted
		}
	}
	return found
}

// lookOutside has the server and its documents follow what other programs have changed. If
// these are other files than documents, the problems of all files are the base, once the
// server has reported on it. The caller holds the lock, which is released meanwhile.
func (r *run) lookOutside() {
	p, c := r.process, r.process.client
	busy := make(map[string]bool) // false for documents that are not
	for path := range c.changing {
		busy[path] = true
	}
	for _, f := range p.documents() {
		busy[f.path] = busy[f.path] || f.pending()
		if _, known := r.sources[f.path]; !known { // it was made since the last look, or is no source
			r.sources[f.path] = fileTime{}
		}
	}
	c.mu.Unlock()
	now := sources(p.root, p.server.isSource)
	for path := range busy {
		addFile(now, path)
	}
	found := events(r.sources, now, busy)
	r.sources = now
	var others []fileEvent
	texts := make(map[string]*string) // of documents; nil: they cannot be read
	for path, event := range found {
		if _, document := busy[path]; document {
			texts[path] = nil
			if b, err := c.o.Read(path, MaxFile); err == nil {
				texts[path] = asText(b)
			}
			continue
		}
		name := path
		for event == fileDeleted && name != p.root && !fsys.Exists(name) { // its folder decides
			name = filepath.Dir(name)
		}
		if len(others) < maxEvents && c.o.Readable(name) {
			others = append(others, fileEvent{uriOf(path), event})
		}
	}
	c.mu.Lock()
	for path, text := range texts {
		switch f := p.files[path]; {
		case f == nil || !f.open || f.pending() || c.changing[path] > 0:
		case text == nil:
			r.closeDocument(f)
			r.notifyFiles(fileEvent{uriOf(path), found[path]})
		case *text != f.text:
			f.before = text
		}
	}
	if len(others) > 0 {
		r.based, r.began = false, time.Now()
		r.notifyFiles(others...)
	}
}
