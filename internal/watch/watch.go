// Package watch reports when files change, whatever happens to their folders: files that
// do not exist yet, that are replaced by a rename, whose folders are deleted and made
// again, or that links lead to. It watches folders, never files, and only marks.
//
// It promises to report a change after the file was quiet for a while, or after a bounded
// time if it never is, and to report when it can no longer see changes. It does not read
// files, does not compare them, and may report a change that was none. It does not see
// changes of attributes alone, nor changes in file systems that send no events.
package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The time for which a file must be quiet before its change is reported, and the bound on
// that wait.
const (
	DefaultQuiet = 250 * time.Millisecond
	DefaultMost  = 750 * time.Millisecond
)

// ErrBlind says that changes may be missed from now on: the caller has to look for itself.
// Its cause is wrapped beside it.
var ErrBlind = errors.New("changes cannot be watched")

// Change is a report of a Watcher.
type Change struct {
	// Names are files and folders as they were given to Set, sorted.
	Names []string
	// Err is ErrBlind with its cause, or nil.
	Err error
}

// Options configure a Watcher.
type Options struct {
	// Notify is called with what changed, by one goroutine at a time. It may take its time
	// and may call Set, but not Close.
	Notify func(Change)
	// Quiet and Most are 0 for the defaults.
	Quiet, Most time.Duration
}

// Watcher watches files until it is closed. Its methods may be called at any time by any
// goroutine.
//
// Three goroutines must not block each other. drain only empties the notifier and notes
// events: the notifier may hold its own lock while it sends an event, so drain must never
// wait for that lock. handleChanges walks to moved targets and reports due changes.
// Callers of Set walk to targets, too; mu serialises both.
type Watcher struct {
	o             Options
	notifier      notifier
	pending       *pendingEvents
	done          chan struct{}
	running       sync.WaitGroup
	once          sync.Once
	blindReported bool           // ErrBlind was reported; used by handleChanges only
	doubts        map[target]int // how often in a row it was reported anew on a doubt; used by handleChanges only
	// pause waits for the notifier to notice that a folder was moved, longer in each
	// round. A field for tests.
	pause func(round int)

	mu       sync.Mutex // guards the following; held while folders are looked at
	chains   map[target]pathChain
	needed   map[string]int  // number of chains through the folder
	watching map[string]bool // the notifier has the folder
}

// notifier is the part of fsnotify that Watcher uses.
type notifier interface {
	Add(dir string) error
	Remove(dir string) error
	Close() error
	// has reports whether the folder is watched under that very name.
	has(dir string) bool
	events() <-chan fsnotify.Event
	failures() <-chan error
}

// system is the notifier of the operating system.
type system struct{ *fsnotify.Watcher }

func (s system) has(dir string) bool {
	return runtime.GOOS != "linux" || slices.Contains(s.WatchList(), dir)
}
func (s system) events() <-chan fsnotify.Event { return s.Events }
func (s system) failures() <-chan error        { return s.Errors }

// New starts a Watcher that watches nothing yet. It fails with ErrBlind if the system's
// limits are reached.
func New(o Options) (*Watcher, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, blind(err)
	}
	return start(o, system{w}), nil
}

func start(o Options, n notifier) *Watcher {
	w := assemble(o, n)
	w.running.Go(w.drain)
	w.running.Go(w.handleChanges)
	return w
}

// assemble makes a Watcher without its goroutines.
func assemble(o Options, n notifier) *Watcher {
	if o.Quiet == 0 {
		o.Quiet = DefaultQuiet
	}
	if o.Most == 0 {
		o.Most = DefaultMost
	}
	return &Watcher{
		o: o, notifier: n, pending: newPendingEvents(o.Quiet, o.Most), done: make(chan struct{}),
		chains: make(map[target]pathChain), needed: make(map[string]int), watching: make(map[string]bool), doubts: make(map[target]int),
		pause: func(round int) { time.Sleep(time.Millisecond << min(round, 6)) },
	}
}

