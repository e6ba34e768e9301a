// Package records keeps what a named conversation was shown for a day, so that a restart of the
// server forgets nothing.
//
// Of each file it stores the path, the stamp, and the ranges that were shown with their hashes: no
// text. A record proves itself against the bytes of the file like one in memory: a stale one makes
// a call refused at worst, and never lets unseen bytes be replaced.
//
// A conversation has one file in the folder records of the state folder. It is read when a record
// is first asked for, and written anew some time after a change. If two servers have one
// conversation, each keeps what the other wrote of other files; of one file, and of two writes at
// the same moment, the later one counts, and the other text has to be read again. A crash costs
// what the last moments have shown.
//
// It keeps nothing of files that the history must not store, nor of conversations without a
// name.
package records

import (
	"context"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/state"
)

// Bounds of what is kept.
const (
	maxAge   = 24 * time.Hour
	maxFiles = 2000    // of one conversation
	maxBytes = 2 << 20 // of the file of a conversation
	maxParts = 1000    // of one record
	mostKept = 100     // conversations
)

// delay is the time between a change and the write of it, so that a burst of calls costs one
// write.
const delay = 2 * time.Second

// Options are the parts of a Store. All are required.
type Options struct {
	// MakeDir makes sure of the state folder, FoundDir returns "" if there is none yet.
	MakeDir  func(context.Context) (string, error)
	FoundDir func() (string, error)
	// On reports whether records are kept now.
	On func() bool
	// Secret reports whether nothing may be stored of a file with these names.
	Secret func(names []string) bool
	Now    func() time.Time
	// Failed is told why records could not be kept.
	Failed func(error)
}

// Store keeps the records of the conversations of one process.
type Store struct {
	o     Options
	delay time.Duration

	mu     sync.Mutex
	timer  *time.Timer // runs if there is something to be written
	due    map[*conversation]struct{}
	closed bool

	writing sync.Mutex
	swept   bool
}

// New makes a Store. It touches no file.
func New(o Options) *Store {
	return &Store{o: o, delay: delay, due: make(map[*conversation]struct{})}
}

// Keep has the records of a conversation begin with those that were kept under its name, and
// keeps them from now on.
func (s *Store) Keep(name string, files *state.Files) {
	c := &conversation{store: s, id: idOf(name), files: files}
	files.Keep(c.load, func() { s.changed(c) })
}

// changed has a conversation written soon.
func (s *Store) changed(c *conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due[c] = struct{}{}
	if s.timer == nil && !s.closed {
		s.timer = time.AfterFunc(s.delay, s.write)
	}
}

// write writes what has changed.
func (s *Store) write() {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	due := s.due
	s.timer, s.due = nil, make(map[*conversation]struct{})
	s.mu.Unlock()
	for c := range due {
		if err := c.write(); err != nil {
			s.o.Failed(err)
			s.mu.Lock()
			s.due[c] = struct{}{} // the next write tries it again
			s.mu.Unlock()
		}
	}
}

// Close writes what is left. Later changes are not kept.
func (s *Store) Close() {
	s.mu.Lock()
	s.closed = true
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	s.write()
}
