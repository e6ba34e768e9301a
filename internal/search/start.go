package search

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
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
		if s.neverSearched(f) != NotLeftOut {
			return roots, ErrNeverSearched
		}
		if covered(scope.Starts, i) {
			continue
		}
		r, err := s.newRoot(f, scope.Grants)
		if err != nil {
			return roots, err
		}
		roots = append(roots, r)
		if !scope.IncludeIgnored {
			s.levelsAbove(r, f)
		}
	}
	return roots, nil
}

func (s *Searcher) newRoot(f *access.AllowedFile, grants perm.Grants) (*root, error) {
	dir, err := f.OpenDir()
	if err != nil {
		return nil, err
	}
	return &root{walk: s.checker.Walk(f, grants), dir: share(dir)}, nil
}

func closeRoots(roots []*root) {
	for _, r := range roots {
		r.dir.leave()
	}
}

// covered reports whether a start is another one, or lies below it.
func covered(starts []*access.AllowedFile, i int) bool {
	return slices.ContainsFunc(starts[:i], func(f *access.AllowedFile) bool { return fsys.Within(f.Path, starts[i].Path) }) ||
		slices.ContainsFunc(starts[i+1:], func(f *access.AllowedFile) bool {
			return f.Path != starts[i].Path && fsys.Within(f.Path, starts[i].Path)
		})
}

// neverSearched returns the reason for which a start is never searched: it lies in a .git
// folder or in fsmcp's own folders.
func (s *Searcher) neverSearched(f *access.AllowedFile) Reason {
	for _, name := range f.Names {
		isGit := func(segment string) bool { return strings.EqualFold(segment, gitDir) }
		if s.checker.Policy().Own(name) {
			return ByOwnFolder
		}
		if slices.ContainsFunc(strings.Split(filepath.ToSlash(name), "/"), isGit) {
			return ByGit
		}
	}
	return NotLeftOut
}

// levelsAbove reads the ignore files of the folders above a start, up to the top of its
// repository. For a start in no repository it reads those in the workspace.
func (s *Searcher) levelsAbove(r *root, f *access.AllowedFile) {
	type folder struct {
		root *root
		name string // of the folder before it in the list
	}
	var above []folder
	found, inside := false, 0
	defer func() {
		for _, a := range above {
			a.root.dir.leave()
		}
	}()
	repository := func(r *root) bool {
		if !r.walk.Allowed(gitDir, false) {
			return false
		}
		_, _, err := r.dir.Stat(gitDir)
		return err == nil
	}
	if repository(r) {
		return // the start is the top
	}
	for at := f.Path; !found && fsys.DirOf(at) != at; {
		name := fsys.BaseOf(at)
		at = fsys.DirOf(at)
		t := s.checker.ForReading(at)
		if t == nil || t.Kind != fsys.Directory {
			if t != nil {
				t.Close()
			}
			break
		}
		in, err := s.newRoot(&access.AllowedFile{Target: t}, nil)
		t.Close()
		if err != nil {
			break
		}
		above = append(above, folder{in, name})
		if found = repository(in); !found && s.checker.Policy().Inside(t.Path) {
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
