// Package follow notices that settings files changed, by the system's events and by reading
// their bytes before a call. It reads them after an event, and if the last time is long ago: a
// writer through a memory map or another hard link, and some file systems, cause no event.
//
// It calls back and knows nothing of what the files hold.
package follow

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/watch"
)

// Bounds of the check of the settings files before a call.
const (
	// checkInterval bounds the age of the last check.
	checkInterval = 200 * time.Millisecond
	// checkTimeout bounds the time that a call waits for a check: the disk may not answer.
	checkTimeout = time.Second
	// writerPause and writerPauses bound the time that a check waits for the writer of a
	// missing or half-written file. The watcher waits as long for quiet.
	writerPause  = 25 * time.Millisecond
	writerPauses = int(watch.DefaultQuiet / writerPause)
)

// Follower watches settings files. It is safe for concurrent use.
type Follower struct {
	log            zerolog.Logger
	stale          func() (names []string, half bool)
	reload         func(names []string)
	start          time.Time
	warnedNoEvents sync.Once // at most one warning that there are no events

	// lastCheck is the start of the last check, as time since start; -1 during a check.
	lastCheck atomic.Int64
	noticed   atomic.Bool // an event came after the last check began

	mu             sync.Mutex // guards the following
	files, folders []string
	watcher        *watch.Watcher
	checking       chan struct{} // closed after the check; nil between checks
	giveUp         time.Time     // end of the calls' wait for this check
}

// New returns a watcher that watches nothing yet. stale returns the files that changed since
// they were read, and half whether one may be half written; reload reads those of these
// names again, and all of them if names is nil.
func New(stale func() ([]string, bool), reload func([]string), log zerolog.Logger) *Follower {
	w := &Follower{log: log, stale: stale, reload: reload, start: time.Now()}
	w.watcher = watch.New(w.changed)
	w.watcher.Noticed = func() { w.noticed.Store(true) }
	return w
}

// Close ends the events; changed must not call it.
func (w *Follower) Close() { w.watcher.Close() }

// Watch sets the files, and the folders with their content, that are watched from now on.
// It reports whether they differ from the previous ones.
func (w *Follower) Watch(files, folders []string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Equal(files, w.files) && slices.Equal(folders, w.folders) {
		return false
	}
	w.files, w.folders = files, folders
	if err := w.watcher.Set(files, folders); err != nil {
		w.fallBackToPolling(err)
	}
	return true
}

// changed handles a report of the watcher. It reads all files, not only stale ones: a name
// may lead to another file with the same bytes now.
func (w *Follower) changed(err error) {
	if err != nil {
		w.fallBackToPolling(err)
	}
	w.reload(nil)
}

func (w *Follower) fallBackToPolling(err error) {
	w.warnedNoEvents.Do(func() { w.log.Warn().Err(err).Msg("settings files are looked at before calls instead") })
}

// Check runs before a decision. It waits for a check that is due or under way, and for the next
// one after an event meanwhile, which another call may have begun.
func (w *Follower) Check() {
	if w.due() && w.check() && (w.noticed.Load() || w.lastCheck.Load() < 0) {
		w.check()
	}
}

// due reports whether the last check does not count any more, or is under way.
func (w *Follower) due() bool {
	if w.noticed.Load() { // before lastCheck: a check that begins sets them the other way round
		return true
	}
	at := w.lastCheck.Load()
	return at < 0 || time.Since(w.start)-time.Duration(at) >= checkInterval
}

// check waits for a check, which it starts if none is under way. It reports whether the check
// ended in time.
func (w *Follower) check() bool {
	w.mu.Lock()
	if w.checking == nil && w.due() {
		w.checking, w.giveUp = make(chan struct{}), time.Now().Add(checkTimeout)
		w.lastCheck.Store(-1)
		w.noticed.Store(false)
		go w.read(w.checking)
	}
	checking, wait := w.checking, time.Until(w.giveUp)
	w.mu.Unlock()
	if checking == nil || wait <= 0 {
		return checking == nil
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case <-checking:
		return true
	case <-late.C:
		w.log.Warn().Msg("the settings files could not be looked at in time; calls go on with the rules as they were")
		return false
	}
}

// read reads the files, and reloads those that changed.
func (w *Follower) read(done chan struct{}) {
	began := time.Since(w.start)
	names, half := w.stale()
	for pauses := 0; half && pauses < writerPauses; pauses++ {
		time.Sleep(writerPause)
		names, half = w.stale()
	}
	if len(names) > 0 {
		w.reload(names)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checking = nil
	w.lastCheck.Store(int64(began))
	close(done)
}
