package watch

import (
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// pendingEvents interprets events and holds the changes that were not reported yet. It
// never waits for the disk or another goroutine.
type pendingEvents struct {
	quiet, most time.Duration
	signal      chan struct{} // there is something new
	now         func() time.Time

	mu      sync.Mutex
	marks   map[string]map[target]bool // by the name that an event may carry
	of      map[target]map[string]bool // the same, by target
	pending map[target]*pendingChange
	err     error
}

// pendingChange holds the events of one target.
type pendingChange struct {
	first, last time.Time
	changed     bool  // the target exists or existed, or an event named it
	moved       bool  // its path has to be walked again
	stale       stale // folders that may have been replaced
}

func newPendingEvents(quiet, most time.Duration) *pendingEvents {
	return &pendingEvents{
		quiet: quiet, most: most, signal: make(chan struct{}, 1), now: time.Now,
		marks: make(map[string]map[target]bool), of: make(map[target]map[string]bool), pending: make(map[target]*pendingChange),
	}
}

// expect sets the names that concern a target from now on. With nil it forgets the target.
func (l *pendingEvents) expect(t target, marks map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name := range l.of[t] {
		delete(l.marks[name], t)
		if len(l.marks[name]) == 0 {
			delete(l.marks, name)
		}
	}
	delete(l.of, t)
	if marks == nil {
		delete(l.pending, t)
		return
	}
	l.of[t] = marks
	for name, own := range marks {
		if l.marks[name] == nil {
			l.marks[name] = make(map[target]bool)
		}
		l.marks[name][t] = own
	}
}

// note handles an event, if it concerns a target.
func (l *pendingEvents) note(e fsnotify.Event, now time.Time) {
	renamed := e.Has(fsnotify.Create) || e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
	if !renamed && !e.Has(fsnotify.Write) {
		return
	}
	name := filepath.Clean(e.Name)
	l.mu.Lock()
	defer l.mu.Unlock()
	noted := false
	for _, mark := range []string{name, anything(filepath.Dir(name))} {
		for t, own := range l.marks[mark] {
			if !own && !renamed {
				continue // some systems send events for folders with changed contents
			}
			p := l.change(t, now)
			p.changed = p.changed || own
			if renamed {
				p.moved = true
				p.stale = append(p.stale, name)
			}
			noted = true
		}
	}
	if noted {
		l.wake()
	}
}

// lost notes that events are missing: anything may have changed.
func (l *pendingEvents) lost(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for t := range l.of {
		p := l.change(t, now)
		p.changed, p.moved, p.stale = true, true, stale{""}
	}
	l.wake()
}

// missed makes a target be walked again, with its watches as they are.
func (l *pendingEvents) missed(t target) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.change(t, l.now()).moved = true
	l.wake()
}

// appeared notes that a target exists, although no event has shown that yet.
func (l *pendingEvents) appeared(t target) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.change(t, l.now())
	p.changed, p.moved = true, true
	l.wake()
}

// retry makes a target be walked again.
func (l *pendingEvents) retry(t target) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.change(t, l.now())
	p.moved, p.stale = true, stale{""}
	l.wake()
}

func (l *pendingEvents) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = errors.Join(l.err, err)
	l.wake()
}

// change returns the target's pending change, updated to now.
func (l *pendingEvents) change(t target, now time.Time) *pendingChange {
	p := l.pending[t]
	if p == nil {
		p = &pendingChange{first: now}
		l.pending[t] = p
	}
	p.last = now
	return p
}

func (l *pendingEvents) wake() {
	select {
	case l.signal <- struct{}{}:
	default:
	}
}

// moved removes and returns the targets to walk again, each with its stale folders.
func (l *pendingEvents) moved() map[target]stale {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make(map[target]stale)
	for t, p := range l.pending {
		if p.moved {
			out[t] = p.stale
			p.moved, p.stale = false, nil
		}
	}
	return out
}

// walked notes the result of a walk: a target that neither exists nor existed is of no
// interest.
func (l *pendingEvents) walked(t target, there bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pending[t]
	if p == nil {
		return
	}
	p.changed = p.changed || there
	if !p.changed && !p.moved {
		delete(l.pending, t)
	}
}

// due removes and returns the changes whose targets were quiet or have waited long enough,
// and the time until the next call. It waits for a moment after the first one, so that
// files that changed together are reported together.
func (l *pendingEvents) due(now time.Time) (c Change, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c.Err, l.err = l.err, nil
	moment := l.batchTime()
	wait = time.Hour
	for _, p := range l.pending {
		wait = min(wait, l.dueAt(p).Add(moment).Sub(now))
	}
	if wait > 0 {
		return c, wait
	}
	wait = time.Hour
	for t, p := range l.pending {
		ripe := l.dueAt(p)
		switch {
		case ripe.After(now):
			wait = min(wait, ripe.Add(moment).Sub(now))
		case p.moved:
			wait = 0 // it must be walked first: later changes might be missed
		default:
			c.Names = append(c.Names, t.name)
			delete(l.pending, t)
		}
	}
	slices.Sort(c.Names)
	c.Names = slices.Compact(c.Names)
	return c, wait
}

// dueAt returns the time at which a change may be reported.
func (l *pendingEvents) dueAt(p *pendingChange) time.Time {
	at, latest := p.last.Add(l.quiet), p.first.Add(l.most-l.batchTime())
	if latest.Before(at) {
		return latest
	}
	return at
}

// batchTime bounds the time between changes that are reported together.
func (l *pendingEvents) batchTime() time.Duration { return l.quiet / 5 }
