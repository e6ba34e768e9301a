// Package watch tells when files change, whatever becomes of the folders they
// lie in: files that are not there yet, that are replaced by a rename, whose
// folders are deleted and made again, or that are reached by links.
//
// It watches folders, never files, and only marks: it promises that a change is
// told once the file had some quiet, or soon all the same when it never has, and
// that it says so when it can see no longer. It does not look into files, does
// not compare them, and may tell of a change that was none. Changes of
// attributes alone, and file systems that send no events, it does not see.
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

// How long a file has to be left alone before its change is told, and how long
// that is waited for at most.
const (
	DefaultQuiet = 250 * time.Millisecond
	DefaultMost  = 750 * time.Millisecond
)

// ErrBlind says that changes may be missed from now on, so that the caller has
// to look for itself. The cause is wrapped beside it.
var ErrBlind = errors.New("changes cannot be watched")

// Change is what a Watcher tells.
type Change struct {
	// Names are files and folders as they were given to Set, sorted.
	Names []string
	// Err is ErrBlind with its cause, or nil.
	Err error
}

// Options are what a Watcher is made of.
type Options struct {
	// Notify is called with what changed, by one goroutine at a time. It may take
	// its time and may call Set, but not Close.
	Notify func(Change)
	// Quiet and Most are 0 for the defaults.
	Quiet, Most time.Duration
}

// Watcher watches files until it is closed. Its methods may be called at any
// time by anyone.
//
// Three parties keep out of each other's way. The drain only empties the
// notifier and notes what was marked: the notifier may hold its own lock while
// it hands over an event, so whoever empties it must never wait for that lock.
// The clerk follows folders that moved and tells what is due. Callers of Set
// do the former, too, so mu serialises them.
type Watcher struct {
	o             Options
	notifier      notifier
	pending       *pendingEvents
	done          chan struct{}
	running       sync.WaitGroup
	once          sync.Once
	blindReported bool           // that it is blind; the clerk's own
	doubts        map[target]int // how often in a row it was told anew on a doubt; the clerk's own
	// pause waits for the notifier to read of a folder that was moved; the more, the
	// more often it has been waited for. A field for tests.
	pause func(round int)

	mu       sync.Mutex // for the following; held while folders are looked at
	chains   map[target]pathChain
	needed   map[string]int  // how many trails lead through the folder
	watching map[string]bool // the notifier has the folder
}

// notifier is what is used of fsnotify.
type notifier interface {
	Add(dir string) error
	Remove(dir string) error
	Close() error
	// has tells whether the folder is watched under that very name.
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

// New starts a Watcher that watches nothing yet. It fails with ErrBlind where
// the system's limits are reached.
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

// assemble makes a Watcher in which nobody is at work yet.
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

// Close ends watching. When it returns, nothing is told any more.
func (w *Watcher) Close() error {
	var err error
	w.once.Do(func() {
		close(w.done)
		err = w.notifier.Close()
		w.running.Wait()
	})
	return err
}

// Set says what is to be watched from now on, in place of what was: files, and
// folders with whatever lies directly in them, by absolute names. Changes from
// before it returns may go untold, so look at the files after it. An error is
// ErrBlind; what can be watched is watched all the same.
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

// track follows a target to where it now is and watches the folders on the way.
// It looks again after arming them: whatever changes later sends an event.
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
	w.pending.retry(t) // it changes faster than it can be followed
	return nil
}

// vanished tells whether a folder was only gone when it should be watched.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// arm has the notifier watch a trail's folders, anew where another folder may
// have got the name. Folders on the way may be closed to us: only the last one
// has to be watched.
func (w *Watcher) arm(t pathChain, s stale) error {
	dirs := t.dirs()
	var failed error
	for i, dir := range dirs {
		w.needed[dir]++
		if w.watching[dir] && !s.has(dir) {
			continue
		}
		if w.watching[dir] {
			_ = w.notifier.Remove(dir) // it may be gone already, which is as good
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

// errOtherName: the notifier knows the folder by another name. One that bore that
// name a moment ago is let go of when the notifier has read of the move, or when the
// way that led by the old name is: so it is worth another try. One that bears two
// names for good (a file system mounted twice) sends its events under one of them.
var errOtherName = errors.New("the folder is watched under another name")

// add has the notifier watch a folder under this name.
func (w *Watcher) add(dir string) error {
	if err := w.notifier.Add(dir); err != nil || w.notifier.has(dir) {
		return err
	}
	return fmt.Errorf("%s: %w", dir, errOtherName)
}

// missed has all targets behind a folder followed once more, since events of it
// that were on their way are lost.
func (w *Watcher) missed(dir string) {
	for t, way := range w.chains {
		if slices.ContainsFunc(way.steps, func(s step) bool { return s.dir == dir }) || way.inner == dir {
			w.pending.missed(t)
		}
	}
}

// disarm lets go of a trail's folders that no other leads through.
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

// drain empties the notifier. It waits for nobody.
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

// passing tells whether a failure is over once everything is watched anew: a
// queue that ran over, or a folder that was gone before it could be let go of.
func passing(err error) bool {
	return errors.Is(err, fsnotify.ErrEventOverflow) || errors.Is(err, syscall.EINVAL)
}

// handleChanges follows what moved, and tells what had its quiet.
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

// step does what there is to do now, and says when the next is due.
func (w *Watcher) step() (wait time.Duration) {
	w.followMoved()
	change, wait := w.pending.due(w.pending.now())
	if w.blindReported {
		change.Err = nil // once is enough
	}
	if len(change.Names) > 0 || change.Err != nil {
		w.blindReported = w.blindReported || change.Err != nil
		before := w.pendingDirs(change.Names)
		w.o.Notify(change)
		w.recheck(before)
	}
	return wait
}

// pendingDirs are how the folders are in which the ways to these targets end, of those
// that are not there as far as is known.
func (w *Watcher) pendingDirs(names []string) map[target]mark {
	out := make(map[target]mark)
	w.mu.Lock()
	for _, name := range names {
		for _, t := range []target{{name: name}, {name: name, folder: true}} {
			if way, known := w.chains[t]; known && !way.there {
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

// tick is how coarse the times of files are that a kernel gives.
const tick = 20 * time.Millisecond

// pendingDir is how the folder is in which the way to a target ends; of one that is there
// it has no name.
func pendingDir(t target) mark {
	way := look(t)
	if way.there || len(way.steps) == 0 {
		return mark{}
	}
	return markOf(way.steps[len(way.steps)-1].dir)
}

// recheck is for what the listener may have found there before any event of
// it came in: whatever becomes of it then has to be told as well. It may be gone
// already, which shows in the folder where the way ended before; a listener who
// works in that folder is told a few times only.
func (w *Watcher) recheck(before map[target]mark) {
	const most = 3
	w.mu.Lock()
	defer w.mu.Unlock()
	for t, was := range before {
		way, known := w.chains[t]
		if !known || way.there {
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

// followMoved follows the targets whose folders may have moved. One that failed is
// tried again when the others have let go of what they held by old names.
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