func blind(cause error) error { return fmt.Errorf("%w: %w", ErrBlind, cause) }

// Close ends the watch. Nothing is reported after it returns.
func (w *Watcher) Close() error {
	var err error
	w.once.Do(func() {
		close(w.done)
		err = w.notifier.Close()
		w.running.Wait()
	})
	return err
}

// Set replaces the watched files and folders; a folder is watched with its direct content.
// Names are absolute. Changes from before its return may not be reported, so look at the
// files afterwards. An error is ErrBlind; everything that can be watched is watched all
// the same.
func (w *Watcher) Set(files, folders []string) error {
	wanted := make(map[target]bool)
	for _, name := range files {
		wanted[target{name: name}] = true
	}
	for _, name := range folders {
		wanted[target{name: name, folder: true}] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for t, old := range w.chains {
		if !wanted[t] {
			w.pending.expect(t, nil)
			w.disarm(old)
			delete(w.chains, t)
		}
	}
	var failed error
	for t := range wanted {
		if _, known := w.chains[t]; !known {
			failed = errors.Join(failed, w.track(t, nil))
		}
	}
	return failed
}

// track walks to a target and watches the folders on the way. It walks again after that:
// every later change sends an event.
func (w *Watcher) track(t target, s stale) error {
	const rounds = 10
	var err error
	for round := range rounds {
		now, old := look(t), w.chains[t]
		switch same := round > 0 && now.equal(old); {
		case same && err == nil:
			return nil
		case same && errors.Is(err, errOtherName) && round < rounds-1:
			w.pause(round)
		case same && !vanished(err):
			return blind(err)
		}
		w.pending.expect(t, now.marks())
		w.chains[t] = now
		err = w.arm(now, s)
		w.disarm(old)
		s = nil
	}
	w.pending.retry(t) // it changes faster than it can be walked
	return nil
}

// vanished reports whether a folder was merely gone when it should be watched.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// arm watches a chain's folders, anew if another folder may have got the name. Folders on
// the way may be unreadable: only the last one has to be watched.
func (w *Watcher) arm(t pathChain, s stale) error {
	dirs := t.dirs()
	var failed error
	for i, dir := range dirs {
		w.needed[dir]++
		if w.watching[dir] && !s.has(dir) {
			continue
		}
		if w.watching[dir] {
			_ = w.notifier.Remove(dir) // it may be gone already
			w.missed(dir)
		}
		err := w.add(dir)
		w.watching[dir] = err == nil
		if err != nil && (i == len(dirs)-1 || !errors.Is(err, fs.ErrPermission)) {
			failed = err
		}
	}
	return failed
}

// errOtherName says that the notifier knows the folder by another name. A former name goes
// when the notifier learns of the move, or when the chain with the old name is removed: so
// another try is worth it. A folder with two lasting names (a file system mounted twice)
// sends its events under one of them.
var errOtherName = errors.New("the folder is watched under another name")

// add watches a folder under this name.
func (w *Watcher) add(dir string) error {
	if err := w.notifier.Add(dir); err != nil || w.notifier.has(dir) {
		return err
	}
	return fmt.Errorf("%s: %w", dir, errOtherName)
}

// missed makes all targets behind a folder be walked again, since its unread events are
// lost.
func (w *Watcher) missed(dir string) {
	for t, chain := range w.chains {
		if slices.ContainsFunc(chain.steps, func(s step) bool { return s.dir == dir }) || chain.inner == dir {
			w.pending.missed(t)
		}
	}
}

// disarm removes the watches of a chain's folders that no other chain needs.
func (w *Watcher) disarm(t pathChain) {
	for _, dir := range t.dirs() {
		if w.needed[dir]--; w.needed[dir] > 0 {
			continue
		}
		if w.watching[dir] {
			_ = w.notifier.Remove(dir) // as above
		}
		delete(w.needed, dir)
		delete(w.watching, dir)
	}
}

// drain empties the notifier. It never waits for another goroutine.
func (w *Watcher) drain() {
	for {
		select {
		case e, ok := <-w.notifier.events():
			if !ok {
				return
			}
			w.pending.note(e, w.pending.now())
		case err, ok := <-w.notifier.failures():
			if !ok {
				return
			}
			w.pending.lost(w.pending.now())
			if !passing(err) {
				w.pending.fail(blind(err))
			}
		}
	}
}

// passing reports whether watching everything anew cures a failure: a queue that ran over,
// or a folder that was gone before its watch was removed.
func passing(err error) bool {
	return errors.Is(err, fsnotify.ErrEventOverflow) || errors.Is(err, syscall.EINVAL)
}

// handleChanges walks to moved targets, and reports due changes.
func (w *Watcher) handleChanges() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-w.done:
			return
		case <-w.pending.signal:
		case <-timer.C:
		}
		timer.Reset(w.step())
	}
}

