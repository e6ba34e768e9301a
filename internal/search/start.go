package search

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
)

// roots opens the folders of a scope; close closes them.
func (s *Searcher) roots(scope *Scope) (roots []*root, err error) {
	defer func() {
		if err != nil {
			closeRoots(roots)
		}
	}()
	for i, f := range scope.Starts {
		if f.Kind != fsys.Directory {
			return roots, ErrNoFolder
		}
		if s.neverSearched(f) {
			return roots, ErrNeverSearched
		}
		if covered(scope.Starts, i) {
			continue
		}
		dir, err := f.OpenDir()
		if err != nil {
			return roots, err
		}
		r := &root{walk: s.checker.Walk(f, scope.Grants), dir: share(dir)}
		roots = append(roots, r)
		if !scope.IncludeIgnored {
			s.levelsAbove(r, f)
		}
	}
	return roots, nil
}

func closeRoots(roots []*root) {
	for _, r := range roots {
		r.dir.leave()
	}
}

// covered reports whether a start is another one, or lies below it.
func covered(starts []*access.File, i int) bool {
	return slices.ContainsFunc(starts[:i], func(f *access.File) bool { return fsys.Within(f.Path, starts[i].Path) }) ||
		slices.ContainsFunc(starts[i+1:], func(f *access.File) bool {
			return f.Path != starts[i].Path && fsys.Within(f.Path, starts[i].Path)
		})
}

// neverSearched reports whether a start lies in a .git folder or in fsmcp's own folders.
func (s *Searcher) neverSearched(f *access.File) bool {
	for _, name := range f.Names {
		isGit := func(segment string) bool { return strings.EqualFold(segment, gitDir) }
		if slices.ContainsFunc(strings.Split(filepath.ToSlash(name), "/"), isGit) || s.checker.Policy().Own(name) {
			return true
		}
	}
	return false
}

// levelsAbove reads the ignore files of the folders above a start, up to the top of its
// repository. Of a start in no repository it reads those in the workspace.
func (s *Searcher) levelsAbove(r *root, f *access.File) {
	type folder struct {
		root *root
		name string // below it lies what comes before in the list
	}
	var above []folder
	found, inside := false, 0
	defer func() {
		for _, a := range above {
			a.root.dir.leave()
		}
	}()
	repository := func(w *access.Walk, d *fsys.Dir) bool {
		if !w.Allowed(gitDir, false) {
			return false
		}
		_, _, err := d.Stat(gitDir)
		return err == nil
	}
	if repository(r.walk, r.dir.Dir) {
		return // the start is the top
	}
	for at := filepath.ToSlash(f.Path); !found && path.Dir(at) != at && !strings.HasSuffix(at, ":"); {
		name := path.Base(at)
		at = path.Dir(at)
		t := s.checker.ForReading(f.Path[:len(at)]) // the system's own spelling
		if t == nil || t.Kind != fsys.Directory {
			if t != nil {
				t.Close()
			}
			break
		}
		dir, err := t.OpenDir()
		target := &access.File{Target: t}
		walk := s.checker.Walk(target, nil)
		t.Close()
		if err != nil {
			break
		}
		above = append(above, folder{&root{walk: walk, dir: share(dir)}, name})
		if found = repository(walk, dir); !found && s.checker.Policy().Inside(t.Path) {
			inside = len(above)
		}
	}
	count := len(above)
	if !found {
		count = inside
	}
	for _, a := range slices.Backward(above[:count]) {
		a.root.above = r.above
		r.levels = a.root.top().enter(a.root.dir.Dir, r.levels)
		r.above += a.name + "/"
	}
}
