package search

import (
	"context"
	"errors"
	"io/fs"
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
	batchFiles  = 32                     // files that a worker takes at a time
	maxNamed    = 20                     // names in each list of an Outcome
	grace       = 20 * time.Millisecond  // for workers to notice the end
	reportEvery = 100 * time.Millisecond // between calls of Progress
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

// node is a folder on the list of those to be searched.
type node struct {
	root   *root
	parent *node
	name   string // "" of a root
	levels *level // of the folders above
}

// rel is the folder's name below its root.
func (n *node) rel() string {
	if n.parent == nil {
		return ""
	}
	return path.Join(n.parent.rel(), n.name)
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

// entry is a name that a walk came to. Its folder is open.
type entry struct {
	root *root
	dir  *fsys.Dir
	rel  string // below the root
	name string // in dir
}

// batch is a part of the files of one folder.
type batch struct {
	node *node
	dir  *openDir
	rels []string
}

// visitor is the part of a walk that differs between searches. Its methods are called by several workers at
// a time.
type visitor interface {
	// enters reports whether folders below rel can hold a result.
	enters(rel string) bool
	// wants reports whether a name can be a result, before the rules are asked.
	wants(rel string, dir bool) bool
	// folder is called for each folder below a start, by the folder that holds it.
	folder(e *entry)
	// file is called for each regular file, which is not open.
	file(w *worker, e *entry)
}

// worker is one of the goroutines of a walk.
type worker struct {
	run  *run
	room *room // while it has its slot
	own  *matcher
}

// run is one walk.
type run struct {
	*Searcher
	visitor visitor
	scope   *Scope
	stopped atomic.Bool

	mu      sync.Mutex
	changed *sync.Cond
	folders []*node
	batches []*batch
	active  map[*worker]*node
	pending int // folders and batches that are waiting or worked on
	outcome Outcome
	missed  missedNames
	ignored atomic.Bool

	counts   struct{ folders, files, matches, bytes atomic.Int64 }
	reported atomic.Int64
	report   sync.Mutex
}

// missedNames are names for an Outcome.
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

// walk goes through the scope. The error is that of ctx; where the time of the scope ran
// out, the outcome says so. Workers that are kept by the system may still be at work when
// it returns: what they find then is dropped.
func (s *Searcher) walk(ctx context.Context, scope *Scope, v visitor, roots []*root) (*run, error) {
	r := s.newRun(scope, v)
	limited, end := bounded(ctx, scope.Within)
	defer end()
	for _, root := range slices.Backward(roots) {
		r.folders = append(r.folders, &node{root: root, levels: root.levels})
		r.pending++
	}
	work, cancel := context.WithCancel(ctx)
	defer cancel()
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
		b.dir.leave()
	}
	for _, n := range r.active {
		left = append(left, n)
	}
	r.folders, r.batches = nil, nil
	var missed missedNames
	seen := map[*node]bool{}
	for _, n := range left {
		seen[n] = true
	}
	for n := range seen {
		covered := false
		for up := n.parent; up != nil && !covered; up = up.parent {
			covered = seen[up]
		}
		if rel := n.rel(); !covered && (rel == "" || n.root.walk.Allowed(rel, true)) { // a start may be named
			missed.add(strings.TrimSuffix(n.root.walk.Path(rel), "/"))
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
		n, b := r.next(w)
		if n == nil {
			return
		}
		select {
		case w.room = <-r.slots:
		case <-ctx.Done():
			if b != nil {
				b.dir.leave()
			}
			return
		}
		if b != nil {
			r.files(w, b)
		} else {
			r.list(w, n)
		}
		r.slots <- w.room
		r.finished(w)
		r.tell()
	}
}

// next waits for work: a batch before a folder, so that few folders are open at a time.
func (r *run) next(w *worker) (*node, *batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if r.stopped.Load() || r.pending == 0 {
			return nil, nil
		}
		if last := len(r.batches) - 1; last >= 0 {
			b := r.batches[last]
			r.batches[last] = nil
			r.batches = r.batches[:last]
			r.active[w] = b.node
			return b.node, b
		}
		if last := len(r.folders) - 1; last >= 0 {
			n := r.folders[last]
			r.folders[last] = nil
			r.folders = r.folders[:last]
			r.active[w] = n
			return n, nil
		}
		r.changed.Wait()
	}
}

func (r *run) finished(w *worker) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.active, w)
	if r.pending--; r.pending == 0 {
		r.changed.Broadcast()
	}
}

