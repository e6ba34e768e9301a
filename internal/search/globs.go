package search

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/nameglob"
)

// Glob returns the names below the scope's folders that match the pattern. The error is
// a *GlobError, ErrNeverSearched, ErrNoFolder, that of ctx or of opening a start.
func (s *Searcher) Glob(ctx context.Context, scope Scope, q GlobQuery) (*Found, error) {
	g, err := newGlobber(q)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	roots, err := s.roots(&scope)
	if err != nil {
		return nil, err
	}
	defer closeRoots(roots)
	run, err := s.walk(ctx, &scope, g, roots)
	if err != nil {
		return nil, err
	}
	found := &Found{Coverage: run.end()}
	found.Total, _ = g.found.counts()
	found.Folders = g.folderCount()
	for _, r := range q.Window.shown(g.found.sorted()) {
		found.Matches = append(found.Matches, FoundName{Path: r.path(), Dir: r.dir})
	}
	found.More = found.Total > q.Window.Skip+len(found.Matches)
	return found, nil
}

// globber is the visitor of a Glob.
type globber struct {
	pattern string
	folders bool     // the pattern is for folders
	fixed   []string // its first segments, as far as they have no wildcard
	base    string   // of a pattern such as "**/*.go" the last segment, which alone decides
	depth   int      // of its names, unless it has "**" or braces
	found   collector

	mu    sync.Mutex
	above map[*node]struct{} // the folders that hold matches
}

func newGlobber(q GlobQuery) (*globber, error) {
	pattern := strings.TrimPrefix(q.Pattern, "./")
	g := &globber{found: collector{window: q.Window}, above: map[*node]struct{}{}}
	pattern, g.folders = strings.CutSuffix(pattern, "/")
	pattern, anchored := strings.CutPrefix(pattern, "/")
	if pattern == "" || strings.HasPrefix(pattern, "/") || !doublestar.ValidatePattern(pattern) {
		return nil, &GlobError{Pattern: q.Pattern}
	}
	if !anchored && !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	g.depth = strings.Count(pattern, "/")
	g.pattern = nameglob.NoSlash(pattern)
	if base, ok := strings.CutPrefix(pattern, "**/"); ok && !strings.Contains(base, "/") {
		g.base = base // which meets no slash
	}
	if dir, _ := doublestar.SplitPattern(pattern); dir != "." && !strings.Contains(dir, `\`) {
		g.fixed = strings.Split(dir, "/")
	}
	return g, nil
}

// enters reports whether a folder can lead to a match: the pattern's fixed segments say
// the way, and without "**" its number of segments how far. The folders above it can.
func (g *globber) enters(e *entry) bool {
	if e.depth < len(g.fixed) && e.name != g.fixed[e.depth] {
		return false
	}
	return strings.Contains(g.pattern, "**") || strings.Contains(g.pattern, "{") || e.depth < g.depth
}

func (g *globber) wants(e *entry, dir bool) bool {
	if g.base != "" {
		return dir == g.folders && doublestar.MatchUnvalidated(g.base, e.name)
	}
	return dir == g.folders && doublestar.MatchUnvalidated(g.pattern, e.rel())
}

func (g *globber) folder(e *entry) {
	if s, kind, err := e.dir.Stat(e.name); err == nil && kind == fsys.Directory {
		g.add(e, s, true)
	}
}

func (g *globber) file(w *worker, e *entry) {
	began := time.Now()
	s, kind, err := e.dir.Stat(e.name)
	if err != nil || kind != fsys.Regular || !e.root.walk.AllowedFile(s, began, e.rel) {
		return
	}
	w.run.counts.files.Add(1)
	w.run.counts.matches.Add(1)
	g.add(e, s, false)
}

func (g *globber) add(e *entry, s fsys.Stamp, dir bool) {
	g.mu.Lock()
	g.above[e.node] = struct{}{}
	g.mu.Unlock()
	rel := e.rel()
	g.found.add(&result{root: e.root, rel: rel, mtime: s.Mtime, units: 1, size: len(rel), dir: dir})
}

// folderCount counts the folders that hold matches.
func (g *globber) folderCount() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.above)
}

// SplitPattern splits a pattern before the first segment with a wildcard. The directory is
// "." for a pattern that begins with one; of a pattern without wildcards the rest is its
// last segment.
func SplitPattern(pattern string) (dir, rest string) { return doublestar.SplitPattern(pattern) }
