package search

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/search/filter"
)

// hit is a line that was found to match: it need not be matched again to be shown.
type hit struct {
	number int   // from 1
	at     int64 // where it begins in the file; -1: not known
}

// hits are the first lines of a file that match, in order.
type hits struct {
	stamp fsys.Stamp // of the file at that time
	lines []hit
	all   bool // no others were found
	slow  bool // the pattern is slow on the file
}

func (h *hits) len() int {
	if h == nil {
		return 0
	}
	return len(h.lines)
}

// passTo drops those in front of a line.
func (h *hits) passTo(number int) {
	for len(h.lines) > 0 && h.lines[0].number < number {
		h.lines = h.lines[1:]
	}
}

// Bounds of the hits that are kept: of a file, and of a search.
const (
	hitsOfFile   = 1 << 16
	hitsOfSearch = 1 << 18
)

// tally counts the matches in a file while a worker searches the file, so that at the end of
// the time it is known what was found by then. It serves one file after the other.
type tally struct {
	count    atomic.Int64
	searched atomic.Int64 // bytes
	noted    atomic.Int64 // len(lines)
	plain    atomic.Bool  // the file is in UTF-8, with line feeds
	binary   atomic.Bool

	mu     sync.Mutex
	of     result // the file
	entry  *entry // nil: of a start
	stamp  fsys.Stamp
	most   int // of the hits
	lines  []hit
	active bool // a file is searched
	over   bool // the search is over: what is found from now on does not count
}

// notes reports whether the places of matches are wanted.
func (t *tally) notes() bool { return t.noted.Load() < int64(t.most) }

// add counts a matching line. Only the worker that searches the file calls it.
func (t *tally) add(h hit) {
	if t.notes() {
		t.mu.Lock()
		if n := len(t.lines); n == 0 || t.lines[n-1].number < h.number {
			t.lines = append(t.lines, h)
			t.noted.Store(int64(n + 1))
		}
		t.mu.Unlock()
	}
	t.count.Add(1)
}

// searching are the tallies of a search, and what is noted of files beside their matches.
type searching struct {
	mu           sync.Mutex
	tallies      []*tally
	over         bool // the search is over, also for a worker that begins later
	partly       []PartOfFile
	ended        atomic.Int64 // files
	pdfs, office atomic.Int64
}

// newTally returns the tally of a worker.
func (g *grepper) newTally() *tally {
	t := &tally{}
	if w := g.query.Window; g.query.Mode == Content && !g.matchAgain {
		t.most = hitsOfFile
		if w.Most > 0 {
			t.most = min(w.Skip+w.Most, hitsOfFile)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	t.over = g.over
	g.tallies = append(g.tallies, t)
	return t
}

// begin begins to count the matches in a file.
func (t *tally) begin(of result, e *entry, stamp fsys.Stamp) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of, t.entry, t.stamp, t.lines, t.active = of, e, stamp, t.lines[:0], true
	t.count.Store(0)
	t.searched.Store(0)
	t.noted.Store(0)
	t.plain.Store(false)
	t.binary.Store(false)
}

// end takes over what was found in a file, unless the search was over before. complete says
// that the file was searched as far as needed, slow that the pattern is slow on it.
func (g *grepper) end(t *tally, complete, slow bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.active = false; !t.over {
		g.ended.Add(1)
		g.settle(t, complete, slow)
	}
}

// settleOpen takes over what was found by now in the files that are still searched: a
// worker that comes to the end of one later finds that its matches are counted.
func (g *grepper) settleOpen() {
	g.mu.Lock()
	g.over = true
	all := g.tallies
	g.mu.Unlock()
	for _, t := range all {
		t.mu.Lock()
		if t.active && !t.over {
			g.settle(t, false, true)
		}
		t.over = true
		t.mu.Unlock()
	}
}

// state reports whether the search of a file has ended, and whether one was searched in part.
// It ends the search.
func (g *grepper) state() (ended, partly bool) {
	g.settleOpen()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended.Load() > 0, len(g.partly) > 0
}

// settle makes a result of what was found in a file. The caller holds the lock of t.
func (g *grepper) settle(t *tally, complete, slow bool) {
	r := t.of
	r.mtime, r.binary, r.count = t.stamp.Mtime, t.binary.Load(), max(int(t.count.Load()), len(t.lines))
	if r.binary {
		r.count = 1
	}
	if t.entry != nil && (r.count > 0 || !complete) { // in a deep folder a name is long: not of every file
		r.rel = t.entry.rel()
		r.size = len(r.rel) + 8
	}
	if !complete && (g.query.Mode != FilesOnly || r.count == 0) {
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
	}
	lines := t.lines
	if !t.plain.Load() {
		lines = nil
	}
	g.found.add(r, lines, hits{stamp: t.stamp, all: len(lines) == r.count, slow: slow})
}

// outcome adds what is known of files that were not searched, or not to their end.
func (g *grepper) outcome(o *Outcome) {
	g.mu.Lock()
	defer g.mu.Unlock()
	slices.SortFunc(g.partly, func(a, b PartOfFile) int { return strings.Compare(a.Path, b.Path) })
	o.Partly = g.partly
	o.PDFs, o.Office = int(g.pdfs.Load()), int(g.office.Load())
}

// document notes a file whose text is not searched.
func (g *grepper) document(t *tally, head []byte) {
	name := ""
	if t.entry != nil {
		name = t.entry.name
	} else {
		name = t.of.start.Path
	}
	switch pdf, office := filter.Document(name, head); {
	case pdf:
		g.pdfs.Add(1)
	case office:
		g.office.Add(1)
	}
}
