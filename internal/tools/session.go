package tools

import (
	"bytes"
	"sync"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/state"
)

// Session is one conversation, with the record of every file that it was shown.
type Session struct {
	id     string
	files  *state.Files
	grants perm.GrantSet

	reminders *reminders.Conversation

	mu     sync.Mutex
	parsed parsed
}

// sessionLetters are enough that no two sessions of a user have the same id.
const sessionLetters = 10

// mostParsed is the size in bytes up to which a notebook is kept parsed.
const mostParsed = 1 << 20

// parsed is the notebook that a conversation used last. Agents edit one notebook
// many times in a row, and a file that still has these bytes need not be hashed and
// parsed again: to compare it takes a tenth of that.
type parsed struct {
	path string // resolved
	raw  []byte
	hash func() state.Sum
	nb   *notebook.Notebook // of raw
}

// lastParsed is the notebook at path as it was parsed, if it has these bytes.
func (s *Session) lastParsed(path string, raw []byte) (parsed, bool) {
	s.mu.Lock()
	p := s.parsed
	s.mu.Unlock()
	return p, p.nb != nil && p.path == path && bytes.Equal(p.raw, raw)
}

func (s *Session) keepParsed(p parsed) {
	if len(p.raw) > mostParsed {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parsed = p
}

// parseAhead parses a notebook for the next call, between two calls.
func (s *Session) parseAhead(p parsed) {
	defer func() { _ = recover() }() // the next call parses for itself, and tells
	var err error
	if p.nb, err = notebook.Parse(p.raw); err == nil {
		s.keepParsed(p)
	}
}

// show records what an answer shows.
func (s *Session) show(n Shown) {
	switch {
	case n.State != nil:
		s.state(n.Path, n.State)
	case n.Added:
		rec, known := s.files.Get(n.Path)
		if !known || rec.Stamp != n.Record.Stamp {
			return
		}
		rec.Shown = rec.Shown.Union(n.Record.Shown)
		for _, p := range n.Record.Parts {
			rec.Parts = state.WithPart(rec.Parts, p)
		}
		s.files.Put(n.Path, rec)
	default:
		s.files.Put(n.Path, n.Record)
		if n.View != (state.View{}) {
			s.files.Served(n.Path, n.View, n.Sum)
		}
	}
}

// state records that an answer says that a file changed, without its lines.
func (s *Session) state(path string, n *fileState) {
	now := s.reminders.Gone(path)
	if !n.gone {
		now = s.reminders.Changed(path, n.record, n.sum)
	}
	if now != nil {
		s.reminders.Reported(path, *now)
	}
}

// Grant consents for the rest of the conversation.
func (s *Session) Grant(q *Question) { s.grants.Grant(q.op, q.Path) }

// Granted tells whether q needs no asking any more.
func (s *Session) Granted(q *Question) bool { return s.grants.Granted(q.op, q.Path) }
