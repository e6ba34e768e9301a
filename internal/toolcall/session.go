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
	said   map[string]bool // by Once
	parsed Parsed
	latest int // counts the notebooks that were parsed or are being parsed
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

// mostSaid bounds what Once remembers; past it everything is forgotten, and the worst is a
// sentence that comes a second time.
const mostSaid = 10_000

// Once reports whether a sentence about a file comes for the first time, and notes it.
func (s *Session) Once(path, sentence string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said == nil || len(s.said) >= mostSaid {
		s.said = make(map[string]bool)
	}
	key := path + "\x00" + sentence
	first := !s.said[key]
	s.said[key] = true
	return first
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

// ParseAhead begins to parse a notebook for the next call. It is kept unless a later one
// came meanwhile.
func (s *Session) ParseAhead(p Parsed) {
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

// Show records what an answer shows, now that it is sent.
func (s *Session) Show(n Shown) {
	switch {
	case n.State != nil && n.State.gone:
		s.Reminders.ReportedGone(n.Path)
	case n.State != nil:
		s.Reminders.ReportedChange(n.Path, n.State.record, n.State.sum)
	case n.Found:
		s.found(n.Path, n.Record)
	case n.Added:
		if rec, known := s.Files.Get(n.Path); known && rec.Fits(n.Record.Parts) {
			s.Files.Put(n.Path, rec.With(n.Record.Parts))
		}
	default:
		s.Files.Put(n.Path, n.Record)
		if n.View != (state.View{}) {
			s.Files.Served(n.Path, n.View, n.Sum)
		}
	}
}

// found records what the answer to a search shows of a file.
func (s *Session) found(path string, now state.Record) {
	rec, known := s.Files.Get(path)
	switch {
	case !known:
		rec = now
	case !rec.Fits(now.Parts) && rec.Stamp.Ctime > now.Stamp.Ctime:
		return // the file was changed, and shown, after the search looked at it
	case !rec.Fits(now.Parts):
		rec = now
	case rec.Text == nil:
		rec = rec.At(now.Stamp, now.Settled).With(now.Parts)
		rec.Enc = now.Enc
	default:
		rec = rec.With(now.Parts)
	}
	s.Files.Put(path, rec)
}

// Grant consents for the rest of the conversation.
func (s *Session) Grant(q *Question) { s.Grants.Grant(q.op, q.Path) }

// Granted tells whether q needs no asking any more.
func (s *Session) Granted(q *Question) bool { return s.Grants.Granted(q.op, q.Path) }
