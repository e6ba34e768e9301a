package search

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/search/filter"
	"github.com/fsmcp/fsmcp/internal/search/match"
)

// Grep returns the lines or files below the scope that match the pattern. The error is a
// *PatternError, *GlobError, *TypeError, ErrNeverSearched, ErrNoFolder, that of ctx or of
// opening a start.
//
// Each file is searched once. In Content the lines of a file are kept while the window may
// show them. A file whose lines take too much memory to be kept is searched again.
func (s *Searcher) Grep(ctx context.Context, scope Scope, q GrepQuery) (*Grepped, error) {
	g, err := newGrepper(q)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.grep(ctx, &scope, g)
}

func (s *Searcher) grep(ctx context.Context, scope *Scope, g *grepper) (*Grepped, error) {
	began := time.Now()
	out := &Grepped{}
	g.everyDocument = len(scope.Starts) == 1 && scope.Starts[0].Kind == fsys.Regular
	var err error
	if len(scope.Starts) == 1 && scope.Starts[0].Kind == fsys.Regular {
		out.Coverage, err = s.grepStart(ctx, scope, g)
	} else {
		var roots []*root
		if roots, err = s.roots(scope); err != nil {
			return nil, err
		}
		defer closeRoots(roots)
		var run *run
		run, err = s.walk(ctx, scope, g, roots)
		out.Coverage = g.outcome(run)
	}
	if err != nil {
		return nil, err
	}
	out.TotalFiles, out.TotalMatches = g.found.counts()
	if g.query.Mode == Content {
		return out, s.addLines(ctx, out, g, func() time.Duration { return left(scope.Within, began) })
	}
	for _, r := range g.query.Window.shown(g.found.sorted()) {
		out.Files = append(out.Files, r.file())
	}
	out.More = out.TotalFiles > g.query.Window.Skip+len(out.Files)
	return out, nil
}

// left is the rest of a search's time, and at least a second: what was found is shown.
func left(within time.Duration, began time.Time) time.Duration {
	if within <= 0 {
		return 0
	}
	return max(within-time.Since(began), time.Second)
}

// grepStart searches a scope that is one file.
func (s *Searcher) grepStart(ctx context.Context, scope *Scope, g *grepper) (Coverage, error) {
	start := scope.Starts[0]
	if s.neverSearched(start) != NotLeftOut {
		return Coverage{}, ErrNeverSearched
	}
	if start.NotHere() {
		return Coverage{}, fsys.ErrNotHere
	}
	f, err := start.Open()
	if err != nil {
		return Coverage{}, err
	}
	return s.grepFile(ctx, scope, g, f, result{start: start})
}

// grepFile searches one open file, which it closes.
func (s *Searcher) grepFile(ctx context.Context, scope *Scope, g *grepper, f *fsys.File, of result) (Coverage, error) {
	run, err := s.walk(ctx, scope, g, nil, &batch{close: func() { f.Close() }, search: func(w *worker) {
		if err := g.search(w, f, of, nil); err != nil {
			w.run.addUnreadable(of.path())
		}
	}})
	o := g.outcome(run)
	if !o.Complete && g.files.Load() == 0 { // it waited for other searches
		o.NotSearched = []string{of.path()}
	}
	o.Complete = o.Complete || len(o.NotSearched)+len(o.Partly) == 0
	return o, err
}

// grepper is the visitor of a Grep.
type grepper struct {
	query   GrepQuery
	pattern *match.Pattern
	filter  filter.Filter
	literal []byte // each matching file holds it, unless it is in UTF-16; nil: none is known
	space   space  // for the lines of one file
	// everyDocument: the text of each document is searched, as the call names the file.
	everyDocument bool
	found         collector
	tallies
}

func newGrepper(q GrepQuery) (*grepper, error) {
	p, err := match.Compile(q.Pattern, match.Options{Fold: q.Fold, Multiline: q.Multiline})
	if err != nil {
		return nil, err
	}
	g := &grepper{query: q, pattern: p, literal: p.LiteralInFiles(), space: q.Window.space(), found: collector{window: q.Window}}
	if g.space.skip > 0 { // which lines are skipped depends on the other files
		g.space = space{most: keptBytes / lineMemory, bytes: keptBytes}
		if q.Window.Most > 0 {
			g.space.most = min(g.space.most, q.Window.Skip+q.Window.Most)
		}
	}
	g.filter, err = filter.New(q.Globs, q.Type)
	return g, err
}

// nameOf is as much of a name as the filter looks at.
func (g *grepper) nameOf(e *entry) string {
	if g.filter.Whole() {
		return e.rel()
	}
	return e.name
}

func (g *grepper) enters(e *entry) bool          { return g.filter.Enters(g.nameOf(e)) }
func (g *grepper) wants(e *entry, dir bool) bool { return !dir && g.filter.Wants(g.nameOf(e)) }
func (g *grepper) folder(*entry)                 {}

