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
	fresh   func() *toolcall.Session
	unnamed *toolcall.Session
	threads []thread // the latest last
}

type thread struct {
	name    string
	session *toolcall.Session
}

func newSessions(fresh func() *toolcall.Session) *sessions {
	return &sessions{fresh: fresh, unnamed: fresh()}
}

// of returns the session of a conversation; name is its raw JSON, nil for none. Beyond
// maxThreads it forgets the one without calls for the longest time: its next call starts
// with nothing shown.
func (s *sessions) of(name []byte) *toolcall.Session {
	if name == nil {
		return s.unnamed
	}
	t := thread{name: string(name)}
	if len(name) > 256 {
		sum := sha256.Sum256(name)
		t.name = string(sum[:])
	}
	if i := slices.IndexFunc(s.threads, func(o thread) bool { return o.name == t.name }); i >= 0 {
		t = s.threads[i]
		s.threads = slices.Delete(s.threads, i, i+1)
	} else {
		t.session = s.fresh()
		s.threads = slices.Delete(s.threads, 0, max(0, len(s.threads)-maxThreads+1))
	}
	s.threads = append(s.threads, t)
	return t.session
}
