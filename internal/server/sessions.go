package server

import (
	"crypto/sha256"
	"slices"

	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// maxThreads bounds the remembered conversations of one connection.
const maxThreads = 64

// sessions holds one toolcall.Session for each conversation that the client names, and one
// for calls without a name. Only the reader uses it.
type sessions struct {
	fresh   func(name string) *toolcall.Session
	unnamed *toolcall.Session
	threads []thread // the latest last
}

type thread struct {
	name    string
	session *toolcall.Session
}

func newSessions(fresh func(name string) *toolcall.Session) *sessions {
	return &sessions{fresh: fresh, unnamed: fresh("")}
}

// of returns the session of a conversation; name is "" for none, and lasting its name over
// restarts, or "". Beyond maxThreads it forgets the one without calls for the longest time: its
// next call starts with nothing shown, or with what was kept of it.
func (s *sessions) of(name, lasting string) *toolcall.Session {
	if name == "" {
		return s.unnamed
	}
	t := thread{name: name}
	if len(name) > 256 {
		sum := sha256.Sum256([]byte(name))
		t.name = string(sum[:])
	}
	if i := slices.IndexFunc(s.threads, func(o thread) bool { return o.name == t.name }); i >= 0 {
		t = s.threads[i]
		s.threads = slices.Delete(s.threads, i, i+1)
	} else {
		t.session = s.fresh(lasting)
		s.threads = slices.Delete(s.threads, 0, max(0, len(s.threads)-maxThreads+1))
	}
	s.threads = append(s.threads, t)
	return t.session
}