func (g *grepper) file(w *worker, e *entry) {
	began := time.Now()
	f, err := e.dir.Open(e.name)
	if err != nil {
		w.run.unreadable(e.node, e.name, err)
		return
	}
	defer f.Close()
	if !e.root.walk.AllowedFile(f.Opened(), began, e.rel) {
		return
	}
	if err := g.search(w, f, result{root: e.root}, e); err != nil {
		w.run.unreadable(e.node, e.name, err)
	}
}

// search looks for matches in an open file: that of e, or if e is nil that of of. What was
// found before an error counts.
func (g *grepper) search(w *worker, f *fsys.File, of result, e *entry) error {
	if w.own == nil {
		w.own = g.newFileSearch(w.run)
	}
	t := w.own.tally
	g.begin(t, of, e, f.Opened())
	err := w.own.search(f, w.room)
	w.run.counts.files.Add(1)
	w.run.counts.matches.Add(t.count.Load())
	g.end(t, err != nil || !w.run.stopped.Load() || t.searched.Load() >= f.Opened().Size)
	return err
}

// outcome ends the search and returns its outcome.
func (g *grepper) outcome(run *run) Coverage {
	g.takeOpen()
	o := run.end()
	g.mu.Lock()
	defer g.mu.Unlock()
	slices.SortFunc(g.partly, func(a, b PartOfFile) int { return strings.Compare(a.Path, b.Path) })
	o.Partly = g.partly
	o.PDFs, o.Office = int(g.pdfs.Load()), int(g.office.Load())
	o.Scans, o.Gaps, o.MoreGaps = int(g.scans.Load()), slices.Clone(g.gaps), g.moreGaps
	return o
}

// addLines adds the files and lines that the window shows.
func (s *Searcher) addLines(ctx context.Context, out *Grepped, g *grepper, within func() time.Duration) error {
	free := g.query.Window.space()
	results := g.found.sorted()
	full := false
	for _, r := range results {
		if !r.allowed() {
			continue
		}
		before := free
		var f FileMatches
		if f, full = r.fill(&free); r.cut && !full {
			free = before
			again, complete, err := s.searchAgain(ctx, g, r, free, within())
			if err != nil {
				return err
			}
			if out.Complete = out.Complete && complete; again != nil {
				free.skip = again.skip
				f, full = again.fill(&free)
			}
			full = full || !complete
		}
		if len(f.Lines) > 0 || f.Binary {
			out.Files = append(out.Files, f)
		}
		if full {
			break
		}
	}
	out.More = full || len(results) < out.TotalFiles
	return nil
}

// searchAgain searches the file of a result for the lines that go into free. The result is
// nil if there are none.
func (s *Searcher) searchAgain(ctx context.Context, g *grepper, r *result, free space, within time.Duration) (again *result, complete bool, err error) {
	f, err := r.open()
	if err != nil {
		return nil, true, nil
	}
	g = &grepper{query: g.query, pattern: g.pattern, literal: g.literal, space: free, everyDocument: true}
	outcome, err := s.grepFile(ctx, &Scope{Within: within}, g, f, result{root: r.root, rel: r.rel, start: r.start})
	if found := g.found.sorted(); len(found) > 0 {
		again = found[0]
	}
	return again, outcome.Complete, err
}

// file returns the result without its lines.
func (r *result) file() FileMatches {
	return FileMatches{Path: r.path(), Count: r.count, Binary: r.binary}
}

// fill puts the lines of a result into what is free of a window, and reports whether that is
// full.
func (r *result) fill(free *space) (f FileMatches, full bool) {
	f = r.file()
	if f.Binary = false; r.binary {
		f.Binary, full = free.take(0)
		return f, full
	}
	f.Record, f.Recorded = r.record, r.recorded
	for _, l := range r.lines {
		inside, full := free.take(l.size())
		if full {
			return f, true
		}
		if inside {
			l.Gap = l.Gap && len(f.Lines) > 0
			f.Lines = append(f.Lines, l)
		}
	}
	return f, false
}

// open opens the file of a result again, if the rules still let a Read through.
func (r *result) open() (*fsys.File, error) {
	if r.start != nil {
		return r.start.Open()
	}
	began := time.Now()
	folder, name := path.Split(r.rel)
	dir, err := r.root.dir.OpenDir(strings.TrimSuffix(folder, "/"))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	if !r.root.walk.AllowedFile(f.Opened(), began, func() string { return r.rel }) {
		f.Close()
		return nil, fsys.ErrMoved
	}
	return f, nil
}

// allowed reports whether the rules, as they are now, let a Read of the result through.
func (r *result) allowed() bool { return r.start != nil || r.root.walk.Allowed(r.rel, r.dir) }