// step does what is due, and returns the time until the next step.
func (w *Watcher) step() (wait time.Duration) {
	w.followMoved()
	change, wait := w.pending.due(w.pending.now())
	if w.blindReported {
		change.Err = nil // reported before
	}
	if len(change.Names) > 0 || change.Err != nil {
		w.blindReported = w.blindReported || change.Err != nil
		before := w.pendingDirs(change.Names)
		w.o.Notify(change)
		w.recheck(before)
	}
	return wait
}

// pendingDirs returns, for each missing target, the state of its nearest existing parent
// folder.
func (w *Watcher) pendingDirs(names []string) map[target]mark {
	out := make(map[target]mark)
	w.mu.Lock()
	for _, name := range names {
		for _, t := range []target{{name: name}, {name: name, folder: true}} {
			if chain, known := w.chains[t]; known && !chain.there {
				out[t] = mark{}
			}
		}
	}
	w.mu.Unlock()
	now := time.Now()
	for t := range out {
		m := pendingDir(t)
		if age := now.Sub(m.changed()); age >= 0 && age < tick {
			time.Sleep(tick - age) // else the next change might not show in its times
		}
		out[t] = m
	}
	return out
}

// tick is the granularity of a kernel's file times.
const tick = 20 * time.Millisecond

// pendingDir returns the state of a missing target's nearest existing parent folder; it is
// empty for an existing target.
func pendingDir(t target) mark {
	chain := look(t)
	if chain.there || len(chain.steps) == 0 {
		return mark{}
	}
	return markOf(chain.steps[len(chain.steps)-1].dir)
}

// recheck handles targets that the listener may have found before any event of theirs came
// in: their further changes must be reported as well. Such a target may be gone already,
// which shows in its nearest existing folder. A listener that works in that folder is
// notified a few times only.
func (w *Watcher) recheck(before map[target]mark) {
	const most = 3
	w.mu.Lock()
	defer w.mu.Unlock()
	for t, was := range before {
		chain, known := w.chains[t]
		if !known || chain.there {
			delete(w.doubts, t)
			continue
		}
		there := look(t).there
		if !there && (w.doubts[t] == most || pendingDir(t).same(was)) {
			delete(w.doubts, t)
			continue
		}
		if !there {
			w.doubts[t]++
		}
		w.pending.appeared(t)
	}
}

// followMoved walks to the targets whose folders may have moved. A failed one is tried
// again after the others have released their old names.
func (w *Watcher) followMoved() {
	failed := make(map[target]stale)
	for t, s := range w.pending.moved() {
		if w.followAgain(t, s) != nil {
			failed[t] = s
		}
	}
	for t, s := range failed {
		if err := w.followAgain(t, s); err != nil {
			w.pending.fail(err)
		}
	}
}

func (w *Watcher) followAgain(t target, s stale) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, known := w.chains[t]
	if !known {
		return nil
	}
	err := w.track(t, s)
	w.pending.walked(t, before.there || w.chains[t].there)
	return err
}