// list goes through one folder.
func (r *run) list(w *worker, n *node) {
	if r.stopped.Load() {
		return
	}
	rel := n.rel()
	if rel == "" && n.root.walk.HidesAll() || rel != "" && !n.root.walk.Allowed(rel, true) {
		return // a rule that is newer than the name in the list
	}
	opened, err := n.root.dir.OpenDir(rel)
	if err != nil {
		r.unreadable(n.root, rel, true, err)
		return
	}
	dir := share(opened)
	defer dir.leave()
	r.counts.folders.Add(1)
	levels := n.levels
	if !r.scope.IncludeIgnored {
		levels = n.root.enter(opened, rel, levels)
	}
	b := &batch{node: n, dir: dir}
	err = opened.Each(func(name string, kind fsys.Kind) bool {
		if r.meet(n, dir, levels, path.Join(rel, name), name, kind) {
			b.rels = append(b.rels, path.Join(rel, name))
		}
		if len(b.rels) == batchFiles {
			r.hand(w, b)
			b = &batch{node: n, dir: dir}
		}
		return !r.stopped.Load()
	})
	if err != nil {
		r.unreadable(n.root, rel, true, err)
	}
	r.files(w, &batch{node: n, dir: dir.use(), rels: b.rels})
}

// meet looks at one name of a folder. It reports whether the name is that of a file that
// the visitor wants; a folder goes on the list. Nothing is asked of the disk before the
// rules have decided, and of a file they are asked only when its turn comes.
func (r *run) meet(n *node, dir *openDir, levels *level, rel, name string, kind fsys.Kind) bool {
	if kind == fsys.Special || strings.EqualFold(name, gitDir) {
		return false
	}
	if kind == fsys.Missing {
		if !n.root.walk.Allowed(rel, false) {
			return false
		}
		_, is, err := dir.Stat(name)
		if err != nil || is == fsys.Special {
			return false
		}
		kind = is
	}
	folder := kind == fsys.Directory
	enters := folder && r.visitor.enters(rel)
	if wants := r.visitor.wants(rel, folder); !enters && !wants {
		return false
	} else if levels.ignored(n.root.above+rel, folder) {
		// That something was left out may be told of permitted names only.
		if !r.ignored.Load() && n.root.walk.Allowed(rel, folder) {
			r.ignored.Store(true)
		}
		return false
	} else if !folder {
		return true
	} else if !n.root.walk.Allowed(rel, true) {
		return false
	} else if wants {
		r.visitor.folder(&entry{n.root, dir.Dir, rel, name})
	}
	if enters {
		r.mu.Lock()
		r.folders = append(r.folders, &node{root: n.root, parent: n, name: name, levels: levels})
		r.pending++
		r.mu.Unlock()
		r.changed.Signal()
	}
	return false
}

// hand gives a batch to other workers, or works on it where they have enough.
func (r *run) hand(w *worker, b *batch) {
	b.dir.use()
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

// files goes through a batch.
func (r *run) files(w *worker, b *batch) {
	defer b.dir.leave()
	for _, rel := range b.rels {
		if r.stopped.Load() {
			return
		}
		if b.node.root.walk.Allowed(rel, false) {
			r.visitor.file(w, &entry{b.node.root, b.dir.Dir, rel, path.Base(rel)})
		}
		r.yieldCPU(w.room)
	}
}

// unreadable notes a permitted name that the system does not let the server read. A name
// that is gone, or is another kind of thing by now, is none.
func (r *run) unreadable(root *root, rel string, dir bool, err error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsys.ErrNotRegular) || errors.Is(err, fsys.ErrNotDir) || errors.Is(err, fsys.ErrMoved) {
		return
	}
	if !errors.Is(err, fs.ErrPermission) && dir {
		return // ELOOP, ENOTDIR: a link or a file took the folder's place
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed.add(strings.TrimSuffix(root.walk.Path(rel), "/"))
}

// tell calls Progress when its time has come.
func (r *run) tell() {
	if r.scope.Progress == nil || r.stopped.Load() {
		return
	}
	if t := time.Now().UnixNano(); t-r.reported.Load() > int64(reportEvery) && r.report.TryLock() {
		r.reported.Store(t)
		r.scope.Progress(Progress{int(r.counts.folders.Load()), int(r.counts.files.Load()), int(r.counts.matches.Load())})
		r.report.Unlock()
	}
}

// end returns the outcome of the walk.
func (r *run) end() Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := r.outcome
	o.Unreadable, o.UnreadableMore = slices.Clone(r.missed.names), r.missed.more
	o.Files, o.Bytes, o.Ignored = int(r.counts.files.Load()), r.counts.bytes.Load(), r.ignored.Load()
	return o
}
