package search

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
)

const (
	batchFiles   = 32                     // files that a worker takes at a time
	maxNamed     = 20                     // names in each list of a Coverage
	maxNamedSize = 256                    // bytes of the name of a folder that was left out; for a longer one a folder above it is named
	grace        = 20 * time.Millisecond  // for workers to notice the end
	reportEvery  = 100 * time.Millisecond // between calls of Progress
)

// root is a start of a walk.
type root struct {
	walk *access.Walk
	dir  *openDir
	// above leads from the topmost folder whose ignore files count to the start; it is
	// "" or ends with a slash.
	above  string
	levels *level
}

// top is the folder of a start.
func (r *root) top() *node { return &node{root: r, folder: r.walk.Top(), levels: r.levels} }

// node is a folder on the list of those to be searched.
type node struct {
	root    *root
	parent  *node
	name    string // "" of a root
	folder  *access.WalkFolder
	levels  *level // of the folders above
	depth   int    // 0 of a root
	relSize int    // of rel, in bytes

	// Under the lock of the run: the folder while it is kept open for folders below it that
	// wait, and their number.
	open    *openDir
	waiting int
}

// child returns the node of a folder in n.
func (n *node) child(name string, levels *level) *node {
	c := &node{root: n.root, parent: n, name: name, folder: n.folder.Below(name), levels: levels, depth: n.depth + 1, relSize: len(name)}
	if n.parent != nil {
		c.relSize += n.relSize + 1
	}
	return c
}

// rel is the folder's name below its root.
func (n *node) rel() string {
	b := make([]byte, n.relSize)
	for at := n.relSize; n.parent != nil; n = n.parent {
		at -= copy(b[at-len(n.name):], n.name)
		if at--; at > 0 {
			b[at] = '/'
		}
	}
	return string(b)
}

// openDir is an open folder that several batches share.
type openDir struct {
	*fsys.Dir
	users atomic.Int32
}

func share(d *fsys.Dir) *openDir {
	o := &openDir{Dir: d}
	o.users.Store(1)
	return o
}

func (o *openDir) use() *openDir { o.users.Add(1); return o }

func (o *openDir) leave() {
	if o.users.Add(-1) == 0 {
		o.Close()
	}
}

// entry is a name in an open folder. A worker uses one for all names of a folder.
type entry struct {
	*node
	dir    *fsys.Dir
	name   string
	prefix string // of the names below the root, once it is needed
}

// rel is the name below the root. In a deep folder it is long, so that only a name that
// matters has one.
func (e *entry) rel() string {
	if e.prefix == "" && e.parent != nil {
		e.prefix = e.node.rel() + "/"
	}
	return e.prefix + e.name
}

// batch is a part of the files of one folder, or in place of it a search of another kind.
type batch struct {
	node   *node
	dir    *openDir
	names  []string
	search func(w *worker)
	close  func() // it is called once, also for a batch that is dropped
}

func newBatch(n *node, dir *openDir) *batch { return &batch{node: n, dir: dir.use(), close: dir.leave} }

// visitor is the part of a walk that differs between searches. Its methods are called by several workers at
// a time.
type visitor interface {
	// enters reports whether a folder can hold a result, at any depth.
	enters(e *entry) bool
	// wants reports whether a name can be a result, before the rules are asked.
	wants(e *entry, dir bool) bool
	// folder is called for each folder below a start, by the folder that holds it.
	folder(e *entry)
	// file is called for each regular file, which is not open.
	file(w *worker, e *entry)
}

// worker is one of the goroutines of a walk.
type worker struct {
	run  *run
	room *room // while it has its slot
	own  *fileSearch
}

// run is one walk.
type run struct {
	*Searcher
	visitor visitor
	scope   *Scope
	context context.Context // ends with the search, at its deadline
	stopped atomic.Bool

	mu      sync.Mutex
	changed *sync.Cond
	folders []*node
	kept    []*node // those that are kept open, the oldest first
	batches []*batch
	active  map[*worker]*node
	pending int // folders and batches that are waiting or worked on
	outcome Coverage
	missed  missedNames
	ignored atomic.Bool

	counts   struct{ folders, files, matches atomic.Int64 }
	reported atomic.Int64
	report   sync.Mutex
}

// missedNames are names for a Coverage.
type missedNames struct {
	names []string
	more  int
}

func (m *missedNames) add(name string) {
	if at, there := slices.BinarySearch(m.names, name); !there {
		m.names = slices.Insert(m.names, at, name)
	}
	if len(m.names) > maxNamed {
		m.names, m.more = m.names[:maxNamed], m.more+1
	}
}

