package toolcall

import (
	"context"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Loader reads files as a whole.
type Loader struct {
	Now func() time.Time
	// heavy admits one scan of a big file at a time, so that the others stay quick.
	heavy chan struct{}
}

// NewLoader returns a loader of files for all conversations. now is the clock.
func NewLoader(now func() time.Time) Loader { return Loader{Now: now, heavy: make(chan struct{}, 1)} }

// heavyFrom is the size in bytes from which a file's scan waits for its turn.
const heavyFrom = 8 << 20

// Admit waits for the one place for heavy work when a file is that big.
func (l Loader) Admit(ctx context.Context, size int64) (leave func(), err error) {
	if size < heavyFrom {
		return func() {}, nil
	}
	select {
	case l.heavy <- struct{}{}:
		return func() { <-l.heavy }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// LoadText reads and decodes a file.
func (l Loader) LoadText(session *Session, s *Target, f *fsys.File) (*state.File, error) {
	c, err := l.Load(session, s, f)
	if err != nil {
		return nil, err
	}
	return c, Decode(s, c)
}

// Load reads a file.
func (l Loader) Load(session *Session, s *Target, f *fsys.File) (*state.File, error) {
	raw, stamp, err := f.ReadAll(state.InMemory)
	settled := stamp.Settled(l.Now())
	if err != nil {
		return nil, err
	}
	rec, known := session.Files.Get(s.Path)
	c := &state.File{Path: s.Path, Raw: raw, Stamp: stamp, Settled: settled, Whole: IsNotebook(s), Record: rec, Known: known}
	c.Compare()
	return c, nil
}

// Decode makes text of the bytes. A change believes the encoding that was shown,
// which the gate checks; a Read looks for itself at a file that may have changed.
func Decode(s *Target, c *state.File) (err error) {
	believed := s.Op != perm.Read || c.Record.Proves(c.Stamp)
	if c.Record.Parts == nil {
		believed = c.Unchanged()
	}
	if believed {
		if c.Doc, err = text.DecodeAs(c.Raw, c.Record.Enc); err == nil {
			return nil
		}
	}
	if c.Doc, err = text.Decode(c.Raw); err != nil {
		return refusal.Binary(s.Asked, s.Op.Changes())
	}
	return nil
}

// Parse reads a notebook. One that is broken is text still: what it is held as
// comes beside the *notebook.ParseError.
func (l Loader) Parse(session *Session, s *Target, f *fsys.File) (*state.File, *notebook.Notebook, error) {
	c, err := l.Load(session, s, f)
	if err != nil {
		return nil, nil, err
	}
	if last, ok := session.LastParsed(c.Path, c.Raw); ok {
		c.Use(last.Raw, last.Hash)
		return c, last.nb, nil
	}
	if c.Content() == nil {
		go c.Hash() // it will tell whether the file is still what was shown
	}
	nb, err := notebook.Parse(c.Raw)
	if err != nil {
		if err := Decode(s, c); err != nil {
			return nil, nil, err
		}
		return c, nil, err
	}
	session.keepParsed(Parsed{c.Path, c.Raw, c.Hash, nb})
	return c, nb, nil
}
