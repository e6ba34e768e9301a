// Package reminders finds what an answer adds to its own subject: which files that a
// conversation was shown in full have changed outside since, and which files for agents
// in the folders above a file were not read yet.
//
// A Conversation is told what was shown and is asked what to say. It reports each change
// once, never a change of the conversation's own, and waits at most LookFor for a disk.
// It moves no record of what was shown: another agent of the same connection may be the
// one that sees an answer.
//
// It opens files only through Files, which decides whether they may be read.
package reminders

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
	"weak"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/state"
)

// Files opens files by their resolved names (access.Checker).
type Files interface {
	// Again opens a file that a call had opened, by the same decision.
	Again(name string, session perm.Grants) (*fsys.Target, error)
	// ForReading opens a file that a Read may show without a question; nil otherwise.
	ForReading(name string) *fsys.Target
}

// TouchWatcher notes which files were touched.
type TouchWatcher interface {
	// Follow watches a file by its resolved name. fresh says that it may have been
	// touched before. After an error the file is not watched.
	Follow(name string) (fresh bool, err error)
	// Touched returns the files that were touched since its last call.
	Touched() []string
}

// Options are the parts that all conversations share.
type Options struct {
	Files Files
	// Watcher may be nil: then Remind has nothing to say.
	Watcher TouchWatcher
	Now     func() time.Time
	// LookFor bounds the wait of an answer for looks at files that were touched; 0 is
	// DefaultLookFor.
	LookFor time.Duration
	// Notify has the next answer end with a notice.
	Notify func(notices ...string)
	// Ignored reports whether ignore files such as .gitignore leave a folder out; nil: none
	// does.
	Ignored func(dir string) bool
}

// Bounds of the looks for one answer.
const (
	// DefaultLookFor is used up only by a slow or stuck disk: a later answer reports
	// what is not looked at by then.
	DefaultLookFor = 250 * time.Millisecond
	mostLooks      = 1000 // files
)

// Service hands what the watcher notes to the conversations of one process.
type Service struct {
	Options

	mu            sync.Mutex
	conversations []weak.Pointer[Conversation]
}

// New returns a Service. It touches no file.
func New(o Options) *Service {
	if o.LookFor == 0 {
		o.LookFor = DefaultLookFor
	}
	return &Service{Options: o}
}

// Conversation remembers which files one conversation was shown in full, what it was
// reported of them, and the folders in which hints were looked for. It is safe for
// concurrent use.
type Conversation struct {
	service *Service
	records *state.Files
	grants  perm.Grants

	mu       sync.Mutex
	looked   map[string]bool // folders in which hints were looked for
	followed followed
	own      ownChanges
}

// NewConversation starts a conversation that has been shown nothing. The Service forgets
// it with the last other reference.
func (s *Service) NewConversation(records *state.Files, grants perm.Grants) *Conversation {
	c := &Conversation{service: s, records: records, grants: grants, followed: followed{files: map[string]*follower{}, toLook: map[string]*follower{}}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conversations = append(s.conversations, weak.Make(c))
	return c
}

// Report holds what an answer says of files that changed outside.
type Report struct {
	Text string

	all []reminder
	// stop keeps the end of the call from giving them to a later answer.
	stop func() bool
}

// Remind returns what changed outside in files that were shown in full, in at most room
// bytes; nil if nothing did. It says nothing of path, the file that the answer is
// about. An answer that is not Sent has reported nothing: its ctx ends, and a later
// answer reports.
func (c *Conversation) Remind(ctx context.Context, path string, room int) *Report {
	if c.service.Watcher == nil {
		return nil
	}
	c.service.distribute()
	paths := c.toLookAt(path)
	if len(paths) == 0 {
		return nil
	}
	all := c.compareAll(ctx, paths)
	if len(all) == 0 {
		return nil
	}
	text, ok := reportText(all, room)
	if !ok {
		c.notReported(all)
		return nil
	}
	return &Report{Text: text, all: all, stop: context.AfterFunc(ctx, func() { c.notReported(all) })}
}

// Sent notes that the answer with a report is about to be sent.
func (c *Conversation) Sent(r *Report) {
	r.stop()
	c.reported(r.all)
}

// distribute marks what was touched in every conversation.
func (s *Service) distribute() {
	names := s.Watcher.Touched()
	if len(names) == 0 {
		return
	}
	s.mu.Lock()
	s.conversations = slices.DeleteFunc(s.conversations, func(p weak.Pointer[Conversation]) bool { return p.Value() == nil })
	all := slices.Clone(s.conversations)
	s.mu.Unlock()
	for _, p := range all {
		if c := p.Value(); c != nil {
			c.touch(names...)
		}
	}
}

// touch marks files that are followed as due.
func (c *Conversation) touch(names ...string) {
	for _, n := range names {
		c.update(n, func(f *follower) { f.due = true })
	}
}

// toLookAt takes out the files that may have changed, except one and those that another
// answer looks at.
func (c *Conversation) toLookAt(but string) (paths []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for path, f := range c.followed.toLook {
		if c.followed.files[path] != f || !f.due && !f.blind {
			delete(c.followed.toLook, path)
		} else if !f.underWay && path != but && len(paths) < mostLooks {
			paths = append(paths, path)
			f.due, f.underWay = false, true
		}
	}
	slices.Sort(paths)
	return paths
}

// compareAll looks at files one after the other, as long as an answer may wait. Where the
// disk is stuck, only the looking goroutine is.
func (c *Conversation) compareAll(ctx context.Context, paths []string) (all []reminder) {
	enough, end := context.WithTimeout(ctx, c.service.LookFor)
	defer end()
	found := make(chan reminder)
	go func() {
		defer close(found)
		count := 0
		for _, path := range paths {
			m, is := reminder{}, later
			if enough.Err() == nil {
				m, is = c.compareRecovering(path, count < remindFiles)
			}
			if is == changed {
				select {
				case found <- m: // from now on it is the answer's
					count++
					continue
				case <-enough.Done():
					is = later
				}
			}
			c.lookedAt(path, is == later)
		}
	}()
	for {
		select {
		case m, more := <-found:
			if !more {
				return all
			}
			all = append(all, m)
		case <-enough.Done():
			return all
		}
	}
}

// compareRecovering is compare without its panics: a bug here costs neither the process nor an
// answer, which may say that a change was made.
func (c *Conversation) compareRecovering(path string, full bool) (m reminder, is finding) {
	defer func() {
		if r := recover(); r != nil {
			c.service.Notify(fmt.Sprintf("(fsmcp failed inside when it looked whether %s has changed: %v. This is a bug of fsmcp; tell the user.)", fsys.InSentence(path), r))
			is = nothing
		}
	}()
	return c.compare(path, full)
}