// walk goes through the folders of the scope, or through files. The error is that of ctx; if
// the time of the scope ran out, the outcome says so. Workers that the system keeps may still
// be at work when it returns: what they find then is dropped.
func (s *Searcher) walk(ctx context.Context, scope *Scope, v visitor, roots []*root, files ...*batch) (*run, error) {
	r := s.newRun(scope, v)
	limited, end := bounded(ctx, scope.Within)
	defer end()
	for _, root := range slices.Backward(roots) {
		r.folders = append(r.folders, root.top())
		r.pending++
	}
	r.batches, r.pending = files, r.pending+len(files)
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	r.context = limited
	done := make(chan struct{})
	var workers sync.WaitGroup
	for range cap(s.slots) {
		workers.Go(func() { r.work(work) })
	}
	for _, root := range roots { // for workers that are still busy when the answer is sent
		root.dir.use()
	}
	go func() { workers.Wait(); closeRoots(roots); close(done) }()
	select {
	case <-done:
		r.outcome.Complete = true
		return r, nil
	case <-limited.Done():
	}
	r.stop()
	cancel()
	select {
	case <-done:
	case <-time.After(grace):
	}
	return r, ctx.Err()
}

func (s *Searcher) newRun(scope *Scope, v visitor) *run {
	r := &run{Searcher: s, visitor: v, scope: scope, active: map[*worker]*node{}}
	r.changed = sync.NewCond(&r.mu)
	return r
}

// bounded returns a context that ends with ctx, or after some time; 0 is no bound.
func bounded(ctx context.Context, within time.Duration) (context.Context, context.CancelFunc) {
	if within <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, within)
}

// stop ends the walk and notes what was not searched.
func (r *run) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped.Store(true)
	left := slices.Clone(r.folders)
	for _, b := range r.batches {
		left = append(left, b.node)
		b.close()
	}
	left = slices.AppendSeq(left, maps.Values(r.active))
	for len(r.kept) > 0 {
		r.closeKept(r.kept[0])
	}
	r.folders, r.batches = nil, nil
	var missed missedNames
	seen := map[*node]bool{}
	for _, n := range left {
		seen[n] = true
	}
	delete(seen, nil) // of a batch without a folder
	for n := range seen {
		covered := false
		for up := n.parent; up != nil && !covered; up = up.parent {
			covered = seen[up]
		}
		for n.relSize > maxNamedSize {
			n = n.parent
		}
		if !covered && (n.parent == nil || n.folder.Searched()) { // a start may be named
			missed.add(n.root.walk.Path(n.rel()))
		}
	}
	r.outcome.NotSearched, r.outcome.NotSearchedMore = missed.names, missed.more
	r.changed.Broadcast()
}

// work is the loop of one worker.
func (r *run) work(ctx context.Context) {
	// A thread that searched has used its time, and would be woken late for a call.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := &worker{run: r}
	for {
		n, from, b := r.next(w)
		if n == nil && b == nil {
			return
		}
		select {
		case w.room = <-r.slots:
		case <-ctx.Done():
			if b != nil {
				b.close()
			}
			if from != nil {
				from.leave()
			}
			return
		}
		w.room.begin()
		if b != nil {
			r.files(w, b)
		} else {
			r.list(w, n, from)
		}
		r.release(w.room)
		r.finished(w)
		r.progress()
	}
}

// next waits for work: a batch before a folder, so that few folders are open at a time. from is
// the open folder that holds n, nil if it is not kept open.
func (r *run) next(w *worker) (n *node, from *openDir, b *batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.stopped.Load() || r.pending == 0 {
			return nil, nil, nil
		}
		if last := len(r.batches) - 1; last >= 0 {
			b := r.batches[last]
			r.batches[last] = nil
			r.batches = r.batches[:last]
			r.active[w] = b.node
			return b.node, nil, b
		}
		if last := len(r.folders) - 1; last >= 0 {
			n := r.folders[last]
			r.folders[last] = nil
			r.folders = r.folders[:last]
			r.active[w] = n
			return n, r.takeOpen(n.parent), nil
		}
		r.changed.Wait()
	}
}

// maxKept bounds the folders that are kept open for those below them that wait.
const maxKept = 16

// add puts a folder on the list, and keeps the one that holds it open: from there it is opened
// in one step, however deep it lies.
func (r *run) add(n *node, from *openDir) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped.Load() {
		return
	}
	if p := n.parent; p.open == nil {
		p.open = from.use()
		r.kept = append(r.kept, p)
		if len(r.kept) > maxKept {
			r.closeKept(r.kept[0])
		}
	}
	n.parent.waiting++
	r.folders = append(r.folders, n)
	r.pending++
	r.changed.Signal()
}

// takeOpen returns an open folder for one that no longer waits below it, nil if it is not
// kept open. It is called under the lock, as closeKept is.
func (r *run) takeOpen(p *node) (from *openDir) {
	if p == nil {
		return nil
	}
	if p.open != nil {
		from = p.open.use()
	}
	if p.waiting--; p.waiting == 0 && p.open != nil {
		r.closeKept(p)
	}
	return from
}

// closeKept keeps a folder open no longer.
func (r *run) closeKept(p *node) {
	p.open.leave()
	p.open = nil
	r.kept = slices.DeleteFunc(r.kept, func(n *node) bool { return n == p })
}

