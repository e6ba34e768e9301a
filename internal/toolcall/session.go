package toolcall

import (
	"bytes"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/state"
)

// Session is one conversation, with the record of every file that it was shown.
type Session struct {
	ID     string
	Files  *state.Files  // what the client was shown
	Grants perm.GrantSet // the consents that last for the conversation

	Reminders *reminders.Conversation

	mu     sync.Mutex
	said   map[Remark]bool
	parsed Parsed
	latest int // counts the notebooks that were parsed or are being parsed

	deleted     map[string]Deleted // by resolved name
	deletedSize int                // bytes of them that are kept
}

// NewSession starts a conversation that has been shown nothing. now is the clock.
func NewSession(now func() time.Time, r *reminders.Service) *Session {
	s := &Session{ID: strings.ToLower(rand.Text()[:sessionLetters]), Files: state.New(now)}
	s.Reminders = r.NewConversation(s.Files, &s.Grants)
	return s
}

// sessionLetters are enough that no two sessions of a user have the same id.
const sessionLetters = 10

// MostParsed is the size in bytes up to which a notebook is kept parsed.
const MostParsed = 1 << 20

// Parsed is the notebook that a conversation used last. Agents edit one notebook
// many times in a row, and a file that still has these bytes need not be hashed and
// parsed again: to compare it takes a tenth of that.
type Parsed struct {
	Path string // resolved
	*state.Content
	nb *notebook.Notebook // of the content
}

// A Remark is a sentence about a file that is made once in a conversation.
type Remark struct{ Path, Text string }

// mostSaid bounds the remarks that are remembered. Past it everything is forgotten: the worst
// is a remark that is made a second time.
const mostSaid = 10_000

// WasSaid reports whether an answer that was sent has made a remark.
func (s *Session) WasSaid(r Remark) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said[r]
}

// noteSaid notes remarks as made.
func (s *Session) noteSaid(all []Remark) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said == nil || len(s.said) >= mostSaid {
		s.said = make(map[Remark]bool)
	}
	for _, r := range all {
		s.said[r] = true
	}
}

// LastParsed is the notebook at path as it was parsed, if it has these bytes.
func (s *Session) LastParsed(path string, raw []byte) (Parsed, bool) {
	s.mu.Lock()
	p := s.parsed
	s.mu.Unlock()
	return p, p.nb != nil && p.Path == path && bytes.Equal(p.Raw, raw)
}

func (s *Session) keepParsed(p Parsed) {
	if len(p.Raw) > MostParsed {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest++
	s.parsed = p
}

// parseAhead begins to parse a notebook for the next call. It is kept unless a later one
// came meanwhile.
func (s *Session) parseAhead(p Parsed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest++
	own := s.latest
	go func() {
		defer func() { _ = recover() }() // the next call parses for itself, and tells
		nb, err := notebook.Parse(p.Raw)
		s.mu.Lock()
		defer s.mu.Unlock()
		if p.nb = nb; err == nil && own == s.latest {
			s.parsed = p
		}
	}()
}

// Grant consents for the rest of the conversation.
func (s *Session) Grant(q *Question) {
	if q.Once {
		return
	}
	s.Grants.Grant(q.op, q.Path)
	for _, p := range q.further {
		s.Grants.Grant(p.Op, p.Path)
	}
}

// Granted reports whether q needs no asking any more.
func (s *Session) Granted(q *Question) bool {
	for _, p := range q.further {
		if !s.Grants.Granted(p.Op, p.Path) {
			return false
		}
	}
	return !q.Once && s.Grants.Granted(q.op, q.Path)
}
