package search

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Reason is a reason for which searches leave a name out.
type Reason uint8

// The reasons.
const (
	NotLeftOut   Reason = iota
	ByRules             // a Read would be denied or asked about
	ByIgnoreFile        // an ignore file names it
	ByGit               // it is .git, or lies in it
	ByOwnFolder         // it lies in one of fsmcp's own folders
	ByLink              // it is a symbolic link, or something special
)

// LeftOut says why searches of the workspace leave a name out.
type LeftOut struct {
	Reason
	// Name is the absolute name that is left out: the asked one, or a folder above it.
	Name string
	// File and Line are those of the pattern in an ignore file.
	File string
	Line int
}

// Explain says whether searches of the workspace directory that holds an absolute name leave
// it out, and why. For a name elsewhere it is a search of its folder.
func (s *Searcher) Explain(name string) LeftOut {
	top, rel := s.topOf(name)
	t := s.checker.ForReading(top)
	if t == nil {
		return LeftOut{Reason: ByRules, Name: top}
	}
	defer t.Close()
	start := &access.AllowedFile{Target: t}
	if t.Kind != fsys.Directory || rel == "" {
		return LeftOut{}
	}
	if reason := s.neverSearched(start); reason != NotLeftOut {
		return LeftOut{Reason: reason, Name: top}
	}
	r, err := s.newRoot(start, nil)
	if err != nil {
		return LeftOut{}
	}
	defer r.dir.leave()
	s.levelsAbove(r, start)
	return s.explainBelow(r, top, rel)
}

// topOf returns the workspace directory that holds a name, or else its folder, and the rest of
// the name.
func (s *Searcher) topOf(name string) (top, rel string) {
	for _, dir := range s.checker.Policy().Workspace() {
		for _, top := range []string{dir.Name, dir.Real} {
			if rel, ok := fsys.Below(top, name); top != "" && ok {
				return top, filepath.ToSlash(rel)
			}
		}
	}
	return fsys.DirOf(name), fsys.BaseOf(name)
}

// topmost is the topmost folder whose ignore files count.
func (r *root) topmost() string {
	folder := r.walk.Path("")
	for range strings.Count(r.above, "/") {
		folder = fsys.DirOf(folder)
	}
	return folder
}

// explainBelow goes down from a start, one folder after the other.
func (s *Searcher) explainBelow(r *root, top, rel string) LeftOut {
	dir, levels := r.dir.use(), r.levels
	defer func() { dir.leave() }()
	at, n := "", r.top()
	for segment := range strings.SplitSeq(rel, "/") {
		levels = n.enter(dir.Dir, levels)
		at = path.Join(at, segment)
		out := LeftOut{Name: fsys.Join(top, at)}
		_, kind, err := dir.Stat(segment)
		folder := kind == fsys.Directory
		ignored := levels.decide(r.above+at, folder)
		switch {
		case strings.EqualFold(segment, gitDir):
			out.Reason = ByGit
		case s.checker.Policy().Own(out.Name):
			out.Reason = ByOwnFolder
		case err == nil && kind == fsys.Special:
			out.Reason = ByLink
		case ignored.line > 0 && !ignored.kept:
			out.Reason, out.Line = ByIgnoreFile, ignored.line
			out.File = fsys.Join(r.topmost(), ignored.list.file)
		case !n.folder.Allowed(segment, folder):
			out.Reason = ByRules
		}
		if out.Reason != NotLeftOut {
			return out
		}
		if !folder {
			return LeftOut{}
		}
		n = n.child(segment, nil)
		next, err := dir.OpenDir(segment)
		if err != nil {
			return LeftOut{}
		}
		dir.leave()
		dir = share(next)
	}
	return LeftOut{}
}
