package search

import (
	"sync"
	"sync/atomic"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/state"
)

// tally holds what a worker has found in a file so far: when the time of the search runs out,
// it counts, although the worker is still at work. It serves one file after the other.
type tally struct {
	count    atomic.Int64 // matching lines
	searched atomic.Int64 // bytes
	binary   atomic.Bool

	mu     sync.Mutex
	result result // of the file
	entry  *entry // nil: of a start
	stamp  fsys.Stamp
	gap    *DocumentGap // of a document
	keeps  bool         // the answer may show lines of the file
	space  space        // for its lines
	active bool         // a file is searched
	over   bool         // the search is over: what is found from now on does not count
}

// keep keeps a line, if it is not one of those to skip. more says that the answer may show
// lines behind it.
func (t *tally) keep(l FoundLine) (kept, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	inside, full := t.space.take(l.size())
	if kept = !t.over && (inside || full); kept {
		t.result.lines = append(t.result.lines, l)
	}
	t.result.cut, t.result.skip = full, t.space.skip
	return kept, !full
}

// replaceLast replaces the line that was kept last.
func (t *tally) replaceLast(l FoundLine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		l.Gap = t.result.lines[len(t.result.lines)-1].Gap
		t.result.lines[len(t.result.lines)-1] = l
	}
}

// record notes the record of the file if lines of it are kept.
func (t *tally) record(of func() state.Record) {
	if len(t.result.lines) > 0 {
		record := of()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.result.record, t.result.recorded = record, true
	}
}

// tallies are those of a search, and what is noted of files beside their matches.
type tallies struct {
	mu           sync.Mutex
	all          []*tally
	over         bool // the search is over, also for a worker that begins later
	partly       []PartOfFile
	gaps         []DocumentGap
	moreGaps     int
	files        atomic.Int64 // that were searched, if only in part
	pdfs, office atomic.Int64 // documents that were left out
	scans        atomic.Int64 // pages without text
}

// newTally returns the tally of a worker.
func (g *tallies) newTally() *tally {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := &tally{over: g.over}
	g.all = append(g.all, t)
	return t
}

// begin begins to count the matches in a file.
func (g *grepper) begin(t *tally, of result, e *entry, stamp fsys.Stamp) {
	of.mtime = stamp.Mtime
	t.mu.Lock()
	defer t.mu.Unlock()
	t.result, t.entry, t.stamp, t.space, t.active = of, e, stamp, g.space, true
	t.gap = nil
	t.keeps = g.query.Mode == Content && g.found.mayShow(stamp.Mtime)
	t.result.skip = t.space.skip
	t.count.Store(0)
	t.searched.Store(0)
	t.binary.Store(false)
}

// end takes what was found in a file as a result, unless the search was over before. complete
// says that the file was searched as far as needed.
func (g *grepper) end(t *tally, complete bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.active = false; !t.over {
		g.take(t, complete)
	}
}

// takeOpen ends the search. It takes what was found by now in the files that are still
// searched: a worker that comes to the end of one later finds that its matches are counted.
func (g *grepper) takeOpen() {
	g.mu.Lock()
	g.over = true
	all := g.all
	g.mu.Unlock()
	for _, t := range all {
		t.mu.Lock()
		if t.active && !t.over {
			g.take(t, false)
		}
		t.over = true
		t.mu.Unlock()
	}
}

// take makes a result of what was found in a file. The caller holds the lock of t.
func (g *grepper) take(t *tally, complete bool) {
	g.files.Add(1)
	count := int(t.count.Load())
	if complete && count == 0 && !t.binary.Load() && t.gap == nil {
		return // as in most files
	}
	r := t.result // a copy, which the collector keeps
	if r.binary, r.count = t.binary.Load(), count; r.binary {
		r.count, r.lines, r.cut = 1, nil, false
	}
	if t.entry != nil { // in a deep folder a name is long: not of every file
		r.rel = t.entry.rel()
		r.size = len(r.rel) + 8
	}
	switch {
	case t.gap != nil && (g.query.Mode != FilesOnly || r.count == 0):
		gap := *t.gap
		gap.Path = r.path()
		g.addGap(gap)
	case !complete && (g.query.Mode != FilesOnly || r.count == 0):
		g.mu.Lock()
		g.partly = append(g.partly, PartOfFile{Path: r.path(), Searched: t.searched.Load(), Size: t.stamp.Size})
		g.mu.Unlock()
	}
	if r.count == 0 {
		return
	}
	if r.units = 1; g.query.Mode == Content {
		r.units = r.count
		r.size += r.units * lineBytes
		r.cut = r.cut || !t.keeps && !r.binary
	}
	g.found.add(&r)
}
