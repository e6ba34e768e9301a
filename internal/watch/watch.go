// Package watch reports when files may have changed, whatever happens to their folders:
// files that do not exist yet, that are replaced by a rename, whose folders are deleted and
// made again, or that links lead to. It watches folders, never files.
//
// It promises to report after the files were quiet for a while, or after a bounded time if
// they never are, and to report when it can no longer see changes. It does not read files,
// does not say which of them changed, and may report a change that was none. It does not
// see changes of attributes alone, nor changes in file systems that send no events.
package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

// The time for which the files must be quiet before a change is reported, and the bound on
// that wait.
const (
	DefaultQuiet = 250 * time.Millisecond
	DefaultMost  = 750 * time.Millisecond
)

// ErrBlind says that changes may be missed from now on: the caller has to look for itself.
// Its cause is wrapped beside it.
var ErrBlind = errors.New("changes cannot be watched")

func blind(cause error) error { return fmt.Errorf("%w: %w", ErrBlind, cause) }

// Watcher watches files until it is closed. Its methods may be called at any time by any
// goroutine.
//
// Events only wake it. When one concerns the way to a file, all ways are walked again and
// watched by a new notifier, so that no watch of a folder that was moved stays behind
// (0.7 ms for 10 files). The caller is notified afterwards and sees what changed meanwhile.
//
// Goroutines must not block each other. drain only empties a notifier and notes events: the
// notifier may hold its own lock while it sends an event, so drain must never wait for that
// lock. work watches anew and notifies.
type Watcher struct {
	// Noticed is called as soon as the files may have changed, before they are quiet. It must
	// not wait for anything, and is set before the first Set; nil: nothing is called.
	Noticed func()

	notify  func(error)
	quiet   time.Duration            // as DefaultQuiet
	most    time.Duration            // as DefaultMost
	open    func() (notifier, error) // a field for tests, as is now
	now     func() time.Time
	done    chan struct{}
	wake    chan struct{} // there is something new
	running sync.WaitGroup

	arming   sync.Mutex // guards the following; held while folders are looked at
	targets  []target
	notifier notifier // nil before the first Set

	mu          sync.Mutex // guards the following; held for moments only
	names       map[string]bool
	first, last time.Time // of the events since the last report; zero if there are none
	moved       bool      // the ways to the targets have to be walked again
	failed      error     // to be reported
	reported    bool      // ErrBlind was
}

// notifier is the part of fsnotify that is used here.
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

func newSystem() (notifier, error) {
	w, err := fsnotify.NewWatcher()
	return system{w}, err
}

func (s system) has(dir string) bool {
	return runtime.GOOS != "linux" || slices.Contains(s.WatchList(), dir)
}

// Close removes the watches before the descriptor is closed. Until its reader has ended,
// fsnotify 1.10 removes watches by the descriptor's number, which may be another notifier's
// by then.
func (s system) Close() error {
	for _, dir := range s.WatchList() {
		_ = s.Remove(dir)
	}
	return s.Watcher.Close()
}

func (s system) events() <-chan fsnotify.Event { return s.Events }
func (s system) failures() <-chan error        { return s.Errors }

// New starts a Watcher that watches nothing yet. It calls notify when any of the files may
// have changed, by one goroutine at a time, and once with ErrBlind. notify may block and may
// call Set, but not Close.
func New(notify func(error)) *Watcher {
	w := assemble(notify)
	w.running.Go(w.work)
	return w
}

