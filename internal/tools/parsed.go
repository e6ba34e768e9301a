package tools

import (
	"bytes"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/state"
)

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
