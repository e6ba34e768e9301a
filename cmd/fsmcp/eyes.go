package main

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/watch"
)

// lookEvery is how often settings files are looked at where changes of them
// cannot be watched, and a call asks for the rules.
const lookEvery = 200 * time.Millisecond

// eyes see when settings files change: by the system's events, and where it has
// none left by a look at the files before a call.
type eyes struct {
	log    zerolog.Logger
	reload func(names []string)

	blind atomic.Bool // poll is there

	mu             sync.Mutex // for the following
	files, folders []string
	watcher        *watch.Watcher
	poll           *watch.Poll
	looked         time.Time
}

// newEyes look at nothing yet.
func newEyes(reload func(names []string), log zerolog.Logger) *eyes {
	e := &eyes{log: log, reload: reload}
	w, err := watch.New(watch.Options{Tell: e.told})
	if err != nil {
		e.blinded(err)
	}
	e.watcher = w
	return e
}

// close ends telling; it must not be called by what is told.
func (e *eyes) close() {
	if e.watcher != nil {
		_ = e.watcher.Close()
	}
}

// turn has the eyes look at these from now on. It reports whether they are
// others than before.
func (e *eyes) turn(files, folders []string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if slices.Equal(files, e.files) && slices.Equal(folders, e.folders) {
		return false
	}
	e.files, e.folders = files, folders
	if e.poll != nil {
		e.poll = watch.NewPoll(files, folders)
		return true
	}
	if err := e.watcher.Set(files, folders); err != nil {
		e.blinded(err)
	}
	return true
}

// told is called by the watcher.
func (e *eyes) told(c watch.Change) {
	if c.Err == nil {
		e.reload(c.Names)
		return
	}
	e.mu.Lock()
	e.blinded(c.Err)
	e.mu.Unlock()
	e.reload(nil) // whatever was missed
}

// blinded has the files looked at from now on. It is called with mu held.
func (e *eyes) blinded(err error) {
	if e.poll == nil {
		e.log.Warn().Err(err).Msg("settings files are looked at before calls instead")
	}
	e.poll = watch.NewPoll(e.files, e.folders)
	e.blind.Store(true)
}

// look is called before a decision: it costs nothing where the system tells of
// changes by itself.
func (e *eyes) look() {
	if !e.blind.Load() {
		return
	}
	if names := e.changed(); len(names) > 0 {
		e.reload(names)
	}
}

func (e *eyes) changed() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if time.Since(e.looked) < lookEvery {
		return nil
	}
	e.looked = time.Now()
	return e.poll.Changed()
}
