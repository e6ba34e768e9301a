package main

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/watch"
)

// How settings files are looked at before a call.
const (
	// lookEvery is how old the last look may be.
	lookEvery = 200 * time.Millisecond
	// lookWithin bounds how long a call waits for a look: the files may lie on a disk
	// that does not answer.
	lookWithin = time.Second
	// writerPause and writerPauses bound how long a look waits for the writer of a
	// file that is gone or half written, as the watcher waits for quiet.
	writerPause  = 25 * time.Millisecond
	writerPauses = int(watch.DefaultQuiet / writerPause)
)

// settingsWatcher finds out that settings files changed: by the system's events, and
// by a look at their bytes before a call, since a writer through a memory map or
// another hard link, and some file systems, send no event.
type settingsWatcher struct {
	log            zerolog.Logger
	stale          func() (names []string, half bool)
	reload         func(names []string)
	start          time.Time
	warnedNoEvents sync.Once // that events are missing

	// looked is when the last look began, since start; -1 during one.
	looked atomic.Int64

	mu             sync.Mutex // for the following
	files, folders []string
	watcher        *watch.Watcher // nil: there are no events
	looking        chan struct{}  // closed after the look; nil where none is under way
	giveUp         time.Time      // when calls wait for that look no longer
}

// newSettingsWatcher watches nothing yet.
func newSettingsWatcher(stale func() ([]string, bool), reload func([]string), log zerolog.Logger) *settingsWatcher {
	w := &settingsWatcher{log: log, stale: stale, reload: reload, start: time.Now()}
	var err error
	if w.watcher, err = watch.New(watch.Options{Tell: w.changed}); err != nil {
		w.watcher = nil
		w.fallBackToPolling(err)
	}
	return w
}

// close ends the events; changed must not call it.
func (w *settingsWatcher) close() {
	if w.watcher != nil {
		_ = w.watcher.Close()
	}
}

// watch names the files, and the folders with what lies in them, to be watched from
// now on. It reports whether they are others than before.
func (w *settingsWatcher) watch(files, folders []string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slices.Equal(files, w.files) && slices.Equal(folders, w.folders) {
		return false
	}
	w.files, w.folders = files, folders
	if w.watcher == nil {
		return true
	}
	if err := w.watcher.Set(files, folders); err != nil {
		w.fallBackToPolling(err)
	}
	return true
}

// changed is called by the watcher.
func (w *settingsWatcher) changed(c watch.Change) {
	if c.Err != nil {
		w.fallBackToPolling(c.Err)
		c.Names = nil // whatever was missed
	}
	w.reload(c.Names)
}

func (w *settingsWatcher) fallBackToPolling(err error) {
	w.warnedNoEvents.Do(func() { w.log.Warn().Err(err).Msg("settings files are looked at before calls instead") })
}

// look is called before a decision. It waits for a look that is due or under way.
func (w *settingsWatcher) look() {
	if at := w.looked.Load(); at >= 0 && time.Since(w.start)-time.Duration(at) < lookEvery {
		return
	}
	w.mu.Lock()
	if w.looking == nil && time.Since(w.start)-time.Duration(w.looked.Load()) >= lookEvery {
		w.looking, w.giveUp = make(chan struct{}), time.Now().Add(lookWithin)
		w.looked.Store(-1)
		go w.lookNow(w.looking)
	}
	looking, wait := w.looking, time.Until(w.giveUp)
	w.mu.Unlock()
	if looking == nil || wait <= 0 {
		return
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case <-looking:
	case <-late.C:
		w.log.Warn().Msg("the settings files could not be looked at in time; calls go on with the rules as they were")
	}
}

// lookNow reads the files, and has what changed taken over.
func (w *settingsWatcher) lookNow(done chan struct{}) {
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
	w.looking = nil
	w.looked.Store(int64(began))
	close(done)
}
