package reminders

import (
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// ownChanges holds the times in which hooks ran around changes of a conversation. What
// hooks do to files counts as the conversation's own change.
type ownChanges struct {
	running int
	since   time.Time  // of those that run
	over    []interval // the last ones
}

type interval struct{ from, to time.Time }

const (
	// mostSpans bounds what is remembered: files are looked at soon after.
	mostSpans = 50
	// spanGrain bounds how much too early a change may be dated.
	spanGrain = 20 * time.Millisecond
)

// OwnChanges begins such a time: until done is called, what happens to files is not
// reported.
func (c *Conversation) OwnChanges() (done func()) {
	now := c.service.Now
	c.mu.Lock()
	defer c.mu.Unlock()
	o := &c.own
	if o.running++; o.running == 1 {
		o.since = now()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if o.running--; o.running > 0 {
			return
		}
		o.over = append(o.over, interval{o.since, now()})
		o.over = o.over[max(0, len(o.over)-mostSpans):]
	}
}

// ownChange reports whether a file was last changed in such a time.
func (c *Conversation) ownChange(stamp fsys.Stamp) bool {
	at := time.Unix(0, stamp.Ctime)
	if stamp.Ctime == 0 { // as in fsys: the system has none
		at = time.Unix(0, stamp.Mtime)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	from := func(t time.Time) time.Time { return t.Add(-spanGrain) }
	if c.own.running > 0 && at.After(from(c.own.since)) {
		return true
	}
	for _, o := range c.own.over {
		if at.After(from(o.from)) && !at.After(o.to) {
			return true
		}
	}
	return false
}
