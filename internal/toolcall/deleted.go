package toolcall

import (
	"fmt"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Deleted is a file that a call of the conversation has deleted without having been shown all
// of it. A new file of that name would replace bytes that the caller has not seen, by two
// calls.
type Deleted struct {
	Group string // of the history
	Size  int64
	Raw   []byte // its bytes, if an answer can show them; nil: they are not kept here
}

// Bounds of what is remembered of deleted files. Past mostDeleted the rest is forgotten, and
// past keepDeleted no more bytes are kept.
const (
	mostDeleted = 10_000
	keepDeleted = 4 << 20
)

// NoteDeleted remembers a deleted file that was not shown in full.
func (s *Session) NoteDeleted(path string, d Deleted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deleted == nil || len(s.deleted) >= mostDeleted {
		s.deleted, s.deletedSize = make(map[string]Deleted), 0
	}
	if s.deletedSize+len(d.Raw) > keepDeleted {
		d.Raw = nil
	}
	s.deletedSize += len(d.Raw) - len(s.deleted[path].Raw)
	s.deleted[path] = d
}

// forgetDeleted forgets a deleted file: an answer has shown it.
func (s *Session) forgetDeleted(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deletedSize -= len(s.deleted[path].Raw)
	delete(s.deleted, path)
}

// HasDeleted reports whether a file of that name was deleted unseen, and is remembered.
func (s *Session) HasDeleted(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.deleted[path]
	return known
}

// Recall refuses to put a new file at a name whose old file the conversation has deleted
// unseen. A small text is shown, and the same call passes next time. hidden says that the
// answer must show nothing. The outcome has no error if nothing is to be recalled.
func (s *Session) Recall(path string, hidden bool, budget Budget) Outcome {
	s.mu.Lock()
	d, known := s.deleted[path]
	s.mu.Unlock()
	if !known {
		return Outcome{}
	}
	name := fsys.InSentence(path)
	if doc, err := text.Decode(d.Raw); d.Raw != nil && err == nil && !hidden {
		body, _ := changes.ShowAll(doc, span.Set{{End: int64(len(d.Raw))}})
		if budget.Passes(body) {
			return Refused(refusal.New(refusal.DeletedShown, name, body), Shown{Path: path, How: Recalled})
		}
	}
	return Failed(refusal.New(refusal.DeletedUnseen, name, phrase.Bytes(d.Size), fmt.Sprintf("fsmcp history restore --group %s", d.Group)))
}
