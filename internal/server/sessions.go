package server

import (
	"container/list"
	"crypto/sha256"

	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// maxThreads bounds the remembered conversations of one connection.
const maxThreads = 64

// sessions holds one toolcall.Session for each conversation that the client names, and one
// for calls without a name. Only the reader uses it.
type sessions struct {
	fresh   func() *toolcall.Session
	unnamed *toolcall.Session
	threads map[string]*list.Element
	recent  list.List // of *thread, the latest first
}

type thread struct {
	name    string
	session *toolcall.Session
}

func newSessions(fresh func() *toolcall.Session) *sessions {
	return &sessions{fresh: fresh, unnamed: fresh(), threads: make(map[string]*list.Element)}
}

// of returns the session of a conversation; name is its raw JSON, nil for none. Beyond
// maxThreads it forgets the one without calls for the longest time: its next call starts
// with nothing shown.
func (s *sessions) of(name []byte) *toolcall.Session {
	if name == nil {
		return s.unnamed
	}
	key := string(name)
	if len(key) > 256 {
		sum := sha256.Sum256(name)
		key = string(sum[:])
	}
	if e, ok := s.threads[key]; ok {
		s.recent.MoveToFront(e)
		return e.Value.(*thread).session
	}
	if s.recent.Len() >= maxThreads {
		last := s.recent.Back()
		delete(s.threads, last.Value.(*thread).name)
		s.recent.Remove(last)
	}
	t := &thread{name: key, session: s.fresh()}
	s.threads[key] = s.recent.PushFront(t)
	return t.session
}
