package search

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
)

// defaultBytes is Window.MaxBytes where the caller names none.
const defaultBytes = 256 << 10

func (w Window) maxBytes() int {
	if w.MaxBytes <= 0 {
		return defaultBytes
	}
	return w.MaxBytes
}

// result is a name that a search found.
type result struct {
	root  *root
	rel   string
	start *access.File // in place of both: a file that was searched by itself
	again *fsys.File   // start, opened for its lines
	mtime int64        // Unix nanoseconds
	// count is the number of matching lines, units that of the things that the window
	// counts, size their bytes.
	count, units, size int
	dir, binary        bool
	hits               *hits // nil: the lines have to be matched again
}

func (r *result) path() string {
	if r.start != nil {
		return r.start.Path
	}
	return r.root.walk.Path(r.rel)
}

// parent and base split a name below a root.
func parent(rel string) string {
	i := strings.LastIndexByte(rel, '/')
	return rel[:max(i, 0)]
}

func base(rel string) string { return rel[strings.LastIndexByte(rel, '/')+1:] }

func (r *result) modTime() time.Time { return time.Unix(0, r.mtime) }

// before reports whether a result stands before another one.
func (r *result) before(o *result) bool { return compareResults(r, o) < 0 }

func compareResults(a, b *result) int {
	if c := cmp.Compare(b.mtime, a.mtime); c != 0 {
		return c
	}
	if a.root == b.root {
		return cmp.Compare(a.rel, b.rel)
	}
	return cmp.Compare(a.path(), b.path())
}

// collector keeps the first results, in their final order, of any number that are added in
// any order: as many as the window can show. It counts the others.
type collector struct {
	window Window

	mu    sync.Mutex
	kept  lastFirst
	units int // of kept
	size  int
	hits  int
	files int // all that were added
	total int // their matching lines
}

// add takes over a result. lines are the first ones that match, which the caller keeps, and
// known what else is known of them.
func (c *collector) add(found result, lines []hit, known hits) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files++
	c.total += found.count
	if len(c.kept) > 0 && c.enough(c.units, c.size) && c.kept[0].before(&found) {
		return
	}
	r := &found
	if n := len(lines); n > 0 && c.hits+n <= hitsOfSearch {
		known.lines = slices.Clone(lines)
		r.hits = &known
	}
	heap.Push(&c.kept, r)
	c.units, c.size, c.hits = c.units+r.units, c.size+r.size, c.hits+r.hits.len()
	for last := c.kept[0]; len(c.kept) > 1 && c.enough(c.units-last.units, c.size-last.size); last = c.kept[0] {
		heap.Pop(&c.kept)
		c.units, c.size, c.hits = c.units-last.units, c.size-last.size, c.hits-last.hits.len()
	}
}

// enough reports whether so many units of so many bytes fill the window.
func (c *collector) enough(units, size int) bool {
	behind := units - c.window.Skip // units behind those that are skipped
	if behind <= 0 {
		return false
	}
	if c.window.Most > 0 && behind >= c.window.Most {
		return true
	}
	return int64(size)*int64(behind)/int64(units) > int64(c.window.maxBytes())
}

// sorted ends the collection and returns what was kept, the first result first. What
// workers add later is dropped.
func (c *collector) sorted() []*result {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := slices.Clone(c.kept)
	slices.SortFunc(out, compareResults)
	return out
}

// counts returns the number of results and of their matching lines.
func (c *collector) counts() (files, lines int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.files, c.total
}

// lastFirst is a heap with the last result on top.
type lastFirst []*result

func (h lastFirst) Len() int           { return len(h) }
func (h lastFirst) Less(i, j int) bool { return h[j].before(h[i]) }
func (h lastFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *lastFirst) Push(x any)        { *h = append(*h, x.(*result)) }
func (h *lastFirst) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}
