package lsp

import (
	"io/fs"
	"maps"
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
	for path, is := range now {
		switch was, known := before[path]; {
		case is == was:
		case busy[path] && known:
			now[path] = was
		case busy[path]:
			delete(now, path)
		case known:
			found[path] = fileChanged
		default:
			found[path] = fileCreated
		}
	}
	for path, was := range before {
		if _, still := now[path]; still || fsys.Exists(path) {
			continue // or it is beyond the bounds
		}
		if busy[path] {
			now[path] = was
		} else {
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
	documents, busy := slices.Collect(maps.Keys(p.documents)), make(map[string]bool)
	for path := range c.changing {
		busy[path] = true
	}
	for path, d := range p.documents {
		busy[path] = busy[path] || d.pending()
	}
	c.mu.Unlock()
	now := sources(p.root, p.server.isSource)
	for _, path := range documents {
		addFile(now, path)
	}
	found := events(r.sources, now, busy)
	r.sources = now
	for _, path := range documents { // also one that was made since the last look
		if _, is := now[path]; !is && !busy[path] && !fsys.Exists(path) {
			found[path] = fileDeleted
		}
	}
	var others []fileEvent
	texts := make(map[string]*string) // of documents; nil: they cannot be read
	for path, event := range found {
		if _, document := busy[path]; document {
			texts[path] = nil
			b, err := c.o.Read(path, MaxFile)
			if text, ok := asText(b); ok && err == nil {
				texts[path] = &text
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
		switch d := p.documents[path]; {
		case d == nil || !d.open || d.pending() || c.changing[path] > 0:
		case text == nil:
			d.leave = found[path]
		case *text != d.text:
			d.base = text
		}
	}
	if len(others) > 0 {
		r.based, r.began = false, time.Now()
		r.notify("workspace/didChangeWatchedFiles", object{"changes": others})
	}
}
