package search

import (
	"cmp"
	"container/heap"
	"slices"
	"sync"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/state"
)

const (
	defaultBytes = 256 << 10 // Window.MaxBytes if the caller names none
	lineBytes    = 16        // what a line takes of MaxBytes beside its text
	// keptBytes bounds the memory of the lines that a search keeps. A line takes about
	// lineMemory beside its text.
	keptBytes  = 8 << 20
	lineMemory = 256
)

func (w Window) maxBytes() int {
	if w.MaxBytes <= 0 {
		return defaultBytes
	}
	return w.MaxBytes
}

// space is the part of a window of lines that is free.
type space struct {
	skip, most, bytes int
	taken             int // lines
}

func (w Window) space() space { return space{skip: w.Skip, most: w.Most, bytes: w.maxBytes()} }

// take takes the place of a line. It reports whether the line is inside the window, or else
// whether it is behind it.
func (s *space) take(size int) (inside, full bool) {
	switch {
	case s.skip > 0:
		s.skip--
		return false, false
	case s.most > 0 && s.taken == s.most, s.bytes < size+lineBytes && s.taken > 0:
		return false, true
	}
	s.taken++
	s.bytes -= size + lineBytes
	return true, false
}

// shown returns the results that the window shows, as far as the rules still let a Read of
// them through.
func (w Window) shown(results []*result) (shown []*result) {
	left := w.maxBytes()
	for i, r := range results {
		if i < w.Skip || !r.allowed() {
			continue
		}
		if left -= r.size; w.Most > 0 && len(shown) == w.Most || left < 0 && len(shown) > 0 {
			break
		}
		shown = append(shown, r)
	}
	return shown
}

// result is a name that a search found.
type result struct {
	root  *root
	rel   string
	start *access.AllowedFile // in place of both: a file that was searched by itself
	mtime int64               // Unix nanoseconds
	// count is the number of matching lines, units that of the things that the window
	// counts, size their bytes.
	count, units, size int
	dir, binary        bool
	lines              []FoundLine
	cut                bool // lines lacks the last ones
	skip               int  // lines of a window that are still to be skipped behind this file
	record             state.Record
	recorded           bool
}

// memory is about the memory of the lines.
func (r *result) memory() (n int) {
	for i := range r.lines {
		n += r.lines[i].size() + lineMemory
	}
	return n
}

func (r *result) path() string {
	if r.start != nil {
		return r.start.Path
	}
	return r.root.walk.Path(r.rel)
}

// compare orders results as answers show them.
func (r *result) compare(o *result) int {
	if r.mtime != o.mtime {
		return cmp.Compare(o.mtime, r.mtime)
	}
	if r.root == o.root {
		return cmp.Compare(r.rel, o.rel)
	}
	return cmp.Compare(r.path(), o.path())
}

// collector keeps the first results, in their final order, of any number that are added in
// any order: as many as the window can show. It counts the others.
type collector struct {
	window Window

	mu    sync.Mutex
	kept  lastFirst
	units int // of kept
	size  int
	lines int // their memory
	files int // all that were added
	total int // their matching lines
}

// mayShow reports whether the window may show a file, by its modification time.
func (c *collector) mayShow(mtime int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.kept) == 0 || c.kept[0].mtime <= mtime || !c.enough(c.units, c.size)
}

func (c *collector) add(r *result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files++
	c.total += r.count
	if len(c.kept) > 0 && c.enough(c.units, c.size) && c.kept[0].compare(r) < 0 {
		return
	}
	if len(c.kept) > 0 && c.lines+r.memory() > 2*keptBytes {
		r.lines, r.cut = nil, true
	}
	heap.Push(&c.kept, r)
	c.account(r, 1)
	for last := c.kept[0]; len(c.kept) > 1 && c.enough(c.units-last.units, c.size-last.size); last = c.kept[0] {
		heap.Pop(&c.kept)
		c.account(last, -1)
	}
}

// account adds a kept result to the sums, or takes it from them.
func (c *collector) account(r *result, sign int) {
	c.units += sign * r.units
	c.size += sign * r.size
	c.lines += sign * r.memory()
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
	slices.SortFunc(out, (*result).compare)
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
func (h lastFirst) Less(i, j int) bool { return h[j].compare(h[i]) < 0 }
func (h lastFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *lastFirst) Push(x any)        { *h = append(*h, x.(*result)) }
func (h *lastFirst) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}
