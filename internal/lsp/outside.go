package lsp

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bounds of a look at the files of a project. A larger project is not followed.
const (
	maxFollowed = 20_000
	maxLook     = 300 * time.Millisecond
)

// skipped are folders whose files other programs make, beside hidden ones.
var skipped = []string{"node_modules", "target", "vendor", "__pycache__"}

// projectFiles are the files of a server's languages in its root, as they were at the last
// look. Servers leave it to their client to notice what other programs change.
type projectFiles struct {
	stamps map[string]fileStamp
	given  bool // up: there are too many
}

// fileStamp is the state of a file, as far as a look at its folder shows it.
type fileStamp struct {
	size     int64
	modified time.Time
}

// scan returns the files as they are now; ok is false if there are too many.
func (p *process) scan() (stamps map[string]fileStamp, ok bool) {
	stamps, ok = make(map[string]fileStamp), true
	began := time.Now()
	_ = filepath.WalkDir(p.root, func(path string, d fs.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case err != nil:
			return nil // it was removed meanwhile, or may not be read
		case d.IsDir() && path != p.root && (strings.HasPrefix(name, ".") || slices.Contains(skipped, name)):
			return fs.SkipDir
		case len(stamps) > maxFollowed || time.Since(began) > maxLook:
			ok = false
			return fs.SkipAll
		case d.Type().IsRegular() && p.reads(name):
			if info, err := d.Info(); err == nil {
				stamps[path] = fileStamp{info.Size(), info.ModTime()}
			}
		}
		return nil
	})
	return stamps, ok
}

// reads reports whether the server reads files of a name.
func (p *process) reads(name string) bool {
	return p.server.Languages[strings.ToLower(filepath.Ext(name))] != "" || slices.Contains(p.server.RootMarkers, name)
}

// lookOutside returns the events of files that other programs have changed since the last
// look. Open documents have none: lookAtOpenFiles follows them.
func (p *process) lookOutside() (events []fileEvent) {
	if p.project.given {
		return nil
	}
	old := p.project.stamps
	now, ok := p.scan()
	p.project = projectFiles{stamps: now, given: !ok}
	if !ok {
		p.client.o.Debug(p.server.Name, p.root, "too many files: what other programs change in them is not noticed")
		return nil
	}
	if old == nil {
		return nil
	}
	p.client.mu.Lock()
	known := func(path string) bool { d := p.documents[path]; return d != nil }
	changed := make(map[string]int)
	for path, stamp := range now {
		if was, there := old[path]; !known(path) && (!there || was != stamp) {
			changed[path] = fileChanged
			if !there {
				changed[path] = fileCreated
			}
		}
	}
	for path := range old {
		if _, there := now[path]; !there && !known(path) {
			changed[path] = fileDeleted
		}
	}
	p.client.mu.Unlock()
	for path, event := range changed {
		if event == fileDeleted || p.client.o.Readable(path) {
			events = append(events, fileEvent{uriOf(path), event})
		}
	}
	return events
}

// sendOutside tells the server what other programs have changed. The problems of all files
// are the base then, once it has reported on it.
func (p *process) sendOutside(r *run) error {
	events := p.lookOutside()
	if len(events) == 0 {
		return nil
	}
	p.client.mu.Lock()
	r.based, r.began = false, time.Now()
	p.client.mu.Unlock()
	return r.send([]message{{"workspace/didChangeWatchedFiles", watchedFilesParams{events}}})
}