func (r *run) finished(w *worker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.active, w)
	if r.pending--; r.pending == 0 {
		r.changed.Broadcast()
	}
}

// list goes through one folder. from is the folder that holds it, if that is open.
func (r *run) list(w *worker, n *node, from *openDir) {
	if from != nil {
		defer from.leave()
	}
	if r.stopped.Load() || !n.folder.Searched() { // by a rule that is newer than the name in the list
		return
	}
	var opened *fsys.Dir
	var err error
	if from != nil {
		opened, err = from.OpenDir(n.name)
	} else {
		opened, err = n.root.dir.OpenDir(n.rel())
	}
	if err != nil {
		r.unreadable(n, "", err)
		return
	}
	dir := share(opened)
	defer dir.leave()
	r.counts.folders.Add(1)
	levels := n.levels
	if !r.scope.IncludeIgnored {
		levels = n.enter(opened, levels)
	}
	e := &entry{node: n, dir: opened}
	b := newBatch(n, dir)
	err = opened.Each(func(name string, kind fsys.Kind) bool {
		if e.name = name; r.look(e, dir, levels, kind) {
			b.names = append(b.names, name)
		}
		if len(b.names) == batchFiles {
			r.share(w, b)
			b = newBatch(n, dir)
		}
		return !r.stopped.Load()
	})
	if err != nil {
		r.unreadable(n, "", err)
	}
	r.files(w, b)
}

// look looks at one name of a folder. It reports whether the name is that of a file that
// the visitor wants; a folder goes on the list. Nothing is asked of the disk before the
// rules have decided.
func (r *run) look(e *entry, dir *openDir, levels *level, kind fsys.Kind) bool {
	if kind == fsys.Special || strings.EqualFold(e.name, gitDir) {
		return false
	}
	if kind == fsys.Missing {
		if !e.folder.Allowed(e.name, false) {
			return false
		}
		_, is, err := dir.Stat(e.name)
		if err != nil || is == fsys.Special {
			return false
		}
		kind = is
	}
	folder := kind == fsys.Directory
	enters, wants := folder && r.visitor.enters(e), r.visitor.wants(e, folder)
	switch {
	case !enters && !wants:
		return false
	case levels != nil && levels.ignored(e.root.above+e.rel(), folder):
		// That something was left out may be told of permitted names only.
		if !r.ignored.Load() && e.folder.Allowed(e.name, folder) {
			r.ignored.Store(true)
		}
		return false
	case !folder:
		return true
	case !e.folder.Allowed(e.name, true):
		return false
	}
	if wants {
		r.visitor.folder(e)
	}
	if enters {
		r.add(e.child(e.name, levels), dir)
	}
	return false
}

// share gives a batch to other workers, or works on it if they have enough.
func (r *run) share(w *worker, b *batch) {
	r.mu.Lock()
	enough := len(r.batches) >= 4*cap(r.slots)
	if !enough && !r.stopped.Load() {
		r.batches = append(r.batches, b)
		r.pending++
		r.mu.Unlock()
		r.changed.Signal()
		return
	}
	r.mu.Unlock()
	r.files(w, b)
}

// files goes through a batch. The rules are asked about each file when its turn comes.
func (r *run) files(w *worker, b *batch) {
	defer b.close()
	if b.search != nil {
		b.search(w)
		return
	}
	e := &entry{node: b.node, dir: b.dir.Dir}
	for _, name := range b.names {
		if r.stopped.Load() {
			return
		}
		if !b.node.folder.Allowed(name, false) {
			continue
		}
		e.name = name
		r.visitor.file(w, e)
		r.yieldCPU(w.room)
	}
}

// unreadable notes a permitted name that the system does not let the server read: a folder, or
// a file in it. A name that is gone, or is another kind of thing by now, is none.
func (r *run) unreadable(n *node, file string, err error) {
	gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsys.ErrNotRegular) || errors.Is(err, fsys.ErrNotDir) || errors.Is(err, fsys.ErrMoved)
	if gone || file == "" && !errors.Is(err, fs.ErrPermission) { // ELOOP, ENOTDIR: a link or a file took the folder's place
		return
	}
	r.addUnreadable(n.root.walk.Path(path.Join(n.rel(), file)))
}

func (r *run) addUnreadable(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed.add(name)
}

// progress calls Progress about ten times a second.
func (r *run) progress() {
	if r.scope.Progress == nil || r.stopped.Load() {
		return
	}
	if t := time.Now().UnixNano(); t-r.reported.Load() > int64(reportEvery) && r.report.TryLock() {
		r.reported.Store(t)
		r.scope.Progress(SearchCounts{int(r.counts.folders.Load()), int(r.counts.files.Load()), int(r.counts.matches.Load())})
		r.report.Unlock()
	}
}

// end returns the outcome of the walk.
func (r *run) end() Coverage {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.outcome
	o.Unreadable, o.UnreadableMore = slices.Clone(r.missed.names), r.missed.more
	o.Files, o.Ignored = int(r.counts.files.Load()), r.ignored.Load()
	return o
}