// assemble makes a Watcher without its goroutine.
func assemble(notify func(error)) *Watcher {
	return &Watcher{notify: notify, quiet: DefaultQuiet, most: DefaultMost, open: newSystem, now: time.Now, done: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// Close ends the watch. Nothing is reported after it returns.
func (w *Watcher) Close() {
	w.arming.Lock()
	if !w.closed() {
		close(w.done)
		w.replace(nil)
	}
	w.arming.Unlock()
	w.running.Wait()
}

func (w *Watcher) closed() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// Set replaces the watched files and folders; a folder is watched with its direct content.
// Names are absolute. Changes from before its return may not be reported, so look at the
// files afterwards. An error is ErrBlind; everything that can be watched is watched all
// the same.
func (w *Watcher) Set(files, folders []string) error {
	w.arming.Lock()
	defer w.arming.Unlock()
	w.targets = nil
	defer w.signal()
	for _, name := range files {
		w.targets = append(w.targets, target{name: name})
	}
	for _, name := range folders {
		w.targets = append(w.targets, target{name: name, folder: true})
	}
	return w.arm()
}

// arm watches the ways to the targets anew. The error is ErrBlind.
func (w *Watcher) arm() (err error) {
	const rounds = 10
	for range rounds {
		err = w.armOnce()
		if !errors.Is(err, errMoved) && !errors.Is(err, errOtherName) {
			break
		}
	}
	switch {
	case errors.Is(err, errMoved):
		w.reportLater(true) // they change faster than they can be walked: after the next pause
		return nil
	case err != nil:
		return blind(err)
	}
	return nil
}

// errMoved says that a folder was moved while its watch was added.
var errMoved = errors.New("a folder was moved")

// armOnce walks to the targets, watches the folders on the ways by a new notifier, and walks
// again: every change after its return sends an event. Where the system allows no more
// watches, the old notifier goes on.
func (w *Watcher) armOnce() error {
	if w.closed() {
		return nil
	}
	chains := lookAll(w.targets)
	w.setNames(chains)
	n, err := w.open()
	if err != nil {
		return err
	}
	w.running.Go(func() {
		drain(n, w.note, func(err error) {
			if !curable(err) {
				w.fail(blind(err))
			}
			w.reportLater(true)
			w.signal()
		})
	})
	err = watchAll(n, chains)
	switch same := slices.EqualFunc(chains, lookAll(w.targets), pathChain.equal); {
	case !same, errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		_ = n.Close()
		return errMoved
	case err != nil && w.notifier != nil && !errors.Is(err, errOtherName) && !errors.Is(err, fs.ErrPermission):
		_ = n.Close()
		return err
	}
	w.replace(n)
	return err
}

// errOtherName says that the notifier does not know the folder by its name: it was moved at
// once, or its events come under another name (a file system mounted twice).
var errOtherName = errors.New("the folder is watched under another name")

// watchAll watches the folders of chains. Folders on the way may be unreadable: only the
// last one has to be watched.
func watchAll(n notifier, chains []pathChain) (failed error) {
	watched := make(map[string]bool)
	for _, c := range chains {
		for _, dir := range c.dirs() {
			if watched[dir] {
				continue
			}
			err := n.Add(dir)
			if err == nil && !n.has(dir) {
				err = fmt.Errorf("%s: %w", dir, errOtherName)
			}
			watched[dir] = err == nil
			if err != nil && (dir == c.last() || !errors.Is(err, fs.ErrPermission)) {
				failed = err
			}
		}
	}
	return failed
}

// replace makes n the notifier. What the old one did not send yet is lost, so that a report
// follows.
func (w *Watcher) replace(n notifier) {
	if w.notifier != nil {
		_ = w.notifier.Close()
		w.reportLater(false)
	}
	w.notifier = n
}

// setNames sets the names whose events matter: true for all events, false for those by which
// a name means another file.
func (w *Watcher) setNames(chains []pathChain) {
	names := make(map[string]bool)
	for _, c := range chains {
		for name, own := range c.names() {
			names[name] = names[name] || own
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names = names
}

// drain hands on what a notifier sends, until it is closed. It must not wait for another
// goroutine.
func drain(n notifier, note func(fsnotify.Event), failed func(error)) {
	for {
		select {
		case e, ok := <-n.events():
			if !ok {
				return
			}
			note(e)
		case err, ok := <-n.failures():
			if !ok {
				return
			}
			failed(err)
		}
	}
}

// curable reports whether watching everything anew cures a failure: a queue that ran over,
// or a folder that was gone before its watch was removed.
func curable(err error) bool {
	return errors.Is(err, fsnotify.ErrEventOverflow) || errors.Is(err, syscall.EINVAL)
}

// note handles an event, if it concerns a target.
func (w *Watcher) note(e fsnotify.Event) {
	renamed := e.Has(fsnotify.Create) || e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
	if !renamed && !e.Has(fsnotify.Write) {
		return
	}
	name := filepath.Clean(e.Name)
	w.mu.Lock()
	own, onTheWay := w.names[name]
	inFolder := w.names[anyName(filepath.Dir(name))]
	w.mu.Unlock()
	if own || inFolder || onTheWay && renamed { // some systems send Write for a folder, too
		w.reportLater(onTheWay && renamed)
		w.signal()
	}
}

// reportLater notes that a report is due, and whether the ways have to be walked before.
func (w *Watcher) reportLater(moved bool) {
	if w.Noticed != nil {
		w.Noticed()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = w.now()
	if w.first.IsZero() {
		w.first = w.last
	}
	w.moved = w.moved || moved
}

// fail notes an error to report; nil is none.
func (w *Watcher) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = errors.Join(w.failed, err)
}

func (w *Watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// work does what is due until the watch ends.
func (w *Watcher) work() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-w.done:
			return
		case <-w.wake:
		case <-timer.C:
		}
		timer.Reset(w.step())
	}
}

// step does what is due, and returns the time until the next step.
func (w *Watcher) step() (wait time.Duration) {
	w.mu.Lock()
	moved := w.moved
	w.moved = false
	w.mu.Unlock()
	if moved {
		w.arming.Lock()
		w.fail(w.arm())
		w.arming.Unlock()
	}
	report, wait, err := w.due()
	if report {
		w.notify(err)
	}
	return wait
}

// due removes and returns what is to be reported now, and the time until the next call.
func (w *Watcher) due() (report bool, wait time.Duration, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil && !w.reported {
		w.reported = true
		return true, 0, w.failed
	}
	if w.first.IsZero() {
		return false, time.Hour, nil
	}
	at := w.last.Add(w.quiet)
	if latest := w.first.Add(w.most); latest.Before(at) {
		at = latest
	}
	if wait = at.Sub(w.now()); wait > 0 {
		return false, wait, nil
	}
	w.first = time.Time{}
	return true, time.Hour, nil
}
